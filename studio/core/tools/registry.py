"""Everything an agent can reach, as one value: each tool, where it is from, what may be done.

What the document declares decides what the model is told. A function of a tool file, or a tool of a
server, with the same name as a declared tool is its implementation. Where the document declares no
function tools, all functions of its tool files are offered; otherwise undeclared ones are listed,
switched off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.mock import Mock
from studio.core.tools.schema import with_constraints, without_properties

Approval: TypeAlias = Literal["always", "once", "allow"]
"""Ask before every call, ask before the first call of a run, or do not ask."""

ToolState: TypeAlias = Literal["declared", "bound", "mocked"]
"""`declared`: nothing runs it. `bound`: a source runs it. `mocked`: a stand-in answers."""


_UNUSABLE = ("failed", "untrusted")


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One tool of the registry."""

    spec: ToolSpec
    """What the model is told."""

    declared: bool = True
    """Whether the document declares it."""

    runner: str = ""
    """Key of the source that runs it; empty where nothing does."""

    runner_label: str = ""
    """That source's name for people."""

    schema: JsonObject | None = None
    """The implementation's own schema, which whole calls (bindings included) must meet."""

    enabled: bool = True
    """Whether the model is offered it."""

    further: bool = False
    """Whether it is of a server that the prompt does not name."""

    approval: Approval = "allow"
    """When the person is asked before a call."""

    usual_approval: Approval = "allow"
    """The same as the document, the server or the kind of tool asks for it."""

    mock: Mock | None = None
    """A stand-in that answers instead."""

    calls: int = 0
    """Calls since the registry was loaded."""

    last_used: float | None = None
    """When it was last called, in seconds since the epoch."""

    problem: str = ""
    """Why it cannot be called, in a sentence; empty where it can."""

    path: Path | None = None
    """The file that defines it, where that is not the document."""

    line: int = 0
    """Line of its definition in `path`, from 1; 0 when unknown."""

    @property
    def name(self) -> str:
        """The tool's name."""
        return self.spec.name

    @property
    def state(self) -> ToolState:
        """What happens when it is called."""
        if self.mock is not None:
            return "mocked"
        return "bound" if self.runner else "declared"

    @property
    def source(self) -> str:
        """Where it is from, for people."""
        return self.runner_label or self.spec.source


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How a source of tools fares."""

    key: str
    """Identifier within the registry ("python:/…/tools.py")."""

    label: str
    """Name for people."""

    state: Literal["ready", "failed", "untrusted", "available"]
    """`untrusted`: not started, because its folder is not trusted. `available`: a server that the
    prompt does not name, and that the person has not started."""

    message: str = ""
    """What is wrong and what to do; empty where nothing is."""

    path: Path | None = None
    """Its file or folder."""

    line: int = 0
    """Line that is to blame, from 1; 0 when there is none."""

    tools: int = 0
    """How many tools it has."""

    log: str = ""
    """The newest of what it wrote on its error stream."""

    facts: Mapping[str, str] = field(default_factory=dict)
    """What a server says of itself (version, capabilities, prompts, resources)."""

    folder: Path | None = None
    """The folder that would have to be trusted, where that is what is missing."""


@dataclass(frozen=True, slots=True)
class SourceTools:
    """What one source offers."""

    key: str
    """The source."""

    label: str
    """Its name for people."""

    specs: tuple[ToolSpec, ...]
    """Its tools."""

    stands_alone: bool = False
    """Whether its tools are offered although the document declares others (servers)."""

    further: bool = False
    """Whether no prompt names it, so that its tools are listed switched off."""

    approvals: Mapping[str, Approval] = field(default_factory=dict)
    """How the document says calls are to be approved, by tool, where it does."""

    path: Path | None = None
    """Its file."""

    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each tool's definition."""


@dataclass(frozen=True, slots=True)
class ToolRegistry:
    """All tools of one document and its workspace."""

    entries: tuple[ToolEntry, ...] = ()
    """In order: declared ones as the document has them, then each source's."""

    sources: tuple[SourceStatus, ...] = ()
    """The sources, with what is wrong with them."""

    def entry(self, name: str) -> ToolEntry | None:
        """The tool of that name."""
        return next((entry for entry in self.entries if entry.name == name), None)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is offered."""
        offered: dict[str, ToolSpec] = {}
        for entry in self.entries:
            if entry.enabled:
                offered.setdefault(entry.name, entry.spec)
        return tuple(offered.values())

    def change(self, name: str, **changes: object) -> ToolRegistry:
        """The registry with fields of one entry set (`enabled`, `approval`, `mock`, …)."""
        chosen = self.entry(name)
        return replace(
            self,
            entries=tuple(
                replace(entry, **changes) if entry is chosen else entry  # type: ignore[arg-type]
                for entry in self.entries
            ),
        )

    def with_usual_approvals(self) -> ToolRegistry:
        """The registry with no approval that the person chose."""
        entries = (replace(entry, approval=entry.usual_approval) for entry in self.entries)
        return replace(self, entries=tuple(entries))

    def search(self, text: str) -> tuple[ToolEntry, ...]:
        """Entries in whose name, description, source or state every word of `text` occurs."""
        words = text.lower().split()
        return tuple(
            entry for entry in self.entries if all(word in _searched(entry) for word in words)
        )


def build_registry(
    declared: Iterable[ToolSpec],
    offered: Iterable[SourceTools],
    sources: Iterable[SourceStatus] = (),
    before: ToolRegistry | None = None,
) -> ToolRegistry:
    """Bring declarations and implementations together.

    Args:
        declared: the document's tools, hoisted ones included.
        offered: what each source has; of two with one name the first wins.
        sources: how the sources fare.
        before: the registry so far; what the person set (enabled, approval, mock) is kept.
    """
    declared = [spec for spec in declared if spec.kind in ("function", "custom")]
    offered, sources = tuple(offered), tuple(sources)
    unusable = next((status for status in sources if status.state in _UNUSABLE), None)
    why = f"{unusable.label}: {unusable.message}" if unusable else ""
    entries: dict[str, ToolEntry] = {}
    for spec in declared:
        entries.setdefault(spec.name, _declared_entry(spec, offered, why))
    has_functions = bool(declared)
    for source in offered:
        for spec in source.specs:
            entry = entries.get(spec.name)
            if entry is None:
                entries[spec.name] = _source_entry(
                    spec,
                    source,
                    enabled=not source.further and (source.stands_alone or not has_functions),
                )
            elif entry.runner != source.key:
                entries[f"{source.key}:{spec.name}"] = replace(
                    _source_entry(spec, source, enabled=False),
                    runner="",
                    problem=f"{entry.source} has a tool of the same name, which is used",
                )
    kept = {entry.name: entry for entry in before.entries} if before else {}
    return ToolRegistry(
        tuple(_as_before(entry, kept.get(entry.name)) for entry in entries.values()),
        sources,
    )


def _declared_entry(spec: ToolSpec, offered: tuple[SourceTools, ...], why_not: str) -> ToolEntry:
    """A declared tool with its implementation; without one it says why, or what to do."""
    for source in offered:
        found = next((item for item in source.specs if item.name == spec.name), None)
        if found is None:
            continue
        told = without_properties(found.parameters, tuple(spec.bindings))
        merged = replace(
            spec,
            description=spec.description or found.description,
            parameters=with_constraints(spec.parameters, told)
            if spec.parameters.get("properties")
            else told,
            has_effects=spec.has_effects or found.has_effects,
        )
        return ToolEntry(
            merged,
            runner=source.key,
            runner_label=source.label,
            schema=found.parameters,
            **_approvals(merged, source),
            path=source.path,
            line=source.lines.get(spec.name, 0),
        )
    return ToolEntry(
        spec,
        **_approvals(spec),
        problem=f"nothing runs {spec.name!r}: "
        + (
            why_not
            or "name a Python file with such a function under metadata.agent.tools, "
            "or give it a mock"
        ),
    )


def _source_entry(spec: ToolSpec, source: SourceTools, *, enabled: bool) -> ToolEntry:
    return ToolEntry(
        spec,
        declared=False,
        runner=source.key,
        runner_label=source.label,
        schema=spec.parameters,
        enabled=enabled,
        further=source.further,
        **_approvals(spec, source),
        path=source.path,
        line=source.lines.get(spec.name, 0),
    )


def _approvals(spec: ToolSpec, source: SourceTools | None = None) -> dict[str, Any]:
    usual = (source.approvals.get(spec.name) if source else None) or _default_approval(spec)
    return {"approval": usual, "usual_approval": usual}


def _default_approval(spec: ToolSpec) -> Approval:
    """Tools made from values ask every time, tools with effects once, others never."""
    if spec.dynamic:
        return "always"
    return "once" if spec.has_effects else "allow"


def _as_before(entry: ToolEntry, before: ToolEntry | None) -> ToolEntry:
    if before is None or before.declared != entry.declared:
        return entry
    return replace(
        entry,
        enabled=before.enabled if before.further == entry.further else entry.enabled,
        approval=before.approval,
        mock=before.mock,
        calls=before.calls,
        last_used=before.last_used,
    )


def _searched(entry: ToolEntry) -> str:
    return f"{entry.name} {entry.spec.description} {entry.source} {entry.state}".lower()
