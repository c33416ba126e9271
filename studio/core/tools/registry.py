"""The registry: all tools of an agent as one value, each with its source and its mock."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, assert_never

from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.naming import free_name
from studio.core.text.values import Json, JsonObject, text_or_json
from studio.core.tools.source import ServerOffer, ToolOutcome
from studio.core.tools.trust.store import Approval, Doubt, ToolChange, Want, stricter

# Mocks of tools: fixed, in sequence, from a template, recorded, or answered by the user.


@dataclass(frozen=True, slots=True)
class FixedMock:
    """A mock that always returns the same answer."""

    value: Json
    """The answer."""

    is_error: bool = False
    """Whether the answer is a failure."""


@dataclass(frozen=True, slots=True)
class SequenceMock:
    """A mock that returns one answer after another."""

    values: tuple[Json, ...]
    """The answers, in order."""

    then: Literal["last", "again", "error"] = "last"
    """After the last: repeat it, start again, or fail."""


@dataclass(frozen=True, slots=True)
class TemplateMock:
    """A mock that inserts the call's arguments into a text: "It is sunny in {city}"."""

    template: str
    """Text of the answer, with `{name}` and `{{ name }}` for arguments."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The result of a tool in an earlier run."""

    arguments: JsonObject
    """Arguments of the call."""

    text: str
    """The observation."""

    is_error: bool = False
    """Whether the result was a failure."""


@dataclass(frozen=True, slots=True)
class RecordedMock:
    """A mock that returns the results of an earlier run, by arguments."""

    answers: tuple[RecordedAnswer, ...]
    """Results in order; equal calls get them one after another."""


@dataclass(frozen=True, slots=True)
class AskMock:
    """A mock for which the user answers each call."""


Mock: TypeAlias = FixedMock | SequenceMock | TemplateMock | RecordedMock | AskMock
"""All mocks, a closed union: consumers use `match` and `assert_never`."""

MOCK_TITLES: dict[type[Mock], str] = {
    FixedMock: "Fixed value",
    SequenceMock: "Sequence",
    TemplateMock: "Template",
    RecordedMock: "Recorded answers",
    AskMock: "Ask me",
}
"""Names for the user."""

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}|\{(\w+)\}")


class MockAnswers:
    """The answers of mocks, with a count of calls so that sequences continue in order."""

    def __init__(self) -> None:
        self._earlier: Counter[str] = Counter()

    def answer(self, mock: Mock, name: str, arguments: JsonObject) -> ToolOutcome | None:
        """Return the answer of a tool's mock; None if the user must answer."""
        key = name
        if isinstance(mock, RecordedMock):
            key = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        earlier = self._earlier[key]
        self._earlier[key] += 1
        return mock_answer(mock, arguments, earlier)


def mock_answer(mock: Mock, arguments: JsonObject, earlier: int) -> ToolOutcome | None:
    """Return the mock's answer to a call; None if the user must answer.

    Args:
        mock: the mock.
        arguments: the call's arguments.
        earlier: number of earlier calls; for recorded results, of those with equal arguments.
    """
    match mock:
        case FixedMock(value, is_error):
            return _outcome(value, is_error=is_error)
        case SequenceMock(values, then):
            if earlier < len(values):
                return _outcome(values[earlier])
            if not values or then == "error":
                return _outcome(
                    f"the mock has {counted(len(values), 'answer')}, and all were used",
                    is_error=True,
                )
            return _outcome(values[-1] if then == "last" else values[earlier % len(values)])
        case TemplateMock(template):
            return _outcome(_filled(template, arguments))
        case RecordedMock(answers):
            fitting = [answer for answer in answers if answer.arguments == arguments]
            if not fitting:
                return _outcome("no recorded answer for these arguments", is_error=True)
            answer = fitting[min(earlier, len(fitting) - 1)]
            return _outcome(answer.text, is_error=answer.is_error)
        case AskMock():
            return None
        case _:
            assert_never(mock)


def _filled(template: str, arguments: JsonObject) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1) or match.group(2)
        return text_or_json(arguments[name]) if name in arguments else ""

    return _PLACE.sub(value, template)


def _outcome(value: Json, *, is_error: bool = False) -> ToolOutcome:
    return ToolOutcome(text_or_json(value), "error" if is_error else "ok", value=value)


ToolState: TypeAlias = Literal["declared", "bound", "mocked"]
"""State of a tool. `declared`: without a source. `bound`: a source runs it. `mocked`: a mock
answers.
"""


ToolFilter: TypeAlias = Literal["all", "offered", "declared", "unbound", "mocked", "effects"]
"""Selection of tools: all, those offered to the model, those declared in the prompt, those without
a source, those with a mock, those with effects.
"""

VARIABLES_KEY = "env:"
"""Key of the status, not of a source, that a prompt's `${env:}` references are not read."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool of the registry."""

    spec: ToolSpec
    """Specification for the model."""

    declared: bool = True
    """Whether the document declares it."""

    runner_label: str = ""
    """Name of the source that runs it, for the user."""

    schema: JsonObject | None = None
    """Schema of the implementation, which complete calls (including bindings) must match."""

    enabled: bool = True
    """Whether it is offered to the model."""

    usually_enabled: bool = True
    """Whether it is offered by default, without the document's choice
    (`metadata.agent.offered`).
    """

    further: bool = False
    """Whether it comes from a server that the prompt does not name."""

    approval: Approval = "allow"
    """Whether the user must approve calls."""

    usual_approval: Approval = "allow"
    """Default approval from the document, the server or the kind of tool."""

    mock: Mock | None = None
    """Mock that answers instead of the source; None for none."""

    calls: int = 0
    """Number of calls since the registry was loaded."""

    last_used: float | None = None
    """Time of the last call, in seconds since 1970; None before it."""

    change: ToolChange | None = None
    """Difference from the allowed tool, or that it was never allowed; such a tool needs
    approval.
    """

    marks: tuple[str, ...] = ()
    """Warnings about its texts, one sentence each; such a tool needs approval for each call."""

    problem: str = ""
    """Reason why it cannot be called, one sentence; empty if it can."""

    path: Path | None = None
    """File that defines it; None for the document."""

    line: int = 0
    """Line of its definition in `path`, from 1; 0 if unknown."""

    method: str = ""
    """HTTP method of an operation, in upper case; empty for other tools."""

    route: str = ""
    """Path template of an operation ("/pets/{id}"); empty for other tools."""

    @property
    def id(self) -> ToolId:
        """Id of the tool; for a declaration that nothing runs, its name."""
        return self.spec.id if self.spec.id.name else ToolId("", self.spec.name)

    @property
    def name(self) -> str:
        """Name by which the model calls it."""
        return self.spec.name

    @property
    def state(self) -> ToolState:
        """State of the tool."""
        if self.mock is not None:
            return "mocked"
        return "bound" if self.id.source else "declared"

    @property
    def asks(self) -> Approval:
        """When approval is needed: by its setting, and once because of its changes or warnings."""
        is_same = self.change is None or self.mock is not None
        return self.approval if is_same else stricter(self.approval, "once")

    @property
    def source(self) -> str:
        """Name of the source, for the user."""
        return self.runner_label or self.spec.source


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The state of a source of tools."""

    key: str
    """Id within the registry ("python:/…/tools.py")."""

    label: str
    """Name for the user."""

    state: Literal["ready", "failed", "untrusted", "waiting", "available"]
    """`untrusted`: not started, because its folder is not trusted. `waiting`: not started, because
    it is new or changed in a trusted folder. `available`: a server that the prompt does not name
    and the user has not started.
    """

    message: str = ""
    """Problem and advice; empty if there is none."""

    path: Path | None = None
    """File or folder of the source."""

    line: int = 0
    """Line of the error, from 1; 0 for none."""

    stopped: bool = False
    """Whether it failed because the user stopped reading its description."""

    tools: int = 0
    """Number of its tools."""

    log: str = ""
    """Newest output on its stderr."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """Description by the server (version, capabilities, instructions)."""

    offers: tuple[ServerOffer, ...] = ()
    """Prompts and resources of a server."""

    folder: Path | None = None
    """Folder that must be trusted first; None for none."""

    doubt: Doubt | None = None
    """Question to the user that the source waits for; None for none."""


@dataclass(frozen=True, slots=True)
class SourceTools:
    """The tools of one source."""

    key: str
    """Key of the source."""

    label: str
    """Name of the source, for the user."""

    specs: tuple[ToolSpec, ...]
    """Its tools, under the source's names."""

    stands_alone: bool = False
    """Whether its tools are offered even if the document declares others (servers)."""

    further: bool = False
    """Whether no prompt names it, so that its tools are disabled."""

    allowed: tuple[str, ...] = ()
    """Tools that the document selects from a server; empty for all."""

    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """Approval rules of the document, by the source's tool name."""

    path: Path | None = None
    """File of the source; None for none."""

    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each tool's definition."""

    python_names: Mapping[str, str] = field(default_factory=dict)
    """Names of tools by their names in the Python file, if a library gave them others."""

    changes: Mapping[str, ToolChange] = field(default_factory=dict)
    """Tools that differ from their allowed form, by name."""

    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Warnings about its tools, by the source's tool name."""

    routes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Method and path template of each operation, by tool name."""


@dataclass(frozen=True, slots=True)
class ToolRegistry:
    """All tools of one document and its workspace."""

    entries: tuple[ToolEntry, ...] = ()
    """Entries: declared ones in the document's order, then those of each source."""

    sources: tuple[SourceStatus, ...] = ()
    """The sources, with their problems."""

    wants: tuple[Want, ...] = ()
    """Things that trust in the document's folder would allow."""

    def entry(self, tool: ToolId) -> ToolEntry | None:
        """Return the entry of a tool; None if there is none."""
        return next((entry for entry in self.entries if entry.id == tool), None)

    def named(self, name: str) -> ToolEntry | None:
        """Return the tool that the model calls by that name; None if there is none."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def find(self, name: str, source: str = "") -> ToolEntry | None:
        """Return the tool with a name given by the user: the model's name, or the source's.

        Args:
            name: the name; ambiguous if several sources use it.
            source: key of the tool's source; empty for any.
        """
        among = [entry for entry in self.entries if source in ("", entry.id.source)]
        found = [entry for entry in among if entry.name == name] if not source else []
        found = found or [entry for entry in among if entry.id.name == name]
        return found[0] if len(found) == 1 else None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that are offered to the model."""
        return tuple(entry.spec for entry in self.entries if entry.enabled)

    def change(self, tool: ToolId, **changes: object) -> ToolRegistry:
        """Return the registry with fields of one entry set (`enabled`, `approval`, `mock`, …)."""
        return replace(
            self,
            entries=tuple(
                replace(entry, **changes) if entry.id == tool else entry  # type: ignore[arg-type]
                for entry in self.entries
            ),
        )

    def with_names(self, names: Mapping[ToolId, str]) -> ToolRegistry:
        """Return the registry with the tool names that a run has already sent."""
        if all(names.get(entry.id, entry.name) == entry.name for entry in self.entries):
            return self
        taken = set(names.values())
        entries = []
        for entry in self.entries:
            name = names.get(entry.id) or free_name(entry.name, taken.__contains__, "_{}")
            taken.add(name)
            entries.append(replace(entry, spec=replace(entry.spec, name=name)))
        return replace(self, entries=tuple(entries))

    def with_usual_approvals(self) -> ToolRegistry:
        """Return the registry without the user's approvals."""
        entries = (replace(entry, approval=entry.usual_approval) for entry in self.entries)
        return replace(self, entries=tuple(entries))

    def search(self, text: str, only: ToolFilter = "all") -> tuple[ToolEntry, ...]:
        """Return the entries that contain every word of `text`.

        Args:
            text: words to search in name, description, source, state, method and path.
            only: selection of the tools to search.
        """
        words = text.lower().split()
        found = []
        for entry in self.entries:
            if _passes(entry, only):
                searched = _searched(entry) if words else ""
                if all(word in searched for word in words):
                    found.append(entry)
        return tuple(found)


def _passes(entry: ToolEntry, only: ToolFilter) -> bool:
    match only:
        case "all":
            return True
        case "offered":
            return entry.enabled
        case "declared":
            return entry.declared
        case "unbound":
            return entry.state == "declared"
        case "mocked":
            return entry.state == "mocked"
        case "effects":
            return entry.spec.has_effects
        case _:
            assert_never(only)


def _searched(entry: ToolEntry) -> str:
    words = (
        entry.name,
        entry.spec.description,
        entry.source,
        entry.state,
        entry.method,
        entry.route,
    )
    return " ".join(words).lower()
