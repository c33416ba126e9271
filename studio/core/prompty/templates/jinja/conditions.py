"""Conditions over plain values: template expressions with their own limits.

Missing values are null; comparisons of incompatible values are false.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce

from jinja2 import Undefined, nodes

from studio.core.prompty.templates.jinja.expressions import Expressions
from studio.core.prompty.templates.jinja.failures import reason
from studio.core.prompty.templates.jinja.program import ProgramParser, read_program
from studio.core.prompty.templates.jinja.run import FAILURES
from studio.core.prompty.templates.jinja.sandbox import PromptEnvironment, Scope, Value
from studio.core.prompty.templates.jinja.tokens import Interpolation, PlainExpression
from studio.core.prompty.templates.writer import BoundExceededError, Bounds, Budget
from studio.core.text.naming import nearest
from studio.core.text.values import Json, JsonObject

_LONGEST = 2000
_BOUNDS = Bounds(seconds=0.5)
_BEGIN, _END = "{{ ", " }}"


class ConditionError(ValueError):
    """Raised when a condition cannot be read or evaluated; the text says what and where."""


@dataclass(frozen=True)
class Condition:
    """A compiled condition."""

    source: str
    """The condition as written."""

    names: frozenset[str]
    """Names used in the condition."""

    _expression: nodes.Expr

    def value(self, values: JsonObject) -> Json:
        """Return its value; only the values that it uses are looked up.

        Raises:
            ConditionError: it cannot be evaluated.
        """
        scope = Scope()
        scope.values = {name: values.get(name) for name in self.names}
        evaluation = _Evaluation(_environment(), Budget(_BOUNDS))
        try:
            return evaluation.json(self._expression, scope)
        except RecursionError as error:
            raise ConditionError("the expression is nested too deeply") from error
        except (*FAILURES, BoundExceededError) as error:
            where = _place(evaluation.failed_at or 0, self.source)
            raise ConditionError(f"{reason(error)}, {where}") from error

    def holds(self, values: JsonObject) -> bool:
        """Return whether its value is true.

        Raises:
            ConditionError: it cannot be evaluated.
        """
        return bool(self.value(values))


def compile_condition(source: str, names: Collection[str]) -> Condition:
    """Compile a condition on values by name; evaluating it can raise `ConditionError`, too.

    Args:
        source: The expression.
        names: The known names; a missing value is null.

    Raises:
        ConditionError: It is empty, too long or malformed.
    """
    if len(source) > _LONGEST:
        raise ConditionError(f"the expression is longer than {_LONGEST} characters")
    if not source.strip():
        raise ConditionError("the expression is empty")
    expression = _read(source)
    found = (expression, *expression.find_all((nodes.Name, nodes.Filter, nodes.Test)))
    for node in found:
        if refusal := _refusal(node, names):
            raise ConditionError(f"{refusal}, {_place(node.lineno, source)}")
    used = (node.name for node in found if isinstance(node, nodes.Name))
    return Condition(source, frozenset(used), expression)


def _read(source: str) -> nodes.Expr:
    program = read_program(f"{_BEGIN}{source}{_END}", _environment(), 0, _Parser)
    if program.error is not None:
        message = program.error.message.replace("token 'end of print statement'", "the end")
        message = message.replace("'end of print statement'", "end")
        raise ConditionError(f"{message}, {_place(program.error.span.start, source)}")
    match program.body:
        case [Interpolation(expression=expression)]:
            return expression
        case [PlainExpression(path=(name, *keys), offset=at)]:
            first: nodes.Expr = nodes.Name(name, "load", lineno=at)
            return reduce(lambda of, key: nodes.Getattr(of, key, "load", lineno=at), keys, first)
        case _:
            raise ConditionError("this is more than one expression")


def _refusal(node: nodes.Node, names: Collection[str]) -> str:
    """Return the error of a name in a condition; empty if it is valid."""
    match node:
        case nodes.Name(name=name) if name not in names and name != "null":
            near = nearest(name, names)
            meant = f"; did you mean {near!r}? Names" if near else "; names"
            return f"there is no {name!r}{meant} are {', '.join(names)}"
        case nodes.Filter(name=name) if name not in _environment().filters:
            return f"there is no filter {name!r}"
        case nodes.Test(name=name) if name not in _environment().tests:
            return f"there is no test {name!r}"
        case _:
            return ""


def _place(offset: int, source: str) -> str:
    at = max(0, offset - len(_BEGIN))
    rest = source[at:].strip()[:12]
    return f"at {rest!r}, character {at + 1}" if rest else "at its end"


class _Parser(ProgramParser):
    """Jinja's parser with infix tests: `args.path startswith "/"`."""

    def parse_filter_expr(self, node: nodes.Expr) -> nodes.Expr:
        """Parse what can follow a value."""
        node = super().parse_filter_expr(node)
        while self.stream.current.type == "name" and self.stream.current.value in _TESTS:
            token = next(self.stream)
            other = self.parse_unary()
            node = nodes.Test(node, token.value, [other], [], None, None, lineno=token.lineno)
        return node


class _Evaluation(Expressions):
    """The evaluation of one condition; all values are JSON."""

    failed_at: int | None = None
    """Offset of the part that failed."""

    def json(self, expression: nodes.Expr, scope: Scope) -> Json:
        """Return the value; other types than JSON's become text."""
        value = _known(self.value(expression, scope))
        if isinstance(value, str | int | float | None):
            return value
        if isinstance(value, Sequence | Mapping):
            plain: Json = json.loads(json.dumps(value, default=self._plain))
            return plain
        return self.text(value)

    def _plain(self, value: Value) -> Value:
        if isinstance(value, Mapping):
            return dict(value)
        return list(value) if isinstance(value, Sequence) else self.text(value)

    def value(self, node: nodes.Node, scope: Scope) -> Value:
        """Return the value of a part, and record the innermost part that fails."""
        try:
            return super().value(node, scope)
        except (*FAILURES, BoundExceededError):
            self.failed_at = node.lineno if self.failed_at is None else self.failed_at
            raise

    def attribute(self, target: Value, name: str) -> Value:
        """Return the value for a key of a mapping; a text is its own `text`."""
        if isinstance(target, str) and name == "text":
            return target
        return target.get(name) if isinstance(target, Mapping) else None

    def _compare(self, node: nodes.Compare, scope: Scope) -> bool:
        try:
            return super()._compare(node, scope)
        except TypeError:
            self.failed_at = None
            return False

    def _getitem(self, node: nodes.Getitem, scope: Scope) -> Value:
        return _known(super()._getitem(node, scope))

    def _call(self, node: nodes.Call, scope: Scope) -> Value:
        if isinstance(node.node, nodes.Getattr) and self.value(node.node.node, scope) is None:
            return None
        return super()._call(node, scope)


def _known(value: Value) -> Value:
    return None if isinstance(value, Undefined) else value


@cache
def _environment() -> PromptEnvironment:
    environment = PromptEnvironment()
    environment.tests |= _TESTS
    return environment


def _contains(one: Value, other: Value) -> bool:
    try:
        return other in one
    except TypeError:
        return False


def _matches(one: Value, other: Value) -> bool:
    """Return whether both are equal, with `*` as wildcard; regular expressions can be slow."""
    text, (first, *pieces) = str(one), str(other).split("*")
    if not pieces:
        return text == first
    if not text.startswith(first) or not text.endswith(pieces[-1]):
        return False
    at, end = len(first), len(text) - len(pieces[-1])
    for piece in pieces[:-1]:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end


_TESTS: Mapping[str, Callable[[Value, Value], bool]] = {
    "contains": _contains,
    "startswith": lambda one, other: isinstance(one, str) and one.startswith(str(other)),
    "endswith": lambda one, other: isinstance(one, str) and one.endswith(str(other)),
    "matches": _matches,
}
