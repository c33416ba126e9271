"""Names and values of a running template, and Jinja's sandbox with limits on values and work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from jinja2 import ChainableUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import FilterArgumentError, SecurityError
from jinja2.nodes import EvalContext
from jinja2.runtime import Context
from jinja2.sandbox import MAX_RANGE, ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, generate_lorem_ipsum

from studio.core.prompty.templates.writer import BoundExceededError, Budget, plain_text
from studio.core.text.values import parse_json, whole_numbers

# Names and their values while a template runs, each with its input.

Value: TypeAlias = Any
"""Inputs are JSON, but filters and methods return anything: iterators, ranges, Jinja's objects."""


_MISSING = object()


class Scope:
    """One level of names; an inner scope reads outer ones but only changes itself."""

    __slots__ = ("key_of", "outer", "sources", "values")

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.key_of: tuple[str, str] = ("", "")
        """The loop variable for keys of an object, and that object as written."""

    def set(self, name: str, value: Value, source: str | None = None) -> None:
        """Set a name to a value, with the input `source` that it comes from, if any."""
        self.values[name] = value
        if source is not None:
            self.sources[name] = source
        else:
            self.sources.pop(name, None)

    def get(self, name: str, default: Value) -> Value:
        """Return the value of a name."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.values.get(name, _MISSING)
            if value is not _MISSING:
                return value
            scope = scope.outer
        return default

    def source(self, name: str) -> str | None:
        """Return the input that a name's value comes from."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.sources.get(name)
            scope = scope.outer
        return None

    def mapping_of(self, name: str) -> str:
        """Return the object of which a name's value is a key; empty if it is none."""
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.outer
        return scope.key_of[1] if scope is not None and scope.key_of[0] == name else ""

    def source_of(self, expression: nodes.Node | None) -> str | None:
        """Return the first input whose value is used in an expression."""
        if expression is None:
            return None
        sources = (self.source(name.name) for name in names_in(expression))
        return next((source for source in sources if source is not None), None)


def names_in(expression: nodes.Node) -> Iterable[nodes.Name]:
    """Yield the names in an expression, those for output before those only tested."""
    open_: list[nodes.Node] = [expression]
    while open_:
        node = open_.pop()
        if isinstance(node, nodes.Name):
            if node.ctx == "load":
                yield node
        elif isinstance(node, nodes.CondExpr):
            children = (node.expr1, node.expr2, node.test)
            open_ += [child for child in reversed(children) if child is not None]
        else:
            open_ += reversed(list(node.iter_child_nodes()))


def root_scope(inputs: Iterable[tuple[str, Value]]) -> Scope:
    """Return the outermost scope, in which every input is its own source."""
    scope = Scope()
    for name, value in inputs:
        scope.set(name, value, name)
    return scope


_MOST_DIGITS_AS_BITS = 14_000
"""Limit in bits for printing integers, since Python refuses more than 4,300 digits."""

_MOST_PADDING = 100_000
_MOST_LEVELS = 1_000
_MOST_SCANNED = 20_000
"""Maximum length of text for filters whose time is quadratic."""

_PADDING_FILTERS = frozenset(
    (
        *("batch", "center", "indent", "promptfoo.dump", "slice", "tojson", "truncate"),
        *("urlize", "wordwrap"),
    )
)
_SQUARE_FILTERS = frozenset(("striptags", "urlize", "title", "wordwrap", "pprint", "xmlattr"))
_WALKING_FILTERS = frozenset(
    (
        *("attr", "batch", "count", "d", "default", "first", "items", "join", "last", "length"),
        *("list", "map", "random", "reject", "rejectattr", "reverse", "round", "select"),
        *("selectattr", "slice", "sum"),
    )
)
"""Filters that use the items of their value directly; all others create or compare texts."""
_PADDING_METHODS = frozenset(("center", "expandtabs", "ljust", "rjust", "to_bytes", "zfill"))


def _dump(value: Value, spaces: int = 0) -> str:
    """Return Nunjucks' `dump`: JSON as JavaScript's `JSON.stringify` writes it."""
    if isinstance(value, Undefined):
        return ""
    separators = (",", ": ") if spaces else (",", ":")
    return json.dumps(
        whole_numbers(value), ensure_ascii=False, indent=spaces or None, separators=separators
    )


def _length(value: Value) -> Value:
    """Return JavaScript's `.length` of a text or a list; for an object, its entry of that name."""
    return value.get("length", "") if isinstance(value, Mapping) else len(value)


PROMPTFOO_FILTERS: Mapping[str, Callable[..., Value]] = {
    "promptfoo.dump": _dump,
    "promptfoo.length": _length,
    "promptfoo.load": parse_json,
}
"""Filters of promptfoo's templates that Jinja lacks, under names that no prompt file uses."""


class RunContext(Context):
    """Jinja's context, with the limits of one rendering."""

    budget: Budget


class PromptEnvironment(ImmutableSandboxedEnvironment):
    """The sandbox with limited filters and undefined values that are empty."""

    def __init__(self) -> None:
        super().__init__(undefined=ChainableUndefined, keep_trailing_newline=True)
        self.filters["join"] = _join
        self.filters["sum"] = _sum
        self.filters["string"] = plain_text
        self.filters |= PROMPTFOO_FILTERS
        self.globals = {"range": _range, "dict": dict, "cycler": Cycler, "joiner": Joiner}
        self.globals["lipsum"] = _lipsum

    def context(self, budget: Budget) -> RunContext:
        """Return the context for filters that need it."""
        made = RunContext(self, {}, None, {})
        made.budget = budget
        return made

    def unsafe_undefined(self, obj: Value, attribute: str) -> Value:
        """Raise an error at once, so that the user is informed."""
        raise SecurityError(
            f"{attribute!r} of a {type(obj).__name__} is not available in templates"
        )

    def call_filter(
        self,
        name: str,
        value: Value,
        args: Sequence[Value] | None = None,
        kwargs: Mapping[str, Value] | None = None,
        context: Context | None = None,
        eval_ctx: EvalContext | None = None,
    ) -> Value:
        """Call a filter within the limits; filters that call filters use this too."""
        if not isinstance(context, RunContext):
            return super().call_filter(name, value, args, kwargs, context, eval_ctx)
        given = (*(args or ()), *(kwargs or {}).values())
        guard_filter(name, value, given, context.budget)
        try:
            result = super().call_filter(name, value, args, kwargs, context, eval_ctx)
        finally:
            context.budget.check_time()  # also after an error, which may have taken long
        context.budget.charge(result)
        return result


@cache
def environment() -> PromptEnvironment:
    """Return the shared environment, which has no state of a rendering."""
    return PromptEnvironment()


def guard_filter(name: str, value: Value, given: Sequence[Value], budget: Budget) -> None:
    """Refuse a filter call whose work would exceed the limits.

    Raises:
        BoundExceededError: a limit would be exceeded.
    """
    if name not in _WALKING_FILTERS:
        budget.expect_text(value)
        budget.expect(_grown(name, value, given, budget))
    if name in _PADDING_FILTERS:
        _guard_padding(given)
    elif name == "round":
        if any(isinstance(item, int) and abs(item) > 300 for item in given):
            raise BoundExceededError("'round' has an argument of more than 300 digits")
    elif name == "replace" and len(given) >= 2:
        _guard_replace(str(value), str(given[0]), str(given[1]), budget)
    elif name == "format":
        _guard_format(str(value), given, budget)
    if name in _SQUARE_FILTERS:
        size = len(value) if isinstance(value, str) else budget.weigh(value)
        if size > _MOST_SCANNED:
            raise BoundExceededError(
                f"{name!r} has an input of more than {_MOST_SCANNED:,} characters"
            )


def guard_method(target: Value, name: str, given: Sequence[Value], budget: Budget) -> None:
    """Refuse a method call whose result would exceed the limits.

    Raises:
        BoundExceededError: a limit would be exceeded.
    """
    if name in _PADDING_METHODS:
        _guard_padding(given)
        if name == "expandtabs":
            width = given[0] if given and isinstance(given[0], int) else 8
            budget.expect(len(target) + target.count("\t") * width)
    elif name == "replace" and isinstance(target, str) and len(given) >= 2:
        _guard_replace(target, str(given[0]), str(given[1]), budget)
    elif name == "join" and isinstance(target, str) and given:
        items = bounded_items(given[0], budget)
        budget.expect_text(items, len(target) * len(items))
    elif name == "translate" and given and isinstance(given[0], Mapping):
        longest = max((len(item) for item in given[0].values() if isinstance(item, str)), default=1)
        budget.expect(len(target) * longest)
    elif name in ("format", "format_map") and isinstance(target, str):
        _guard_format(target, given, budget)


def guard_operator(operator: str, left: Value, right: Value, budget: Budget) -> None:
    """Refuse an operation whose result would exceed the limits.

    Raises:
        BoundExceededError: a limit would be exceeded.
    """
    if operator in ("*", "**") and isinstance(left, int) and isinstance(right, int):
        bits = max(1, left.bit_length())
        bits = bits * max(0, right) if operator == "**" else bits + right.bit_length()
        if bits > _MOST_DIGITS_AS_BITS and not (operator == "**" and abs(left) <= 1):
            raise BoundExceededError("a number has more than 4,300 digits")
    elif operator == "*":
        for items, times in ((left, right), (right, left)):
            if isinstance(items, str | bytes | list | tuple) and isinstance(times, int):
                budget.expect(len(items) * max(0, times))
    elif operator == "%" and isinstance(left, str | bytes):
        values = right if isinstance(right, tuple) else (right,)
        _guard_format(str(left), values, budget)
    elif operator == "+" and isinstance(left, str | list | tuple) and hasattr(right, "__len__"):
        budget.expect(len(left) + len(right))


def bounded_items(value: Value, budget: Budget) -> list[Value]:
    """Return the items of any iterable, counted against the limits.

    Raises:
        TypeError: it is not iterable.
        BoundExceededError: it has too many items.
    """
    if isinstance(value, list | tuple | dict | str):
        budget.expect(len(value))
        return list(value)
    items: list[Value] = []
    for item in iter(value):
        items.append(item)
        if len(items) > budget.bounds.value:
            budget.expect(len(items))
    return items


def _guard_padding(given: Iterable[Value]) -> None:
    if any(isinstance(item, int) and abs(item) > _MOST_PADDING for item in given):
        raise BoundExceededError(f"a width is more than {_MOST_PADDING:,}")


def _grown(name: str, value: Value, given: Sequence[Value], budget: Budget) -> int:
    """Return the maximum number of code points that a filter adds to its value's text.

    That is a number of insertions times the longest argument: a width in spaces, or a text.
    """
    if name not in _ADDITIONS:
        return 0
    widths = (abs(item) for item in given if isinstance(item, int))
    texts = (len(item) for item in given if isinstance(item, str))
    return max((*widths, *texts), default=4) * _ADDITIONS[name](value, budget)


def _levels(value: Value) -> int:
    """Return the nesting depth of lists and mappings."""
    depth, level = 0, [value]
    while level and depth < _MOST_LEVELS:
        depth += 1
        level = [
            item
            for held in level
            if isinstance(held, list | tuple | Mapping)
            for item in (held.values() if isinstance(held, Mapping) else held)
        ]
    return depth


_ADDITIONS: Mapping[str, Callable[[Value, Budget], int]] = {
    "indent": lambda value, budget: len(plain_text(value).splitlines()) + 1,
    "promptfoo.dump": lambda value, budget: budget.weigh(value) * _levels(value),
    "tojson": lambda value, budget: budget.weigh(value) * _levels(value),
    "urlize": lambda value, budget: len(plain_text(value)) // 2,
    "wordwrap": lambda value, budget: len(plain_text(value)),
}
"""Maximum number of insertions of a width or a text by a filter, up to a million."""


def _guard_replace(text: str, old: str, new: str, budget: Budget) -> None:
    count = text.count(old) if old else len(text) + 1
    budget.expect(len(text) + count * max(0, len(new) - len(old)))


def _guard_format(text: str, given: Sequence[Value], budget: Budget) -> None:
    """Return the sum of the widths in a format string and of widths given as arguments."""
    widths = sum(int(digits[-9:]) + (10**9 if len(digits) > 9 else 0) for digits in _digits(text))
    sizes = [budget.weigh_text(item) for item in given]
    slots = text.count("%") + text.count("{")
    if "*" in text or re.search(r"\{[^}]*\{", text):
        widths += slots * max(
            (abs(item) for item in _flat(given) if isinstance(item, int)), default=0
        )
    budget.expect(len(text) + widths + slots * max(sizes, default=0))


def _digits(text: str) -> Iterable[str]:
    for directive in re.findall(r"%[^A-Za-z%]*|\{[^{}]*", text):
        yield from re.findall(r"[0-9]+", directive)


def _flat(given: Sequence[Value]) -> Iterable[Value]:
    for item in given:
        if isinstance(item, Mapping):
            yield from item.values()
        elif isinstance(item, list | tuple):
            yield from item
        else:
            yield item


@pass_context
def _join(context: RunContext, value: Value, d: str = "", attribute: str | None = None) -> str:
    """Return Jinja's `join`, with items formatted as in a prompt."""
    items = bounded_items(value, context.budget)
    if attribute is not None:
        get = _attribute_getter(context.environment, attribute)
        items = [get(item) for item in items]
    separator = str(d)
    context.budget.expect_text(items, len(separator) * len(items))
    return separator.join(plain_text(item) for item in items)


@pass_context
def _sum(
    context: RunContext, iterable: Value, attribute: str | None = None, start: Value = 0
) -> Value:
    """Return Jinja's `sum`; stop when the sum becomes too large."""
    items = bounded_items(iterable, context.budget)
    if attribute is not None:
        get = _attribute_getter(context.environment, attribute)
        items = [get(item) for item in items]
    if isinstance(start, str) or any(isinstance(item, str) for item in items):
        raise FilterArgumentError("'sum' adds numbers; use 'join' for texts")
    total = start
    for item in items:
        context.budget.step()
        guard_operator("+", total, item, context.budget)
        total = total + item
        context.budget.charge(total)
    return total


def _attribute_getter(environment: Value, attribute: str | int) -> Callable[[Value], Value]:
    parts = [int(part) if part.isdigit() else part for part in str(attribute).split(".")]

    def get(item: Value) -> Value:
        for part in parts:
            item = environment.getitem(item, part)
        return item

    return get


def _range(*bounds: int) -> range:
    made = range(*bounds)
    if len(made) > MAX_RANGE:
        raise BoundExceededError(f"a range has more than {MAX_RANGE:,} items")
    return made


def _lipsum(n: int = 5, html: bool = False, min: int = 20, max: int = 100) -> str:  # noqa: A002
    if not (0 <= n <= 20 and max <= 1000):
        raise BoundExceededError(
            "'lipsum' has an argument of more than 20 paragraphs of 1,000 words"
        )
    return generate_lorem_ipsum(n, html, min, max)
