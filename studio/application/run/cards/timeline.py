"""The timeline as values: one card for each event of a run, step by step."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from studio.application.run.cards.card import (
    TAB_OF_KIND,
    CardKind,
    CardList,
    CardPhase,
    StepCard,
    Tab,
    stored_cards,
)
from studio.application.run.diagram import live_node, touch_words
from studio.application.run.messages import message_text
from studio.application.run.text import json_text
from studio.application.run.words import (
    arguments_line,
    error_title,
    is_only_title,
    plural,
    rate_of,
    tokens,
)
from studio.application.words import tr
from studio.core.agent.past.replay import RunTree
from studio.core.agent.values.state import Checkpoint, PersistentList, RunState
from studio.core.agent.values.step import (
    Action,
    Call,
    Final,
    FormatError,
    PausePoint,
    Refused,
    Step,
    StepError,
    Touch,
    TouchKind,
)
from studio.core.prompty.document import Message
from studio.core.runs.run_index import LAST, last_line
from studio.core.text.amounts import duration, money, one_line
from studio.core.wire.reply import Reply

__all__ = [
    "TAB_OF_KIND",
    "CardKind",
    "CardPhase",
    "StepCard",
    "Tab",
    "Timeline",
    "cards_of_step",
    "timeline_of",
]


@dataclass(frozen=True)
class Timeline:
    """All cards of a run, and the data to build the next timeline cheaply."""

    cards: CardList = field(default_factory=CardList)
    """The cards, in order."""

    steps: PersistentList[Step] = field(default_factory=PersistentList)
    """The finished steps whose cards come first."""

    @property
    def settled(self) -> int:
        """Number of cards of finished steps, which do not change any more."""
        return len(self.cards.head)


def timeline_of(
    state: RunState | None, before: Timeline | None = None, streaming: Reply | None = None
) -> Timeline:
    """Return the cards of a run.

    Args:
        state: the run; None before the first.
        before: an earlier timeline; the cards of unchanged steps are reused, so that a long run
            costs only its newest step.
        streaming: the part of the current reply that has arrived.
    """
    if state is None:
        return Timeline()
    head, unread = stored_cards(state.steps, cards_of_step)
    kept = 0 if before is None else before.steps.shares(state.steps)
    if before is not None and kept > unread:
        head = before.cards.head.upto(before.cards.before(kept))
    kept = max(kept, unread)
    for step in state.steps[kept:]:
        head = head.plus(cards_of_step(step))
    tail: list[StepCard] = []
    if state.step.number > len(state.steps):
        tail = cards_of_step(state.step, state, streaming)
    elif state.error is not None and (state.is_over or state.pause is not None):
        # A limit is checked between two steps: the last one is finished, the next not begun.
        tail = _mark_live([], state)
    return Timeline(CardList(head, tuple(tail)), state.steps)


def cards_of_step(
    step: Step, state: RunState | None = None, streaming: Reply | None = None
) -> list[StepCard]:
    """Return the cards of a step; with `state`, it is the current step and a card is live."""
    cards = _cards_of_step(step, state, streaming)
    if not step.touches:
        return cards
    return [_with_touches(card, _touches_of(step, card)) for card in cards]


_CHARACTERS_A_TOKEN = 4
"""Assumed characters per token of a reply, until its server reports the number of tokens."""
_BOLD = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")
"""Matches Markdown that a line of a card omits."""

_OF_MODEL: dict[TouchKind, str] = {"switched": "model changed", "kept": "model kept"}


def _with_touches(card: StepCard, touches: list[Touch]) -> StepCard:
    """Add the user's edits to a card; an edit of the model also gets a badge."""
    of_model = dict.fromkeys(_OF_MODEL[each.kind] for each in touches if each.kind in _OF_MODEL)
    return replace(card, touched=_touched(touches), badges=(*card.badges, *of_model))


def _touches_of(step: Step, card: StepCard) -> list[Touch]:
    place = PLACE_OF_CARD[card.kind]
    return [
        each
        for each in step.touches
        if each.place == place
        and each.call in (None, card.call)
        and (each.kind == "sent") == (card.kind == "message")
    ]


def _touched(touches: list[Touch]) -> str:
    """Return the user's edit and its time."""
    lines = []
    for touch in touches:
        words = touch_words(touch.kind)
        if touch.text:
            words += f": {touch.text}"
        if touch.at:
            words += f", {datetime.fromtimestamp(touch.at).astimezone():%H:%M:%S}"
        lines.append(words)
    return "\n".join(lines)


def _cards_of_step(step: Step, state: RunState | None, streaming: Reply | None) -> list[StepCard]:
    cards = [_prompt_card(step), *_message_cards(step, state)]
    waits = state is not None and state.pause is None and not state.is_over
    if state is not None and waits and live_node(state) == "model":
        return [*cards, _streaming_card(step, streaming)]
    cards += _reply_cards(step)
    for row, call in enumerate(step.calls):
        cards += _call_cards(step, row, call)
    answer = answer_of(step)
    if answer is not None:
        if state is not None and state.answer is not None:
            answer = state.answer
        summary = one_line(_BOLD.sub(r"\1", answer)) or tr(
            "No text: the observations are the answer."
        )
        badges = _badges(step, PausePoint.ANSWER)
        cards.append(
            StepCard(step.number, "final", tr("Final answer"), summary, _lacks(step), badges)
        )
    if step.observation:
        summary = one_line(step.observation)
        cards.append(StepCard(step.number, "note", tr("Message to the model"), summary))
    if state is not None:
        cards = _mark_live(cards, state)
    return cards


def _lacks(step: Step) -> str:
    """Name the options that were left out because the server rejects them."""
    left_out = step.reply.left_out if step.reply is not None else ()
    names = ", ".join(option.name for option in left_out)
    return tr("without {names}").format(names=names) if names else ""


def answer_of(step: Step) -> str | None:
    """Return the answer of a step: the user's, else the model's; None without one."""
    if step.answer is not None:
        return step.answer
    return step.reading.answer if isinstance(step.reading, Final) else None


def _prompt_card(step: Step) -> StepCard:
    title = tr("Iteration {number} · Prompt").format(number=step.number)
    count = max(len(step.messages), step.sent)
    if not count:
        return StepCard(step.number, "prompt", title, tr("Being rendered…"))
    last = step.messages[-1] if step.messages else None
    summary = plural(count, "message")
    if step.model is not None:
        summary = tr("{messages} to {model}").format(messages=summary, model=step.model.name)
    if last is not None and (text := one_line(last_line(last.text), LAST)):
        summary += f" · {text}"
    usage = step.reply.usage if step.reply is not None else None
    facts = tokens(usage.input_tokens) if usage is not None and usage.input_tokens else ""
    badges = _badges(step, PausePoint.BEFORE_REQUEST)
    return StepCard(step.number, "prompt", title, summary, facts, badges)


def _message_cards(step: Step, state: RunState | None) -> list[StepCard]:
    """Return the cards of the user's messages in this request or for the next one."""
    title = tr("Your message")
    cards = [
        StepCard(step.number, "message", title, one_line(text), call=row)
        for row, text in enumerate(step.said)
    ]
    waiting = state.steering if state is not None else ()
    facts = tr("for the next request")
    for row, text in enumerate(waiting, len(step.said)):
        cards.append(StepCard(step.number, "message", title, one_line(text), facts, call=row))
    return cards


def _reply_cards(step: Step) -> list[StepCard]:
    reply = step.reply or step.partial
    if reply is None:
        return []
    facts: list[str] = []
    if reply.usage is not None and reply.usage.output_tokens:
        facts.append(tokens(reply.usage.output_tokens))
    if step.seconds_model:
        facts.append(duration(step.seconds_model))
    rate = rate_of(step)
    if rate:
        facts.append(rate)
    if reply.usage is not None and reply.usage.cost is not None and step.reply_origin == "live":
        facts.append(money(reply.usage.cost))
    badges = _badges(step, PausePoint.REPLY)
    joined = " · ".join(facts)
    raw = one_line(reply.text or reply.refusal or reply.reasoning)
    title, summary, kind = _reply_summary(step, raw, reply)
    spent = step.seconds_model
    return [StepCard(step.number, kind, title, summary, joined, badges, seconds=spent)]


def _reply_summary(step: Step, raw: str, reply: Reply) -> tuple[str, str, CardKind]:
    """Return the title, summary and kind of a reply's card."""
    match step.reading:
        case (Action() | Final()) as reading if reading.thought:
            return tr("Thought"), one_line(reading.thought), "thought"
        case FormatError() as error:
            return tr("Unreadable reply"), one_line(error.message), "reply"
        case Refused() as refused:
            return tr("Refusal"), one_line(refused.text), "reply"
        case _:
            name = tr("Reply") if step.reply is not None else tr("Broken reply")
            if not raw and reply.tool_calls:
                raw = tr("Asks for {plural}").format(plural=plural(len(reply.tool_calls), "call"))
            return name, raw, "reply"


def _streaming_card(step: Step, streaming: Reply | None) -> StepCard:
    """Return the card of the streaming reply, which shows the newest words instead of the first."""
    summary, facts = tr("Waiting for the model…"), ""
    if streaming is not None:
        written = len(streaming.text) + len(streaming.reasoning)
        written += sum(len(call.arguments) for call in streaming.tool_calls)
        facts = f"≈{tokens(written // _CHARACTERS_A_TOKEN)}" if written else ""
        words = streaming.text or streaming.reasoning or streaming.refusal
        if not words and streaming.tool_calls:
            last = streaming.tool_calls[-1]
            words = f"{last.name}({last.arguments}"
        if words:
            summary = one_line(words[-120:])
        elif streaming.notices:
            summary = one_line(streaming.notices[-1])
    return StepCard(step.number, "reply", tr("Reply"), summary, facts, phase="live")


_OF_REPLY = frozenset({"repaired", "replayed", "retried", "cut"})
"""Marks of a step that belong to its reply."""

_ORDER = ("edited", "repaired", "replayed", "mocked", "retried", "cut", "forked", "warned")


def _badges(step: Step, place: PausePoint, call: int | None = None) -> tuple[str, ...]:
    """Return the badges of a step that belong to one of its cards."""
    marks: set[str] = set()
    if place == PausePoint.REPLY:
        marks |= step.marks & _OF_REPLY
        if step.warnings:
            marks.add("warned")
        if step.reply_origin == "mock":
            marks.add("mocked")
        if step.reply_origin == "person" or _is_of_older_studio(step):
            marks |= step.marks & {"edited"}
    if place in step.edited_at:
        marks |= step.marks & {"edited"}
    if step.forked_at == place and step.forked_call in (None, call):
        marks.add("forked")
    return tuple(mark for mark in _ORDER if mark in marks)


def _is_of_older_studio(step: Step) -> bool:
    """Return whether edits are recorded only by step, as in older journals (shown at the reply)."""
    return (
        not step.edited_at and not any(call.edited for call in step.calls) and (step.answer is None)
    )


def _call_cards(step: Step, row: int, call: Call) -> list[StepCard]:
    badges = tuple(
        badge
        for badge, wanted in (
            ("edited", bool({"tool", "arguments"} & set(call.edited))),
            ("invalid", bool(call.problems)),
            (call.status, call.status in ("rejected", "skipped", "unknown")),
            ("approved", _is_approved(step, row)),
            ("forked", "forked" in _badges(step, PausePoint.TOOL_CALL, row)),
        )
        if wanted
    )
    summary = f"{call.tool}({arguments_line(call.arguments, call.text)})"
    cards = [StepCard(step.number, "action", tr("Action"), summary, badges=badges, call=row)]
    if call.observation is None:
        return cards
    marks = tuple(
        badge
        for badge, wanted in (
            ("edited", "observation" in call.edited),
            ("answered", call.status == "answered"),
            ("mocked", call.origin == "mock"),
            ("replayed", call.origin == "recorded"),
            ("forked", "forked" in _badges(step, PausePoint.OBSERVATION, row)),
        )
        if wanted
    )
    facts, spent = "", 0.0
    if call.outcome is not None and call.origin == "live":
        spent = call.outcome.duration
        facts = duration(spent)
    failed = call.is_error and call.status != "rejected"  # a rejection by the user is not a failure
    phase: CardPhase = "error" if failed else "past"
    name = tr("Error") if failed else tr("Observation")
    text = one_line(call.observation) or tr("(empty)")
    cards.append(StepCard(step.number, "observation", name, text, facts, marks, phase, row, spent))
    return cards


def _is_approved(step: Step, row: int) -> bool:
    """Return whether the user approved a call."""
    return any(each.kind == "approved" and each.call == row for each in step.touches)


def _error_card(step: int, error: StepError) -> StepCard:
    text = "" if is_only_title(error) else one_line(error.message)
    return StepCard(step, "error", error_title(error), text, phase="error")


def _mark_live(cards: list[StepCard], state: RunState) -> list[StepCard]:
    """Mark the current card of the run, and add one for an error without a card."""
    if state.status == "done":
        return [_with_phase(card, "done") if card.kind == "final" else card for card in cards]
    if state.error is not None and (state.is_over or state.pause is not None):
        limit = state.error.kind == "limit"
        card = _error_card(state.step.number, state.error)
        return [*cards, _with_phase(card, "paused") if limit else card]
    if state.is_over:
        return cards
    kinds: dict[str, tuple[CardKind, ...]] = {
        "prompt": ("prompt",),
        "model": ("prompt",),
        "reply": ("thought", "reply"),
        "action": ("action",),
        "tool": ("action",),
        "observation": ("observation", "action"),
        "final": ("final",),
    }
    wanted = kinds.get(live_node(state), ())
    phase: CardPhase = "paused" if state.pause is not None else "live"
    for index in range(len(cards) - 1, -1, -1):
        card = cards[index]
        if card.kind in wanted and state.call in (None, card.call):
            return [*cards[:index], _with_phase(card, phase), *cards[index + 1 :]]
    return cards


def _with_phase(card: StepCard, phase: CardPhase) -> StepCard:
    return StepCard(
        card.step,
        card.kind,
        card.title,
        card.summary,
        card.facts,
        card.badges,
        phase,
        card.call,
        card.seconds,
        card.touched,
    )


PLACE_OF_CARD: dict[CardKind, PausePoint] = {
    "prompt": PausePoint.BEFORE_REQUEST,
    "thought": PausePoint.REPLY,
    "reply": PausePoint.REPLY,
    "action": PausePoint.TOOL_CALL,
    "observation": PausePoint.OBSERVATION,
    "final": PausePoint.ANSWER,
    "error": PausePoint.ERROR,
    "note": PausePoint.STEP_END,
    "message": PausePoint.BEFORE_REQUEST,
}
"""Pause point of a run by the kind of its current card."""


def checkpoint_of_card(tree: RunTree, cursor: int | None, card: StepCard) -> Checkpoint | None:
    """Return the checkpoint at a card; None if the run never paused there.

    Searches the shown branch from its end: another branch may have reached the same pause point
    later.
    """
    wanted = PLACE_OF_CARD[card.kind]
    at = cursor
    while at is not None:
        checkpoint = tree.get(at)
        if checkpoint is None or checkpoint.iteration < card.step:
            return None
        fits = checkpoint.place == wanted and checkpoint.iteration == card.step
        if fits and (card.kind == "message" or card.call in (None, checkpoint.call)):
            return checkpoint
        at = checkpoint.parent
    return None


# The whole text of a timeline card, for comparing and searching runs.


def step_at(state: RunState, number: int) -> Step:
    """Return the step with that number; the current one for 0 and for unknown numbers."""
    if 0 < number <= len(state.steps):
        return state.steps[number - 1]
    if state.step.number == 0 and state.steps:
        return state.steps[-1]
    return state.step


def sent_in(state: RunState, step: Step) -> Sequence[Message]:
    """Return the messages that a step sent; the conversation's if a finished step stores none."""
    return step.messages or state.conversation[: step.sent]


def first_sent(state: RunState | None) -> Sequence[Message]:
    """Return the first messages of a run; none without a run."""
    return () if state is None else sent_in(state, step_at(state, 1))


def card_text(state: RunState, card: StepCard) -> str:
    """Return the whole text of a card."""
    step = step_at(state, card.step)
    if card.kind == "prompt":
        return _written(sent_in(state, step))
    return _text_of(state, step, card)


def added_card_text(state: RunState, card: StepCard) -> str:
    """Return a card's whole text; of a growing conversation, only what this step added."""
    step = step_at(state, card.step)
    if card.kind != "prompt":
        return _text_of(state, step, card)
    sent = sent_in(state, step)
    if state.setup.protocol == "native" and step.number > 1:
        before = step_at(state, step.number - 1)
        if before.number == step.number - 1 and before.sent <= len(sent):
            return _written(sent[before.sent :])
    return _written(sent)


def _written(messages: Sequence[Message]) -> str:
    return "\n\n".join(f"{each.role}:\n{message_text(each)}" for each in messages)


def _text_of(state: RunState, step: Step, card: StepCard) -> str:
    row = card.call if card.call is not None and card.call < len(step.calls) else None
    match card.kind:
        case "thought" | "reply":
            reply = step.reply or step.partial
            if reply is None:
                return card.summary
            calls = [f"→ {call.name}({call.arguments})" for call in reply.tool_calls]
            return "\n".join([part for part in (reply.reasoning, reply.text) if part] + calls)
        case "action" if row is not None:
            call = step.calls[row]
            asked = json_text(call.arguments) if call.arguments is not None else call.text
            return f"{call.tool}\n{asked}"
        case "observation" if row is not None:
            return step.calls[row].observation or ""
        case "message" if card.call is not None:
            return (*step.said, *state.steering)[card.call]
        case "note":
            return step.observation
        case "final" if step.number == state.step.number and state.answer is not None:
            return state.answer
        case "final":
            return answer_of(step) or ""
        case _:
            return card.summary
