"""The answer of a run as one card: its text, how it fits the declared outputs, time and cost."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.application.run.displayed_run import RunView
from studio.application.run.inspector.reply import thread_markdown
from studio.application.run.offers.offer import Offer, detail_of
from studio.application.run.words import error_title, is_only_title, rate_of, sentence_of, work_time
from studio.application.words import tr
from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.agent.values.state import RunState
from studio.core.models.connections import is_local
from studio.core.text.amounts import by_count, duration, money
from studio.core.text.values import JsonDict, JsonObject
from studio.core.wire.schema import answer_schema

AnswerPhase: TypeAlias = Literal["none", "streaming", "done", "failed"]
"""State of an answer: `failed` shows a sentence in place of the text, or below it."""

_CUT_ANSWERS = ("cut_answer", "filtered_answer", "refused_option")
"""Warnings for a reply whose answer differs from what the prompt requested or the model
intended.
"""
_MOST_OFFERS = 2
"""Maximum actions at a problem on the card; *Details* shows all."""


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One field of an answer."""

    name: str
    """Name of the output."""

    text: str
    """Its value; JSON if it is not a string."""

    problem: str = ""
    """Sentence on how it does not match its declaration; empty if it matches."""

    is_whole: bool = True
    """Whether it has arrived completely."""


@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The contents of the answer card."""

    phase: AnswerPhase = "none"
    """State of the answer."""

    run: str = ""
    """Id of the run; empty before the first."""

    model: str = ""
    """Name of the model that answers."""

    text: str = ""
    """The answer as Markdown; after a reply of the user, with the earlier turns before it."""

    rows: tuple[OutputRow, ...] = ()
    """Fields of an answer with declared outputs, shown in place of its text."""

    problem: str = ""
    """Sentence on what went wrong; empty if nothing did."""

    figures: str = ""
    """Time, tokens and price: `884 ms · 204 in, 41 out · $0.0001`."""

    verdict: str = ""
    """Number of outputs that match, as text; empty without declared outputs."""

    steps: str = ""
    """Steps and tools of a run with several steps; empty for one question and its answer."""

    offers: tuple[Offer, ...] = ()
    """Actions for the problem at which the run is paused."""

    can_reply: bool = False
    """Whether the user can continue in the same thread."""

    @property
    def fits(self) -> bool:
        """Whether no field has a problem."""
        return not any(row.problem for row in self.rows)


def answer_of_run(view: RunView, so_far: str = "") -> RunAnswer:
    """Return the answer card of a run.

    Args:
        view: the shown run.
        so_far: the part of the current reply that has arrived.
    """
    state = view.state
    if state is None:
        return RunAnswer("streaming" if view.is_starting else "none")
    error, is_going = state.error, not state.is_over and state.pause is None
    reply = state.step.reply or state.step.partial
    last = reply.text if reply is not None else ""
    answer = so_far if is_going and so_far else last if state.answer is None else state.answer
    rows = tuple(_rows(state.setup.response_schema, answer, is_whole=not is_going))
    remarks = [each.message for each in state.step.warnings if each.code in _CUT_ANSWERS]
    problem = _problem(state, has_rows=bool(rows)) or "\n".join(remarks)
    fitting = sum(not row.problem for row in rows)
    words = tr("fits {count} of {all} outputs").format(count=fitting, all=len(rows))
    edits = {each.edit.kind for each in view.offers.offers if each.edit is not None}
    at_hand = (each for each in view.offers.offers if each.edit is None)
    return RunAnswer(
        "streaming" if is_going else "failed" if error is not None and problem else "done",
        state.setup.run,
        state.answered_by.name,
        f"{thread_markdown(state)}{answer}",
        rows,
        problem,
        " · ".join(_figures(state)),
        words if rows and not is_going else "",
        _steps(state),
        tuple(at_hand)[:_MOST_OFFERS] if state.pause is not None else (),
        "send_back" in edits,
    )


def _problem(state: RunState, *, has_rows: bool) -> str:
    """Describe what went wrong, unless the fields show it."""
    error = state.error
    if error is not None and not (error.kind == "output" and has_rows):
        return error_title(error) if is_only_title(error) else detail_of(error)
    is_usual = has_rows or state.status in ("running", "done")
    return "" if is_usual else sentence_of(state)


def _figures(state: RunState) -> Iterator[str]:
    usage, step = state.usage, state.step
    if state.seconds:
        yield work_time(state)
    if step.number <= 1 and step.first_seconds is not None and step.reply_origin == "live":
        words = tr("first word {time}").format(time=duration(step.first_seconds))
        yield ", ".join(filter(None, (words, rate_of(step))))
    if usage.total_tokens:
        words = tr("{sent:,} in, {received:,} out")
        yield words.format(sent=usage.input_tokens, received=usage.output_tokens)
        by = state.answered_by
        is_free = by.price != "unknown" or is_local(by.server)
        yield money(usage.cost) or (tr("free") if is_free else tr("price unknown"))


def _steps(state: RunState) -> str:
    calls = len(state.past_calls) + len(state.step.calls)
    if not calls:
        return ""
    one, many = tr("{steps} steps, 1 tool call"), tr("{steps} steps, {calls} tool calls")
    return by_count(calls, one, many, steps=state.iteration, calls=calls)


# The fields of an answer, also of an incomplete one.

_BETWEEN = re.compile(r"[\s,]*")
_COLON = re.compile(r"\s*:\s*")


def _rows(schema: JsonObject | None, text: str, *, is_whole: bool) -> Iterator[OutputRow]:
    """Return the rows: the declared fields in their order, then all others."""
    declared = schema.get("properties") if schema is not None else None
    if schema is None or not isinstance(declared, Mapping) or "{" not in text:
        return
    values, open_name = fields_so_far(text)
    for name in dict.fromkeys((*declared, *values)):
        if name not in values and not is_whole:
            continue
        is_open = name == open_name and not is_whole
        problem = "" if is_open else _misfit(schema, declared, name, values)
        value = values.get(name)
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if name in values or problem:
            yield OutputRow(name, shown if name in values else "", problem, not is_open)


def _misfit(schema: JsonObject, declared: JsonObject, name: str, values: JsonObject) -> str:
    """Describe how one field does not match its declaration."""
    required = schema.get("required")
    own: JsonObject = {
        "type": "object",
        "properties": {name: declared[name]} if name in declared else {},
        "required": [name] if isinstance(required, list | tuple) and name in required else [],
    }
    given = {name: values[name]} if name in values else {}
    from studio.core.tools.toolbox import check_arguments

    problems = check_arguments(answer_schema(own), given)
    return problems[0].removeprefix(f"{name}: ") if problems else ""


def fields_so_far(text: str) -> tuple[JsonDict, str]:
    """Read the fields of a JSON object that may be incomplete.

    Returns:
        The values by name, and the name of the incomplete one; empty if all are complete.
    """
    found: JsonDict = {}
    at = text.find("{") + 1
    while at:
        name = decode_at(text, _end(_BETWEEN, text, at))
        if not isinstance(name, Decoded) or not isinstance(name.value, str):
            break
        at = _end(_COLON, text, name.end)
        value = decode_at(text, at)
        if not isinstance(value, Decoded) or value.end == len(text):  # more digits may come
            begun = decode_at(text[at:].rstrip("\\") + '"', 0)
            found[name.value] = begun.value if isinstance(begun, Decoded) else text[at:]
            return found, name.value
        found[name.value], at = value.value, value.end
    return found, ""


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at
