"""Everything an agent can reach, as one value: each tool, where it is from, and its mock."""

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
    """Always the same answer."""

    value: Json
    """The answer."""

    is_error: bool = False
    """Whether it is given as a failure."""


@dataclass(frozen=True, slots=True)
class SequenceMock:
    """One answer after the other."""

    values: tuple[Json, ...]
    """The answers, in order."""

    then: Literal["last", "again", "error"] = "last"
    """After the last: that one again, from the first again, or a failure."""


@dataclass(frozen=True, slots=True)
class TemplateMock:
    """A text with the call's arguments put in, as in "It is sunny in {city}"."""

    template: str
    """Text of the answer; `{name}` and `{{ name }}` are arguments."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer of a tool in an earlier run."""

    arguments: JsonObject
    """To which arguments."""

    text: str
    """The observation."""

    is_error: bool = False
    """Whether it was a failure."""


@dataclass(frozen=True, slots=True)
class RecordedMock:
    """The answers of a former run, by arguments."""

    answers: tuple[RecordedAnswer, ...]
    """In the order they were given; equal calls get them one after the other."""


@dataclass(frozen=True, slots=True)
class AskMock:
    """The user answers each call."""


Mock: TypeAlias = FixedMock | SequenceMock | TemplateMock | RecordedMock | AskMock
"""Closed: consumers `match` and `assert_never`."""

MOCK_TITLES: dict[type[Mock], str] = {
    FixedMock: "Fixed value",
    SequenceMock: "Sequence",
    TemplateMock: "Template",
    RecordedMock: "Recorded answers",
    AskMock: "Ask me",
}
"""Names for people."""

_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}|\{(\w+)\}")


class MockAnswers:
    """Answers calls by mocks, and counts them: sequences and recordings continue in order."""

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
        mock: the stand-in.
        arguments: the call's arguments.
        earlier: how many calls it has answered before: all of them, for recorded answers those
            with equal arguments.
    """
    match mock:
        case FixedMock(value, is_error):
            return _outcome(value, is_error=is_error)
        case SequenceMock(values, then):
            if earlier < len(values):
                return _outcome(values[earlier])
            if not values or then == "error":
                return _outcome(
                    f"the mock has {counted(len(values), 'answer')}, all given", is_error=True
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
"""State of a tool. `declared`: it has no source. `bound`: a source runs it. `mocked`: a mock
answers."""


ToolFilter: TypeAlias = Literal["all", "offered", "declared", "unbound", "mocked", "effects"]
"""Selection of tools: all, those that the model is offered, those that the prompt declares,
those without a source, those with a mock, those that change something."""

VARIABLES_KEY = "env:"
"""Key of the status that says that a prompt's `${env:}` references are not read; no source."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool of the registry."""

    spec: ToolSpec
    """Specification that the model gets."""

    declared: bool = True
    """Whether the document declares it."""

    runner_label: str = ""
    """Name of the source that runs it, for people."""

    schema: JsonObject | None = None
    """The implementation's own schema, which whole calls (bindings included) must meet."""

    enabled: bool = True
    """Whether the model is offered it."""

    usually_enabled: bool = True
    """The same where the document does not choose (`metadata.agent.offered`)."""

    further: bool = False
    """Whether it comes from a server that the prompt does not name."""

    approval: Approval = "allow"
    """When the user is asked before a call."""

    usual_approval: Approval = "allow"
    """The same as the document, the server or the kind of tool asks for it."""

    mock: Mock | None = None
    """Mock that answers in place of the source."""

    calls: int = 0
    """Calls since the registry was loaded."""

    last_used: float | None = None
    """When it was last called, in seconds since the epoch."""

    change: ToolChange | None = None
    """That it is not the tool that was allowed, or was never allowed; such a tool asks."""

    marks: tuple[str, ...] = ()
    """Warnings about its texts, a sentence each; such a tool asks each time."""

    problem: str = ""
    """Reason why it cannot be called, in a sentence; empty if it can."""

    path: Path | None = None
    """The file that defines it, where that is not the document."""

    line: int = 0
    """Line of its definition in `path`, from 1; 0 when unknown."""

    method: str = ""
    """HTTP method of an operation, in upper case; empty for other tools."""

    route: str = ""
    """Path template of an operation ("/pets/{id}"); empty for other tools."""

    @property
    def id(self) -> ToolId:
        """Which tool it is; of a declaration that nothing runs, its name."""
        return self.spec.id if self.spec.id.name else ToolId("", self.spec.name)

    @property
    def name(self) -> str:
        """The name by which the model calls it."""
        return self.spec.name

    @property
    def state(self) -> ToolState:
        """Return the state of the tool."""
        if self.mock is not None:
            return "mocked"
        return "bound" if self.id.source else "declared"

    @property
    def asks(self) -> Approval:
        """When the user is asked: as the approval says, and once because of what the tool is."""
        is_same = self.change is None or self.mock is not None
        return self.approval if is_same else stricter(self.approval, "once")

    @property
    def source(self) -> str:
        """Return the name of the source, for people."""
        return self.runner_label or self.spec.source


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The state of a source of tools."""

    key: str
    """Identifier within the registry ("python:/…/tools.py")."""

    label: str
    """Name for people."""

    state: Literal["ready", "failed", "untrusted", "waiting", "available"]
    """`untrusted`: not started, because its folder is not trusted. `waiting`: not started, because
    it is new in a trusted folder or has changed. `available`: a server that the prompt does not
    name, and that the user has not started."""

    message: str = ""
    """Problem and advice; empty if there is none."""

    path: Path | None = None
    """Its file or folder."""

    line: int = 0
    """Line that is to blame, from 1; 0 when there is none."""

    stopped: bool = False
    """Whether it failed because the user stopped the reading of its description."""

    tools: int = 0
    """Number of its tools."""

    log: str = ""
    """The newest of what it wrote on its error stream."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """Description by the server (version, capabilities, instructions)."""

    offers: tuple[ServerOffer, ...] = ()
    """A server's prompts and resources."""

    folder: Path | None = None
    """The folder that would have to be trusted, where that is what is missing."""

    doubt: Doubt | None = None
    """Question to the user that the source waits for, if there is one."""


@dataclass(frozen=True, slots=True)
class SourceTools:
    """The tools of one source."""

    key: str
    """The source."""

    label: str
    """Its name for people."""

    specs: tuple[ToolSpec, ...]
    """Its tools, by the names that they have there."""

    stands_alone: bool = False
    """Whether its tools are offered although the document declares others (servers)."""

    further: bool = False
    """Whether no prompt names it, so that its tools are listed switched off."""

    allowed: tuple[str, ...] = ()
    """The tools that the document chooses of a server; empty for all."""

    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """Approval rules of the document, by the source's tool name."""

    path: Path | None = None
    """Its file."""

    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each tool's definition."""

    python_names: Mapping[str, str] = field(default_factory=dict)
    """Tools by the names that their Python file has for them, where a library gave them others."""

    changes: Mapping[str, ToolChange] = field(default_factory=dict)
    """Tools that are not as they were allowed."""

    marks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Warnings about the texts of its tools, by the source's tool name."""

    routes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Method and path template of each operation of a service."""


@dataclass(frozen=True, slots=True)
class ToolRegistry:
    """All tools of one document and its workspace."""

    entries: tuple[ToolEntry, ...] = ()
    """In order: declared ones as the document has them, then each source's."""

    sources: tuple[SourceStatus, ...] = ()
    """The sources, with what is wrong with them."""

    wants: tuple[Want, ...] = ()
    """Things that trust in the document's folder allows."""

    def entry(self, tool: ToolId) -> ToolEntry | None:
        """Return the entry of a tool."""
        return next((entry for entry in self.entries if entry.id == tool), None)

    def named(self, name: str) -> ToolEntry | None:
        """Return the tool that the model calls by a name; no other has it."""
        return next((entry for entry in self.entries if entry.name == name), None)

    def find(self, name: str, source: str = "") -> ToolEntry | None:
        """Find the tool that a user names: as the model does, or as its source does.

        Args:
            name: the name; one that several sources use names none of their tools.
            source: key of the source whose tool is meant; empty for any.
        """
        among = [entry for entry in self.entries if source in ("", entry.id.source)]
        found = [entry for entry in among if entry.name == name] if not source else []
        found = found or [entry for entry in among if entry.id.name == name]
        return found[0] if len(found) == 1 else None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is offered."""
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
        """Return the registry with the tool names that a run has sent before."""
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
        """Return the registry without approvals chosen by the user."""
        entries = (replace(entry, approval=entry.usual_approval) for entry in self.entries)
        return replace(self, entries=tuple(entries))

    def search(self, text: str, only: ToolFilter = "all") -> tuple[ToolEntry, ...]:
        """Return the entries in which every word of `text` occurs.

        Args:
            text: words, looked for in name, description, source, state, method and path.
            only: which tools are looked at.
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
