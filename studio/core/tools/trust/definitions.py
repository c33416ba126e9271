"""Definition of a tool when the user allowed it, and how it differs now.

An approval is for a tool as it was: its name, description, schema, marks, and where it is answered.
A source that lists another tool under the same name asks again.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256

from studio.core.prompty.document import ToolSpec
from studio.core.text.diff import unified_diff
from studio.core.text.values import JsonObject


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """All that an approval is given for."""

    name: str
    """The tool's name."""

    description: str
    """Description of the tool."""

    parameters: JsonObject
    """Its schema."""

    place: str
    """Address of the tool: a file, a command line, a method and address."""

    effects: str = ""
    """`effects`, `reads only`, or empty where it is not declared."""

    @property
    def digest(self) -> str:
        """Return the hash of the whole definition."""
        whole = [self.name, self.description, self.parameters, self.place, self.effects]
        text = json.dumps(whole, sort_keys=True, ensure_ascii=True, default=str)
        return sha256(text.encode()).hexdigest()

    def text(self) -> str:
        """Return the definition as a user reads it, in lines that can be compared."""
        schema = json.dumps(self.parameters, indent=2, ensure_ascii=False, default=str)
        marks = [self.effects] if self.effects else []
        return "\n".join([self.place, *marks, self.description, schema])


@dataclass(frozen=True, slots=True)
class ToolChange:
    """That a tool is not the one that was allowed."""

    now: ToolDefinition
    """The tool as it is."""

    before: ToolDefinition | None = None
    """The tool that it was; None where it is as it was, but was never allowed."""

    def lines(self) -> tuple[str, ...]:
        """Return the difference, each line with `+`, `-` or a blank in front."""
        if self.before is None:
            return ()
        found = unified_diff(f"{self.before.text()}\n", f"{self.now.text()}\n", context=1)
        return tuple(line for line in found.splitlines() if not line.startswith("@@"))


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool that a source has had."""

    definition: ToolDefinition
    """Definition when it was allowed, or first seen."""

    digest: str
    """The definition's digest, kept so that it is not worked out again."""

    is_allowed: bool = True
    """Whether it may be called without a question about what it is."""


def change_text(change: ToolChange) -> str:
    """Return why a tool asks because of what it is, with the difference."""
    if change.before is not None:
        return "\n".join(["The tool is not what it was:", *change.lines()])
    if not change.now.effects:
        return "The tool is new. Its source does not say whether it changes something."
    return "The tool is new: you have not allowed it yet."


def define(spec: ToolSpec, place: str) -> ToolDefinition:
    """Return a tool's definition as its source lists it."""
    effects = "has effects" if spec.has_effects else "reads only" if spec.reads_only else ""
    parameters = dict(spec.parameters)
    if spec.kind == "openapi":  # closed by the studio, not by its author; earlier ones were open
        parameters.pop("additionalProperties", None)
    return ToolDefinition(spec.name, spec.description, parameters, place, effects)


def review(
    specs: Iterable[ToolSpec],
    place_of: Callable[[str], str],
    known: Mapping[str, KnownTool] | None,
    *,
    is_own: bool = True,
) -> tuple[dict[str, ToolChange], dict[str, KnownTool]]:
    """Compare the tools of a source with those that it had.

    At first sight the functions of a Python file are taken as they are, but for those that do not
    declare whether they change something: they ask the first time. So do the tools of servers
    and services, whose annotations are hints of strangers. What comes later asks.

    Args:
        specs: the tools as the source lists them now.
        place_of: where a tool is answered.
        known: the tools that it had; None where it is seen for the first time.
        is_own: whether a file of the folder defines the tools.

    Returns:
        Those that ask, by name; and what is known from now on.
    """
    asking: dict[str, ToolChange] = {}
    after = dict(known or {})
    for spec in specs:
        now = define(spec, place_of(spec.name))
        digest = now.digest
        before = after.get(spec.name)
        if before is None:
            is_told = is_own and known is None and (spec.has_effects or spec.reads_only)
            before = after[spec.name] = KnownTool(now, digest, is_told)
        if before.digest != digest:
            asking[spec.name] = ToolChange(now, before.definition)
        elif not before.is_allowed:
            asking[spec.name] = ToolChange(now)
    return asking, after


def allowed(known: Mapping[str, KnownTool], changes: Iterable[ToolChange]) -> dict[str, KnownTool]:
    """Return the store after the user has allowed tools in their present form."""
    fresh = {each.now.name: KnownTool(each.now, each.now.digest) for each in changes}
    return {**known, **fresh}
