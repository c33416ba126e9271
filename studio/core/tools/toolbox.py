"""The tools of one run: which are offered, and how each call is made.

A call is checked against the schema, gets its bound inputs, and is sent to its mock or its source.
`needs_approval` returns whether the run must ask the user first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from studio.core.patterns import with_bounded_patterns
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.text.amounts import shortened
from studio.core.text.values import JsonDict, JsonObject
from studio.core.tools.registry import MockAnswers, ToolEntry, ToolRegistry
from studio.core.tools.secrets import ToolSecrets
from studio.core.tools.source import (
    USUAL_RULE,
    LiveSource,
    OutputRule,
    ToolOutcome,
    ToolSource,
    limited,
    tool_asked,
)
from studio.core.tools.trust.store import change_text

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator


_SHOWN_PROBLEMS = 5
_MOST_VALIDATORS = 256
_VALIDATORS: dict[int, tuple[JsonObject, Validator]] = {}
"""Validators by the `id()` of the schema, which is kept so that no other object gets the same
id.
"""


def check_arguments(schema: JsonObject, arguments: JsonObject) -> tuple[str, ...]:
    """Return a sentence for each problem of the arguments; empty if they are valid.

    An invalid schema accepts everything: the tool itself will report errors.
    """
    try:
        validator = _validator_of(schema)
        found = sorted(validator.iter_errors(arguments), key=lambda error: str(list(error.path)))
    except _broken_schema():  # imported only if there is an error
        return ()
    return tuple(_sentence(error) for error in found[:_SHOWN_PROBLEMS])


def inject_bindings(spec: ToolSpec, arguments: JsonObject, inputs: JsonObject) -> JsonObject:
    """Return arguments with bound parameters set from the run's inputs, replacing the model's.

    Prompty 2 §2.9.1; a bound input without a value omits its parameter.
    """
    if not spec.bindings:
        return arguments
    kept = {name: value for name, value in arguments.items() if name not in spec.bindings}
    bound = {name: inputs[given] for name, given in spec.bindings.items() if given in inputs}
    return {**kept, **bound}


def _broken_schema() -> tuple[type[Exception], ...]:
    from jsonschema import SchemaError
    from referencing.exceptions import Unresolvable

    return SchemaError, Unresolvable, RecursionError


def _validator_of(schema: JsonObject) -> Validator:
    """Return a schema's validator, cached because building it takes longer than checking."""
    known = _VALIDATORS.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_VALIDATORS) >= _MOST_VALIDATORS:
            _VALIDATORS.clear()
        known = schema, _validator(json.dumps(schema, sort_keys=True, default=str))
        _VALIDATORS[id(schema)] = known
    return known[1]


@lru_cache(maxsize=_MOST_VALIDATORS)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator, FormatChecker
    from referencing import Registry

    loaded = cast("dict[str, Any]", json.loads(schema))
    Draft202012Validator.check_schema(loaded, FormatChecker(formats=()))  # `regex` asks `re`
    bounded = with_bounded_patterns(Draft202012Validator)
    # An empty registry: a foreign schema must not cause a download.
    return cast("Validator", bounded(loaded, registry=Registry()))


def _sentence(error: ValidationError) -> str:
    path = ".".join(str(step) for step in error.path)
    message = shortened(error.message, 300)
    return f"{path}: {message}" if path else message


# Operations on JSON schemas of arguments: required properties, merging, size.

LARGE_TOOL = 20 * 1024
"""Size from which a tool is marked as large, in characters."""

_LETTERS_A_TOKEN = 4

_CONSTRAINTS = tuple(
    """
    pattern enum const format minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    minLength maxLength minItems maxItems
""".split()
)


def with_constraints(declared: JsonObject, implementation: JsonObject) -> JsonObject:
    """Return the declared schema, with constraints of the implementation where it has none.

    A call is checked against the implementation anyway, so the model should know the constraints.
    """
    own, other = _properties(declared), _properties(implementation)
    if not own or not other:
        return declared
    merged: JsonDict = {
        name: {
            **schema,
            **{
                key: other[name][key]
                for key in _CONSTRAINTS
                if name in other and key in other[name] and key not in schema
            },
        }
        for name, schema in own.items()
    }
    return {**declared, "properties": merged}


def without_properties(schema: JsonObject, names: Sequence[str]) -> JsonObject:
    """Return the object schema without some properties (bindings, Prompty 2 §7.1.3)."""
    left = {name: value for name, value in _properties(schema).items() if name not in names}
    result: JsonDict = {**schema, "properties": left}
    required = schema.get("required")
    if isinstance(required, Sequence) and not isinstance(required, str):
        still = [name for name in required if name not in names]
        if still:
            result["required"] = still
        else:
            result.pop("required")
    return result


def _properties(schema: JsonObject) -> dict[str, JsonObject]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {name: value if isinstance(value, Mapping) else {} for name, value in properties.items()}


def spec_size(spec: ToolSpec) -> int:
    """Return the number of characters that a tool adds to each request."""
    return len(spec.name) + len(spec.description) + len(json.dumps(spec.parameters))


def about_tokens(sizes: Iterable[int]) -> int:
    """Return the approximate number of tokens of tools with these sizes."""
    return sum(size // _LETTERS_A_TOKEN for size in sizes)


AskUser: TypeAlias = Callable[[str, JsonObject], Awaitable[ToolOutcome]]
"""Function that returns the user's answer for a tool and arguments, for the mock "ask me"."""


_LONGEST_OUTPUT = 20_000
"""Maximum number of shown characters of a running call's output; twice as many are kept, so that a
secret cut in two is never shown.
"""

_NO_VALUE = (
    "The call was not made: a secret in its arguments has no value here. Set the variable in the "
    "arguments, and call again."
)


class Toolbox:
    """The tools of one run. A tool can be switched to a mock and back during the run."""

    def __init__(
        self,
        registry: Callable[[], ToolRegistry],
        sources: Mapping[str, ToolSource],
        *,
        inputs: JsonObject | None = None,
        ask: AskUser | None = None,
        used: Callable[[ToolId, float], None] | None = None,
        secrets: ToolSecrets | None = None,
        approved: Callable[[ToolId], object] | None = None,
        rule: Callable[[], OutputRule] = lambda: USUAL_RULE,
    ) -> None:
        """Create a toolbox.

        Args:
            registry: returns the current tools.
            sources: the sources, by key.
            inputs: the run's input values, for bindings.
            ask: asks the user; without it the mock "ask me" is an error.
            used: called with the tool and time of each call.
            secrets: reveals secrets in calls, and masks them in results.
            approved: called with each tool that the user allowed.
            rule: returns the rule for the model's part of a result.
        """
        self._rule = rule
        self._registry = registry
        self._sources = sources
        self._inputs = dict(inputs or {})
        self._ask = ask
        self._used = used
        self._secrets = secrets if secrets is not None else ToolSecrets()
        self._on_approval = approved
        self._approved: set[ToolId] = set()
        self._names: dict[ToolId, str] = {}
        """Names under which the run has sent the tools so far."""
        self._seen = self._named = ToolRegistry()
        self._mocks = MockAnswers()
        self._said: dict[str, str] = {}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools that are offered to the model."""
        return self._tools().specs

    def _tools(self) -> ToolRegistry:
        """Return the current tools, under the names used since the run began."""
        now = self._registry()
        if now is not self._seen:
            self._seen, self._named = now, now.with_names(self._names)
            self._names.update((entry.id, entry.name) for entry in self._named.entries)
        return self._named

    def origin(self, name: str) -> Literal["live", "mock"]:
        """Return whether a call of the tool runs it or its mock."""
        entry = self._tools().named(name)
        return "mock" if entry is not None and entry.mock is not None else "live"

    def needs_approval(self, name: str) -> bool:
        """Return whether the user must be asked before the next call; never for a mock."""
        entry = self._tools().named(name)
        if entry is None or entry.mock is not None:
            return False
        if entry.change is not None:
            return True
        if entry.approval == "once":
            return entry.id not in self._approved
        return entry.approval == "always"

    def why_approval(self, name: str) -> str:
        """Return why the tool needs approval regardless of its setting; empty if it does not."""
        entry = self._tools().named(name)
        if entry is None or entry.change is None or entry.mock is not None:
            return ""
        return change_text(entry.change)

    def approve(self, name: str) -> None:
        """Record that the user allowed a call.

        It fulfills "ask once" for this run, and allows the tool in its current form.
        """
        entry = self._tools().named(name)
        if entry is None:
            return
        self._approved.add(entry.id)
        if self._on_approval is not None:
            self._on_approval(entry.id)

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Return the problems of a call before it is made: its name, and its arguments.

        Args:
            name: name written by the model.
            arguments: arguments with the references of secrets.
            released: references whose values the tool would get.
        """
        entry = self._tools().named(name)
        if entry is None or not entry.enabled:
            return (self._unknown(name),)
        sent = self._secrets.revealed(arguments, released, entry.id.source)
        return self._problems(entry, sent if sent is not None else arguments)

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Call a tool; a failure is an outcome, and cancelling the task stops the tool.

        Args:
            name: name written by the model.
            arguments: arguments from the model, without bound ones.
            call_id: id of the call, for sources that use it.
            released: the references of secrets in the arguments whose values the tool gets.
        """
        entry = self._tools().named(name)
        if entry is None or not entry.enabled:
            return ToolOutcome(self._unknown(name), "unknown-tool")
        sent = self._secrets.revealed(arguments, released, entry.id.source)
        problems = self._problems(entry, sent if sent is not None else arguments)
        if problems:
            return ToolOutcome("; ".join(problems), "bad-arguments")
        if self._used is not None:
            self._used(entry.id, time.time())
        if entry.mock is not None:
            tool_asked()
            whole = inject_bindings(entry.spec, arguments, self._inputs)
            whole = self._secrets.masked(whole)
            outcome = self._mocks.answer(entry.mock, name, whole)
            return await self._asked(name, whole) if outcome is None else outcome
        source = self._sources.get(entry.id.source)
        if source is None:
            return ToolOutcome(entry.problem or f"no source provides {name!r}", "unknown-tool")
        if sent is None:
            return ToolOutcome(_NO_VALUE, "error")
        whole = inject_bindings(entry.spec, sent, self._inputs)
        self._said[call_id] = ""
        try:
            outcome = await self._called(source, entry.id.name, whole, call_id)
        finally:
            self._said.pop(call_id, None)
        return limited(self._secrets.outcome(outcome), self._rule())

    def live_output(self, call_id: str = "") -> str:
        """Return the newest output and progress of a running call."""
        return self._secrets.masked(self._said.get(call_id, ""))[-_LONGEST_OUTPUT:]

    def _unknown(self, name: str) -> str:
        offered = ", ".join(spec.name for spec in self.specs) or "none"
        return f"there is no tool {name!r}; the tools are: {offered}"

    def _problems(self, entry: ToolEntry, arguments: JsonObject) -> tuple[str, ...]:
        whole = inject_bindings(entry.spec, arguments, self._inputs)
        return check_arguments(_checked_schema(entry), whole)

    async def _called(
        self, source: ToolSource, name: str, arguments: JsonObject, call_id: str
    ) -> ToolOutcome:
        def hear(text: str) -> None:
            self._said[call_id] = (self._said.get(call_id, "") + text)[-2 * _LONGEST_OUTPUT :]

        if not getattr(source, "says_when_asked", False):
            tool_asked()
        if _is_live(type(source)):
            return await cast("LiveSource", source).call_with_progress(name, arguments, hear)
        return await source.call(name, arguments)

    async def _asked(self, name: str, arguments: JsonObject) -> ToolOutcome:
        if self._ask is None:
            return ToolOutcome("the user answers this tool, but there is no user", "error")
        return await self._ask(name, arguments)


@lru_cache(maxsize=64)
def _is_live(kind: type[ToolSource]) -> bool:
    """Return whether sources of a type report progress; cached, as Python 3.11 checks slowly."""
    return issubclass(kind, LiveSource)


def _checked_schema(entry: ToolEntry) -> JsonObject:
    """Return the schema of a complete call: the implementation's, otherwise the declared one."""
    if entry.mock is None and entry.schema is not None:
        return entry.schema
    if not entry.spec.bindings:
        return entry.spec.parameters
    # The declaration omits bound parameters; the call has them.
    return {**entry.spec.parameters, "additionalProperties": True}
