"""The cursor of a run: the moment that all views show.

The timeline and the diagram map it to a card and a node; the editor, to the text of the template
that produced it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.run import diagram
from studio.application.run.cards.card import CardKind, StepCard
from studio.application.words import marked, tr
from studio.core.agent.protocols.loops import reading_style
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.prompty.checks.secrets import source_without_secrets
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.loop_format import QUESTION_NAMES
from studio.core.prompty.prepare import render_body
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonDict

_NODE_OF_CARD: dict[CardKind, diagram.Node] = {
    "prompt": "prompt",
    "message": "prompt",
    "thought": "reply",
    "reply": "reply",
    "action": "action",
    "observation": "observation",
    "final": "final",
    "note": "observation",
}

_CARDS_OF_NODE: dict[diagram.Node, tuple[CardKind, ...]] = {
    "prompt": ("prompt",),
    "model": ("thought", "reply"),
    "reply": ("thought", "reply"),
    "action": ("action",),
    "tool": ("action",),
    "observation": ("observation", "note"),
    "final": ("final",),
    "done": ("final",),
}


_NAMES: dict[CardKind, str] = {
    "prompt": marked("Prompt"),
    "message": marked("Your message"),
    "thought": marked("Thought"),
    "reply": marked("Reply"),
    "action": marked("Action"),
    "observation": marked("Observation"),
    "final": marked("Final answer"),
    "error": marked("Problem"),
    "note": marked("Message to the model"),
}


@dataclass(frozen=True, slots=True)
class RunCursor:
    """A moment of a run: a card of the timeline, a tick, a node in a turn, a row of the usage."""

    step: int
    """Number of the step, from 1."""

    kind: CardKind
    """Kind of the card in its step."""

    call: int | None = None
    """Row in the step, for calls and their results."""

    @classmethod
    def of_card(cls, card: StepCard) -> RunCursor:
        """Return the moment of a card."""
        return cls(card.step, card.kind, card.call)

    @property
    def key(self) -> tuple[int, CardKind, int | None]:
        """The key of its card."""
        return (self.step, self.kind, self.call)

    @property
    def words(self) -> str:
        """Display text of the moment: `Action, iteration 2`."""
        return tr("{moment}, iteration {number}").format(
            moment=tr(_NAMES[self.kind]), number=self.step
        )


def cursor_at_node(
    cards: Sequence[StepCard], now: StepCard | None, node: diagram.Node
) -> RunCursor | None:
    """Return the cursor for a node: its card in the shown step, else its last card.

    Args:
        cards: the timeline.
        now: the shown card.
        node: the selected node.
    """
    kinds = _CARDS_OF_NODE[node]
    last: StepCard | None = None
    for card in reversed(cards):
        if card.kind not in kinds:
            continue
        if now is None or card.step == now.step:
            return RunCursor.of_card(card)
        last = last or card
        if card.step < now.step:
            break
    return RunCursor.of_card(last) if last is not None else None


def diagram_at(
    now: diagram.DiagramState, state: RunState, step: Step, card: StepCard
) -> diagram.DiagramState:
    """Return the diagram for the moment of a card other than the run's current one.

    Args:
        now: the diagram of the run's current state.
        state: the run.
        step: the card's step.
        card: the selected card.
    """
    node = _NODE_OF_CARD.get(card.kind, "reply")
    if card.kind == "error" and state.error is not None:
        node = diagram.NODE_OF_ERROR[state.error.kind]
    return replace(
        now,
        phase="error" if card.phase == "error" else "paused",
        live=node,
        visited=diagram.visited_nodes(step, node),
        iteration=card.step,
        tool=diagram.tool_of(step, card.call),
        sentence=card.spoken,
        facts=diagram.node_facts(step, card.call),
        passes=diagram.passes_of(state, card.step),
        failed=diagram.failed_nodes(step),
        lanes=diagram.lanes_of(step),
        lane=card.call if card.kind in ("action", "observation") else None,
        notes=diagram.node_notes(step),
        is_past=True,
    )


_Field: TypeAlias = Literal["question", "thought", "action", "arguments", "observation", "all"]

_FIELDS: tuple[_Field, ...] = ("question", "thought", "action", "arguments", "observation", "all")

_FIELDS_OF_CARD: dict[CardKind, tuple[_Field, ...]] = {
    "thought": ("thought",),
    "reply": ("thought", "action", "arguments"),
    "action": ("action", "arguments"),
    "observation": ("observation",),
    "note": ("observation",),
}
"""Fields of a loop's history by the kind of card."""


def _token(field: _Field) -> str:
    """Return a text that no prompt contains, to find its position in the rendered text."""
    return f"zq{field}qz"


@dataclass(frozen=True)
class TemplatePlaces:
    """The spans of one prompt where a loop's values are inserted."""

    fields: Mapping[_Field, tuple[Span, ...]]
    """The expressions that show a value of the loop, in source order."""

    tools: Mapping[str, Span]
    """Spans of the tools' declarations."""

    outputs: tuple[Span, ...]
    """Spans of the outputs' declarations."""

    last: Span | None
    """Role marker of the last message, which the model answers; None without one."""

    @classmethod
    def of(cls, document: PromptDocument) -> TemplatePlaces:
        """Find the spans by rendering the prompt once with recognizable values."""
        row: Json = {
            "thought": _token("thought"),
            "action": _token("action"),
            "arguments": {_token("arguments"): _token("arguments")},
            "observation": _token("observation"),
            "is_error": False,
        }
        asked = dict.fromkeys(_asked(document), _token("question"))
        values = resolve_inputs(document, asked).shown
        looped = "history" in reading_style(document).looped
        loop: JsonDict = {
            "history": [row] if looped else _token("all"),
            "agent_scratchpad": _token("all"),
        }
        rendering = render_body(document, {**values, **loop})
        found: dict[_Field, list[Span]] = {}
        for segment in rendering.segments:
            for field in _FIELDS:
                if segment.span is not None and _token(field) in segment.text:
                    found.setdefault(field, []).append(segment.span)
        markers = [each.marker for each in document.sections if each.marker is not None]
        return cls(
            {field: tuple(dict.fromkeys(spans)) for field, spans in found.items()},
            {tool.name: tool.span for tool in document.tools if tool.span is not None},
            tuple(each.span for each in document.outputs if each.span is not None),
            markers[-1] if markers else None,
        )

    def behind(self, moment: RunCursor, tool: str = "") -> tuple[Span, ...]:
        """Return the spans of the text that produced a moment of the run.

        Args:
            moment: the selected moment.
            tool: name of the tool of its call; empty if it has none.
        """
        if moment.kind == "final" and self.outputs:
            return self.outputs
        if moment.kind == "prompt" and moment.step == 1:
            return self._shown(("question",)) or self._end()
        fields = _FIELDS_OF_CARD.get(moment.kind, ())
        if moment.kind == "prompt":
            fields = ("thought", "action", "arguments", "observation")
        found = self._shown(fields) or (self._shown(("all",)) if fields else ())
        if found:
            return found
        return (self.tools[tool],) if tool in self.tools else self._end()

    def _shown(self, fields: tuple[_Field, ...]) -> tuple[Span, ...]:
        spans = {span for field in fields for span in self.fields.get(field, ())}
        return tuple(sorted(spans, key=lambda span: span.start))

    def _end(self) -> tuple[Span, ...]:
        return (self.last,) if self.last is not None else ()


def _asked(document: PromptDocument) -> tuple[str, ...]:
    """Return the inputs for the user's question: those with usual names, else the first text."""
    texts = [item.name for item in document.inputs if item.kind == "string"]
    usual = tuple(
        name
        for name in QUESTION_NAMES
        if name in texts or (name in ("question", "input") and document.input(name) is None)
    )
    return usual if set(usual) & set(texts) or not texts else (*usual, texts[0])


def is_text_of(document: PromptDocument, source: str) -> bool:
    """Return whether a run started with this document, so that spans in it match.

    Args:
        document: the document in the editor.
        source: the run's own text, in which written secrets are masked with dots.
    """
    text = document.source.text
    return len(text) == len(source) and source in (text, source_without_secrets(document))
