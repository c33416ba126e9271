"""Declarations and implementations of tools brought together.

What the document declares decides what the model is told. A function of a tool file, or a tool of a
server, with the same name as a declared tool is its implementation. Where the document declares no
function tools, all functions of its tool files are offered; otherwise undeclared ones are listed,
switched off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.tools.registry import (
    VARIABLES_KEY,
    SourceStatus,
    SourceTools,
    ToolEntry,
    ToolRegistry,
)
from studio.core.tools.schema import with_constraints, without_properties
from studio.core.tools.trust.wants import Approval

_NO_ROUTE = ("", "")
_UNUSABLE = ("failed", "untrusted", "waiting")


def build_registry(
    declared: Iterable[ToolSpec],
    offered: Iterable[SourceTools],
    sources: Iterable[SourceStatus] = (),
    before: ToolRegistry | None = None,
    effects: frozenset[str] = frozenset(),
) -> ToolRegistry:
    """Bring declarations and implementations together.

    Args:
        declared: the document's tools, hoisted ones included.
        offered: what each source has; of two with one name the first wins.
        sources: how the sources fare.
        before: the registry so far; what the user set (enabled, approval, mock) is kept.
        effects: names of the tools that the document says change something.
    """
    declared = [spec for spec in declared if spec.kind in ("function", "custom")]
    offered, sources = tuple(_marked(each, effects) for each in offered), tuple(sources)
    keys = {status.key for status in sources if status.state in _UNUSABLE} - {VARIABLES_KEY}
    unusable = next((status for status in sources if status.key in keys), None)
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


def _marked(source: SourceTools, effects: frozenset[str]) -> SourceTools:
    """A source whose tools are marked as the document says; it can only ask for more care."""
    if not effects.intersection(spec.name for spec in source.specs):
        return source
    specs = (
        replace(spec, has_effects=spec.has_effects or spec.name in effects) for spec in source.specs
    )
    return replace(source, specs=tuple(specs))


def _declared_entry(spec: ToolSpec, offered: tuple[SourceTools, ...], why_not: str) -> ToolEntry:
    """A declared tool with its implementation; without one it says why, or what to do."""
    for source in offered:
        found = next(
            (
                item
                for item in source.specs
                if item.name == spec.name or source.own_names.get(item.name) == spec.name
            ),
            None,
        )
        if found is None:
            continue
        parameters = without_properties(found.parameters, tuple(spec.bindings))
        merged = replace(
            spec,
            description=spec.description or found.description,
            parameters=with_constraints(spec.parameters, parameters)
            if spec.parameters.get("properties")
            else parameters,
            returns=found.returns,
            has_effects=spec.has_effects or found.has_effects,
            reads_only=spec.reads_only or (found.reads_only and not spec.has_effects),
        )
        return ToolEntry(
            merged,
            runner=source.key,
            runner_label=source.label,
            called=source.own_names.get(found.name, ""),
            schema=found.parameters,
            **_approvals(merged, source),
            change=source.changes.get(found.name),
            path=source.path,
            line=source.lines.get(found.name, 0),
            method=source.routes.get(found.name, _NO_ROUTE)[0],
            route=source.routes.get(found.name, _NO_ROUTE)[1],
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
        called=source.own_names.get(spec.name, ""),
        schema=spec.parameters,
        enabled=enabled,
        further=source.further,
        **_approvals(spec, source),
        change=source.changes.get(spec.name),
        path=source.path,
        line=source.lines.get(spec.name, 0),
        method=source.routes.get(spec.name, _NO_ROUTE)[0],
        route=source.routes.get(spec.name, _NO_ROUTE)[1],
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
    is_same = before.runner in ("", entry.runner)  # an approval is for the tool of one source
    return replace(
        entry,
        enabled=before.enabled if before.further == entry.further else entry.enabled,
        approval=before.approval if is_same else entry.approval,
        mock=before.mock,
        calls=before.calls,
        last_used=before.last_used,
    )
