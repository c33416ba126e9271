"""The values of a run at a moment, by name: the Variables panel."""

import json
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.run.cards.card import CardKind
from studio.application.run.cards.timeline import step_at
from studio.application.run.cursor import RunCursor
from studio.application.words import tr
from studio.core.agent.values.breakpoints import at_step, environment_of, parse_expression
from studio.core.agent.values.commands import Command
from studio.core.agent.values.events import AnswerEdited, CallEdited, LimitRaised, ObservationEdited
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.text.amounts import shortened
from studio.core.text.values import Json, object_of, parse_json

VariableEdit: TypeAlias = Literal["", "argument", "observation", "answer", "iterations"]
"""Kind of edit that a value allows at the current pause; empty if none."""

_LONGEST = 2_000
_BEFORE_REPLY: tuple[CardKind, ...] = ("prompt", "message")
_BEFORE_CALL: tuple[CardKind, ...] = (*_BEFORE_REPLY, "thought", "reply")


@dataclass(frozen=True, slots=True)
class RunVariable:
    """One name with its value."""

    name: str
    """The name as expressions use it (`args.city`)."""

    value: str
    """The value as JSON; strings with quotes."""

    edit: VariableEdit = ""
    """Kind of edit that is possible here."""

    whole: Json = None
    """The value itself."""

    is_changed: bool = False
    """Whether it differs from the previously shown moment."""


def variables_at(state: RunState, moment: RunCursor | None) -> tuple[RunVariable, ...]:
    """Return the variables at a moment from its step alone, without folding a long run.

    Args:
        state: the run.
        moment: the selected moment; None for the run's current one.
    """
    is_here = moment is None and state.pause is not None
    place = state.place if is_here else None
    kind, at = _standing(state), state
    if moment is not None:
        kind, at = moment.kind, at_step(state, step_at(state, moment.step), moment.call)
    values = environment_of(at)
    at_limit = is_here and state.error is not None and state.error.kind == "limit"
    rows = [_row("iteration", values["iteration"], "iterations" if at_limit else "")]
    if kind not in _BEFORE_REPLY and values["thought"]:
        rows.append(_row("thought", values["thought"]))
    if kind in _BEFORE_CALL:
        before = f"steps[{at.iteration - 2}].observation"
        rows += [_row(before, parse_expression(before).value(values))] if at.iteration > 1 else []
    elif values["tool"] is not None:
        rows.append(_row("tool", values["tool"]))
        can: VariableEdit = "argument" if place == PausePoint.TOOL_CALL else ""
        named = [(f"args.{name}", value) for name, value in object_of(values["args"]).items()]
        rows += [_row(name, value, can) for name, value in named or [("args", values["args"])]]
        can = "observation" if place == PausePoint.OBSERVATION else ""
        rows.append(_row("observation", None if kind == "action" else values["observation"], can))
    answer = values["answer"] if kind == "final" or (state.is_over and moment is None) else None
    if answer is not None:
        rows.append(_row("answer", answer, "answer" if place == PausePoint.ANSWER else ""))
    inputs = object_of(values["inputs"])
    rows += [_row(f"inputs.{name}", value) for name, value in inputs.items()]
    if values["question"] and values["question"] not in inputs.values():
        rows.append(_row("question", values["question"]))
    rows.append(_row("messages|length", max(len(at.step.messages), at.step.sent)))
    return (*rows, _row("left", values["left"]))


def with_changes(
    rows: tuple[RunVariable, ...], before: tuple[RunVariable, ...]
) -> tuple[RunVariable, ...]:
    """Return the rows, marked if they differ from those of the previous moment."""
    known = {row.name: row.value for row in before}
    return tuple(
        replace(row, is_changed=bool(before) and known.get(row.name) != row.value) for row in rows
    )


def command_for(row: RunVariable, text: str, state: RunState) -> Command:
    """Return the command that changes a value.

    Args:
        row: the variable.
        text: JSON; other text is a string if the value was one.
        state: the run, paused where the value can be changed.

    Raises:
        ValueError: the text is neither; the message says so.
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


def _row(name: str, value: Json, edit: VariableEdit = "") -> RunVariable:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else json_text(value)
    return RunVariable(name, shortened(text, _LONGEST), edit, value)
