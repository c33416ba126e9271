"""Proves that what is written means what the prompt in the editor means, for every input set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from studio.core.export.target import ExportSource, RoundTrip
from studio.core.prompty.convert.compare import RUNTIMES, comparable
from studio.core.prompty.document import Dialect
from studio.core.prompty.meaning import first_difference, tool_difference
from studio.core.prompty.messages import Message
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.runtimes.prompty2 import RuntimeRefusal
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.tools.document import declared_tools

ROUND_TRIP = "export-round-trip"
NOT_UTF8 = "export-not-utf8"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a prompt is, without where it was written."""

    messages: tuple[Message, ...]
    """The conversation that it begins with."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools that a run would have."""


ReadBack: TypeAlias = Callable[[Prepared], Prepared]
"""Reads what was written with the values of one set."""


def meaning_of(prepared: Prepared) -> Meaning:
    """Return what a prompt says itself with one set of values, not what its sources offer."""
    tools = declared_tools(prepared.document, prepared.messages.tools)
    return Meaning(prepared.messages.messages, tools)


def check_round_trips(source: ExportSource, read: ReadBack) -> tuple[RoundTrip, ...]:
    """Compare messages and tools for the values of now and for every saved set."""
    return tuple(
        compare(name, meaning_of(prepared), meaning_of(read(prepared)))
        for name, prepared in source.round_trips.items()
    )


def compare(name: str, expected: Meaning, got: Meaning) -> RoundTrip:
    """One round, with the first difference in words."""
    difference = first_difference(expected.messages, got.messages)
    difference = difference or tool_difference(expected.tools, got.tools)
    return RoundTrip(name, difference, len(expected.messages), len(expected.tools))


def verify(text: str, source: ExportSource) -> tuple[Problem, ...]:
    """Whether a copy of the prompt file, read again, means the same for the values of now.

    The bytes are made and read again too, since not every text can be a UTF-8 file.
    """
    fault = utf8_problem(text)
    if fault is not None:
        return (fault,)
    again = read_prompt(text, source, source.prepared)
    found = compare("", meaning_of(source.prepared), meaning_of(again))
    if found.is_same:
        return ()
    message = f"Read again, the file gives something else than the preview: {found.difference}"
    return (Problem(ROUND_TRIP, Severity.ERROR, message, Span(0, 0)),)


def utf8_problem(text: str) -> Problem | None:
    """The problem of a text that no UTF-8 file can hold."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return Problem(
            NOT_UTF8,
            Severity.ERROR,
            f"The character {text[error.start]!r} cannot be written to a file; take it out.",
            Span(error.start, error.end),
        )
    return None


def read_prompt(text: str, source: ExportSource, prepared: Prepared) -> Prepared:
    """A prompt text read as the next program will, with the values that another was made with."""
    return prepare(
        parse(text, source.document.source.path),
        prepared.inputs,
        references=source.references,
        preview=source.references is not None,
    )


def prompt_round_trips(text: str, source: ExportSource) -> tuple[RoundTrip, ...]:
    """The rounds of a prompt file: parsed again and prepared with every set."""
    return check_round_trips(source, partial(read_prompt, text, source))


def runtime_rounds(
    text: str, source: ExportSource, dialect: Dialect, rounds: Sequence[RoundTrip]
) -> tuple[RoundTrip, ...]:
    """The same rounds, each with what the program makes of the file that the dialect is for.

    It gets what its user gives: the values that were given here and those of declared inputs, and
    nothing that a run of the studio supplies.
    """
    name, prepare_as_runtime = RUNTIMES[dialect]
    found: list[RoundTrip] = []
    for each in rounds:
        prepared = source.round_trips[each.name]
        again = read_prompt(text, source, prepared)
        known = {item.name for item in again.document.inputs}
        known |= source.rounds[each.name].inputs.keys()
        values = {key: value for key, value in again.inputs.items() if key in known}
        try:
            got = prepare_as_runtime(replace(again, inputs=values))
        except RuntimeRefusal as error:
            difference = f"{name} does not take it: {error}."
        else:
            loose = dialect == "legacy"
            difference = first_difference(
                comparable(prepared.messages.messages, loose=loose), comparable(got, loose=loose)
            )
            difference = f"in {name}, {difference}" if difference else ""
        found.append(replace(each, difference=each.difference or difference))
    return tuple(found)
