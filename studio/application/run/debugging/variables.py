"""The values of a run at a moment, by name: the Variables panel."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.run.cards.card import CardKind
from studio.application.run.cards.timeline import step_at
from studio.application.run.cursor import RunCursor
from studio.application.run.words import plural
from studio.application.words import tr
from studio.core.agent.values.commands import Command
from studio.core.agent.values.events import AnswerEdited, CallEdited, LimitRaised, ObservationEdited
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint, Step
from studio.core.text.amounts import shortened
from studio.core.text.values import Json, parse_json

VariableEdit: TypeAlias = Literal["", "argument", "observation", "answer", "iterations"]
"""Kind of edit that a value allows at the current pause; empty if none."""

_LONGEST = 2_000
_BEFORE_REPLY: tuple[CardKind, ...] = ("prompt", "message")
_BEFORE_CALL: tuple[CardKind, ...] = (*_BEFORE_REPLY, "thought", "reply")


@dataclass(frozen=True, slots=True)
class RunVariable:
    """One name with its value."""

    name: str
    """As expressions write it (`args.city`)."""

    value: str
    """As JSON; of a text with its quotes."""

    edit: VariableEdit = ""
    """Whether it can be written over here."""

    whole: Json = None
    """The value itself."""

    is_changed: bool = False
    """Whether it is another than at the moment that was shown before."""


def variables_at(state: RunState, moment: RunCursor | None) -> tuple[RunVariable, ...]:
    """Return the variables at a moment from its step alone, without folding a long run.

    Args:
        state: the run.
        moment: what is looked at; None for where the run stands.
    """
    step = step_at(state, moment.step if moment is not None else 0)
    kind = moment.kind if moment is not None else _standing(state)
    row = moment.call if moment is not None else state.call
    call = None if kind in _BEFORE_CALL or not step.calls else _call_of(step, row)
    is_here = moment is None and state.pause is not None
    rows = [
        _row("iteration", step.number, _limit_edit(state, is_here=is_here)),
        *_of_reply(step, kind),
        *_of_call(state, call, row, is_here=is_here),
        _row("observation", _observation(state, step, kind, call), _observed(state, is_here)),
    ]
    answer = state.answer if kind == "final" or (state.is_over and moment is None) else None
    if answer is not None:
        can = is_here and state.place == PausePoint.ANSWER
        rows.append(_row("answer", answer, "answer" if can else ""))
    rows += [_row(f"inputs.{name}", value) for name, value in state.setup.inputs.items()]
    if state.setup.question and state.setup.question not in state.setup.inputs.values():
        rows.append(_row("question", state.setup.question))
    rows.append(_row("messages|length", max(len(step.messages), step.sent)))
    rows.append(RunVariable("left", _left(state, step)))
    return tuple(rows)


def with_changes(
    rows: tuple[RunVariable, ...], before: tuple[RunVariable, ...]
) -> tuple[RunVariable, ...]:
    """Return the rows, marked where they differ from those of the moment before."""
    known = {row.name: row.value for row in before}
    return tuple(
        replace(row, is_changed=bool(before) and known.get(row.name) != row.value) for row in rows
    )


def command_for(row: RunVariable, text: str, state: RunState) -> Command:
    """Return the command that changes a value.

    Args:
        row: the variable.
        text: JSON; what is not JSON is a text where the value was one.
        state: the run, which stands where the value can be changed.

    Raises:
        ValueError: it is neither; the text says so.
    """
    value = _read(text, row.whole)
    index = state.call or 0
    match row.edit:
        case "argument":
            call = state.step.calls[index]
            arguments = {**(call.arguments or {}), row.name.removeprefix("args."): value}
            return CallEdited(index, call.tool, arguments)
        case "observation":
            is_error = state.step.calls[index].is_error
            return ObservationEdited(index, value if isinstance(value, str) else text, is_error)
        case "answer":
            return AnswerEdited(value if isinstance(value, str) else text)
        case "iterations":
            if isinstance(value, bool) or not isinstance(value, int) or value < state.iteration:
                raise ValueError(tr("Write how many iterations there may be."))
            return LimitRaised("iterations", value)
        case "":
            raise ValueError(tr("This cannot be changed here."))


def _read(text: str, before: Json) -> Json:
    try:
        value: Json = parse_json(text)
    except ValueError:
        if isinstance(before, str) or before is None:
            return text
        raise ValueError(tr("This is not a JSON value.")) from None
    return text if isinstance(before, str) and not isinstance(value, str) else value


def _standing(state: RunState) -> CardKind:
    """Return the kind of the run's current card."""
    if state.answer is not None:
        return "final"
    if state.step.calls:
        return "observation" if state.place == PausePoint.OBSERVATION else "action"
    return "reply" if state.step.reply is not None else "prompt"


def _of_reply(step: Step, kind: CardKind) -> Iterator[RunVariable]:
    if kind in _BEFORE_REPLY or step.reading is None:
        return
    if step.reading.thought:
        yield _row("thought", step.reading.thought)


def _of_call(
    state: RunState, call: Call | None, row: int | None, *, is_here: bool
) -> Iterator[RunVariable]:
    if call is None:
        return
    yield _row("tool", call.tool)
    can = is_here and state.place == PausePoint.TOOL_CALL and row == state.call
    for name, value in (call.arguments or {}).items():
        yield _row(f"args.{name}", value, "argument" if can else "")
    if call.arguments is None:
        yield _row("args", call.text)


def _call_of(step: Step, row: int | None) -> Call:
    return step.calls[row if row is not None and row < len(step.calls) else -1]


def _observation(state: RunState, step: Step, kind: CardKind, call: Call | None) -> Json:
    """Return the last observation up to the moment."""
    is_known = kind not in (*_BEFORE_CALL, "action")
    if is_known and call is not None and call.observation is not None:
        return call.observation
    if step.number > 1 and step.number - 2 < len(state.steps):
        before = state.steps[step.number - 2]
        if before.calls:
            return before.calls[-1].observation
    return None


def _observed(state: RunState, is_here: bool) -> VariableEdit:
    return "observation" if is_here and state.place == PausePoint.OBSERVATION else ""


def _limit_edit(state: RunState, *, is_here: bool) -> VariableEdit:
    at_limit = state.error is not None and state.error.kind == "limit"
    return "iterations" if is_here and at_limit else ""


def _left(state: RunState, step: Step) -> str:
    """Return the rest of the nearest limits."""
    limits = state.limits
    if limits.iterations is None:
        return tr("no limit of iterations")
    return plural(max(0, limits.iterations - step.number), "iteration")


def _row(name: str, value: Json, edit: VariableEdit = "") -> RunVariable:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else json_text(value)
    short = shortened(text, _LONGEST)
    return RunVariable(name, short, edit, value)
