"""Which text of the template stands behind a moment of a run: what the editor lights up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.run.cards.card import CardKind
from studio.application.run.cursor import RunCursor
from studio.core.agent.protocols.choose import reading_style
from studio.core.prompty.checks.secrets import source_without_secrets
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import preview_inputs
from studio.core.prompty.loop_format import QUESTION_NAMES
from studio.core.prompty.prepare import render_body
from studio.core.text.span import Span
from studio.core.text.values import Json

_Field: TypeAlias = Literal["question", "thought", "action", "arguments", "observation", "all"]

_FIELDS: tuple[_Field, ...] = (
    "question", "thought", "action", "arguments", "observation", "all",
)  # fmt: skip

_FIELDS_OF_CARD: dict[CardKind, tuple[_Field, ...]] = {
    "thought": ("thought",), "reply": ("thought", "action", "arguments"),
    "action": ("action", "arguments"), "observation": ("observation",), "note": ("observation",),
}  # fmt: skip
"""What of the history of a loop a card tells of."""


def _token(field: _Field) -> str:
    """A text that no prompt holds, to be found again in what is rendered with it."""
    return f"zq{field}qz"


@dataclass(frozen=True)
class TemplatePlaces:
    """The places of one prompt at which a loop's values come in."""

    fields: Mapping[_Field, tuple[Span, ...]]
    """The expressions that show a value of the loop, in source order."""

    tools: Mapping[str, Span]
    """Where the document declares its tools."""

    outputs: tuple[Span, ...]
    """Where it declares its outputs."""

    last: Span | None
    """The marker of its last message: the model answers what stands there."""

    @classmethod
    def of(cls, document: PromptDocument) -> TemplatePlaces:
        """Find them, by rendering the prompt once with values that are known again."""
        row: Json = {
            "thought": _token("thought"),
            "action": _token("action"),
            "arguments": {_token("arguments"): _token("arguments")},
            "observation": _token("observation"),
            "is_error": False,
        }
        values, _ = preview_inputs(document, dict.fromkeys(_asked(document), _token("question")))
        looped = "history" in reading_style(document).looped
        loop: dict[str, Json] = {
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
        """The text behind a moment.

        Args:
            moment: what is looked at.
            tool: name of the tool of its call; empty where it is about none.
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
    """The inputs that hold the user's question: those of the usual names, else the first text."""
    texts = [item.name for item in document.inputs if item.kind == "string"]
    usual = tuple(
        name
        for name in QUESTION_NAMES
        if name in texts or (name in ("question", "input") and document.input(name) is None)
    )
    return usual if set(usual) & set(texts) or not texts else (*usual, texts[0])


def is_text_of(document: PromptDocument, source: str) -> bool:
    """Whether a document is the one that a run was started with: its places are those of the run.

    Args:
        document: what the editor shows.
        source: the run's own text, which holds dots in place of written secrets.
    """
    text = document.source.text
    return len(text) == len(source) and source in (text, source_without_secrets(document))
