"""Match the declarations of tools with their implementations.

The model gets the document's declaration. A declared tool is implemented by the first function of a
tool file, or tool of a server, with the same name. If the document declares no function tools, all
functions of its tool files are offered; otherwise undeclared ones are listed but disabled.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.text.naming import free_name
from studio.core.tools.registry import (
    VARIABLES_KEY,
    SourceStatus,
    SourceTools,
    ToolEntry,
    ToolRegistry,
)
from studio.core.tools.toolbox import with_constraints, without_properties
from studio.core.tools.trust.store import Approval, stricter

# The names by which models call tools: valid for providers, and unique.

LONGEST_NAME = 64
"""Maximum length in characters, for OpenAI and Anthropic."""

_LONGEST_PREFIX = 24
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def model_names(
    groups: Iterable[Mapping[str, Iterable[str]]], taken: Iterable[str] = ()
) -> dict[ToolId, str]:
    """Return a name for each tool of several sources.

    A name used by several sources of a group, or used already, gets the prefix of each source:
    which of two servers answers `read_file` then does not depend on their order.

    Args:
        groups: names by the key of their source; earlier groups keep their names.
        taken: names of the tools that the document declares.
    """
    found: dict[ToolId, str] = {}
    used = set(taken)
    for group in groups:
        safe = {
            ToolId(key, own): name
            for key, names in group.items()
            for own, name in safe_names(names).items()
        }
        count = Counter(safe.values())
        shared = {
            tool: prefixed_name(tool, name)
            for tool, name in safe.items()
            if count[name] > 1 or name in used
        }
        mimics = set(shared.values())  # names that no other tool may have
        plain = {tool: name for tool, name in safe.items() if tool not in shared}
        found |= {tool: name for tool, name in plain.items() if name not in mimics}
        used.update(name for name in plain.values() if name not in mimics)
        others = {t: prefixed_name(t, name) for t, name in plain.items() if name in mimics}
        for tool, name in (shared | others).items():
            found[tool] = free_model_name(name, used)
            used.add(found[tool])
    return found


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Return a valid name for each name of a source; all are different.

    Valid names have up to 64 letters, digits, `_` and `-`, and stay unchanged.
    """
    names = tuple(dict.fromkeys(names))
    found = {name: name for name in names if _safe(name) == name}
    taken = set(found.values())
    for name in names:
        if name not in found:
            found[name] = free_model_name(_safe(name), taken)
            taken.add(found[name])
    return found


def free_model_name(name: str, taken: set[str]) -> str:
    """Return the name, truncated to the limit, with a number if it exists already."""
    return free_name(name, taken.__contains__, "_{}", LONGEST_NAME)


def prefixed_name(tool: ToolId, name: str = "") -> str:
    """Return the name of a tool with its source's prefix ("weather__forecast").

    Args:
        tool: the tool.
        name: its name without a prefix; by default the source's name.
    """
    kind, _, source = tool.source.partition(":")
    prefix = _safe(PurePath(source).stem if kind == "python" else source)[:_LONGEST_PREFIX]
    return f"{prefix}__{name or _safe(tool.name)}"


def _safe(name: str) -> str:
    if not _OTHER.search(name) and 0 < len(name) <= LONGEST_NAME:
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHER.sub("_", plain).strip("_")[:LONGEST_NAME] or "tool"


_NO_ROUTE = ("", "")
_NO_OFFERS: Mapping[str, bool] = {}
_UNUSABLE = ("failed", "untrusted", "waiting")


def build_registry(
    declared: Iterable[ToolSpec],
    offered: Iterable[SourceTools],
    sources: Iterable[SourceStatus] = (),
    before: ToolRegistry | None = None,
    effects: frozenset[str] = frozenset(),
    offers: Mapping[str, bool] = _NO_OFFERS,
) -> ToolRegistry:
    """Build the registry from declarations and implementations.

    Args:
        declared: the document's tools, including hoisted ones.
        offered: the tools of each source; the first source with a declared tool runs it.
        sources: states of the sources.
        before: the previous registry, whose user settings (approval, mock) are kept.
        effects: names of the tools with effects according to the document.
        offers: whether a tool is offered to the model, if the document says so.
    """
    own: dict[str, ToolSpec] = {}
    for spec in declared:
        if spec.kind in ("function", "custom"):
            own.setdefault(spec.name, spec)
    offered, sources = tuple(offered), tuple(sources)
    keys = {status.key for status in sources if status.state in _UNUSABLE} - {VARIABLES_KEY}
    unusable = next((status for status in sources if status.key in keys), None)
    why = f"{unusable.label}: {unusable.message}" if unusable else ""
    known = [(source, _by_name(source)) for source in offered]
    entries = [_declared_entry(spec, known, why, effects) for spec in own.values()]
    bound = {entry.id for entry in entries}
    names = _names(offered, bound, own)
    for source in offered:
        for spec in source.specs:
            tool = ToolId(source.key, spec.name)
            if tool in bound:
                continue
            bound.add(tool)
            # The document can only add effects, which need approval.
            has_effects = spec.has_effects or not effects.isdisjoint((spec.name, names[tool]))
            told = replace(spec, name=names[tool], id=tool, has_effects=has_effects)
            is_chosen = not source.allowed or spec.name in source.allowed
            is_offered = is_chosen and not source.further and (source.stands_alone or not own)
            entries.append(
                replace(_bound_entry(told, spec, source), declared=False, enabled=is_offered)
            )
    return ToolRegistry(tuple(_as_before(entries, before, offers)), sources)


def _names(
    offered: Iterable[SourceTools], bound: AbstractSet[ToolId], declared: Iterable[str]
) -> dict[ToolId, str]:
    """Return the names of undeclared tools; servers beside the prompt get the remaining names."""
    groups: tuple[dict[str, list[str]], ...] = ({}, {})
    for source in offered:
        groups[source.further][source.key] = [
            spec.name for spec in source.specs if ToolId(source.key, spec.name) not in bound
        ]
    return model_names(groups, declared)


def _by_name(source: SourceTools) -> dict[str, ToolSpec]:
    """Return a source's tools by the names for declarations; the tool's own name comes first."""
    own = {spec.name: spec for spec in reversed(source.specs)}
    others = {python: own[name] for python, name in source.python_names.items()}
    return others | {safe: own[name] for name, safe in safe_names(own).items()} | own


def _declared_entry(
    spec: ToolSpec,
    known: Iterable[tuple[SourceTools, Mapping[str, ToolSpec]]],
    why_not: str,
    effects: frozenset[str],
) -> ToolEntry:
    """Return a declared tool with its implementation, or the reason why there is none."""
    for source, by_name in known:
        found = by_name.get(spec.name)
        if found is None:
            continue
        parameters = without_properties(found.parameters, tuple(spec.bindings))
        has_effects = spec.has_effects or found.has_effects or not effects.isdisjoint({found.name})
        merged = replace(
            spec,
            description=spec.description or found.description,
            parameters=with_constraints(spec.parameters, parameters)
            if spec.parameters.get("properties")
            else parameters,
            returns=found.returns,
            has_effects=has_effects,
            reads_only=spec.reads_only or (found.reads_only and not spec.has_effects),
            id=ToolId(source.key, found.name),
        )
        return _bound_entry(merged, found, source)
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


def _bound_entry(spec: ToolSpec, found: ToolSpec, source: SourceTools) -> ToolEntry:
    """Return a tool that a source runs.

    Args:
        spec: the tool for the model.
        found: the tool as listed by the source.
        source: the source.
    """
    method, route = source.routes.get(found.name, _NO_ROUTE)
    return ToolEntry(
        spec,
        runner_label=source.label,
        schema=found.parameters,
        further=source.further,
        **_approvals(spec, source),
        change=source.changes.get(found.name),
        marks=source.marks.get(found.name, ()),
        path=source.path,
        line=source.lines.get(found.name, 0),
        method=method,
        route=route,
    )


def _approvals(spec: ToolSpec, source: SourceTools | None = None) -> dict[str, Any]:
    """Return the approval settings of a tool; a project's file can only make them stricter."""
    usual = _default_approval(spec)
    if source is not None:
        stated = source.approvals.get(spec.id.name, "allow")
        usual = stricter(usual, stated, "always" if spec.id.name in source.marks else "allow")
    return {"approval": usual, "usual_approval": usual}


def _default_approval(spec: ToolSpec) -> Approval:
    """Return the default approval: always for tools built from values, once for effects."""
    if spec.dynamic:
        return "always"
    return "once" if spec.has_effects else "allow"


def _as_before(
    entries: Iterable[ToolEntry], before: ToolRegistry | None, offers: Mapping[str, bool]
) -> Iterator[ToolEntry]:
    """Yield the entries with the user's earlier settings.

    Args:
        entries: entries from the document and the sources.
        before: the previous registry.
        offers: whether a tool is offered to the model, if the document says so.
    """
    known = before.entries if before is not None else ()
    kept = {entry.id: entry for entry in known}
    declared = {entry.name: entry for entry in known if entry.declared}
    for usual in entries:
        enabled = offers.get(usual.name, offers.get(usual.id.name, usual.enabled))
        entry = replace(usual, enabled=enabled, usually_enabled=usual.enabled)
        old = kept.get(entry.id) or (declared.get(entry.name) if entry.declared else None)
        if old is None or old.declared != entry.declared:
            yield entry
            continue
        is_same = old.id.source in ("", entry.id.source)  # an approval is for one source's tool
        yield replace(
            entry,
            approval=old.approval if is_same else entry.approval,
            mock=old.mock,
            calls=old.calls,
            last_used=old.last_used,
        )
