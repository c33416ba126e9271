"""Evaluate Jinja expressions within limits."""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jinja2 import Undefined, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import LoopContext
from jinja2.utils import Cycler, Joiner

from studio.core.prompty.templates.jinja.failures import no_field
from studio.core.prompty.templates.jinja.sandbox import (
    PromptEnvironment,
    Scope,
    Value,
    bounded_items,
    guard_method,
    guard_operator,
)
from studio.core.prompty.templates.writer import Budget, UnreadText, plain_text

_BINARY: dict[type[nodes.Node], tuple[str, Callable[[Value, Value], Value]]] = {
    nodes.Add: ("+", operator.add),
    nodes.Sub: ("-", operator.sub),
    nodes.Mul: ("*", operator.mul),
    nodes.Div: ("/", operator.truediv),
    nodes.FloorDiv: ("//", operator.floordiv),
    nodes.Mod: ("%", operator.mod),
    nodes.Pow: ("**", operator.pow),
}
_WITH_METHODS = (str, bytes, int, float, list, tuple, dict, range, Cycler, LoopContext)
_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "gt": operator.gt,
    "gteq": operator.ge,
    "lt": operator.lt,
    "lteq": operator.le,
    "in": lambda left, right: left in right,
    "notin": lambda left, right: left not in right,
}


class UnknownNameError(Exception):
    """Raised for an unknown filter or test, which reading the template has reported already."""


class Namespace:
    """The result of `namespace()`: the only object that a loop can change outside itself."""

    def __init__(self, *given: Mapping[str, Value], **values: Value) -> None:
        self._values: dict[str, Value] = dict(*given, **values)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def assign_attribute(self, name: str, value: Value) -> None:
        """Set an attribute (`{% set ns.name = value %}`)."""
        self._values[name] = value

    def __str__(self) -> str:
        return "<namespace>"


@dataclass(frozen=True, slots=True)
class MacroArguments:
    """The arguments of a macro call."""

    values: list[Value]
    """Positional values."""

    named: dict[str, Value]
    """Values by name."""

    sources: list[str | None]
    """Inputs that the positional values come from."""

    named_sources: dict[str, str | None]
    """Inputs that the named values come from."""


@dataclass(frozen=True, slots=True, eq=False)
class Macro:
    """A `{% macro %}` or the body of a `{% call %}`, ready to call."""

    name: str
    """Name in the template."""

    run: Callable[[MacroArguments], str]
    """Function that renders its body."""


class Expressions:
    """An evaluator of expression nodes, without statements."""

    def __init__(self, environment: PromptEnvironment, budget: Budget) -> None:
        self._environment = environment
        self._budget = budget
        self._context = environment.context(budget)
        self._globals: dict[str, Value] = {**environment.globals, "namespace": Namespace}
        self._callable = frozenset(map(id, self._globals.values()))
        self._by_type: dict[type[nodes.Node], Callable[[Value, Scope], Value]] = {
            nodes.Const: lambda node, scope: node.value,
            nodes.TemplateData: lambda node, scope: node.data,
            nodes.Name: lambda node, scope: self.name(node.name, scope),
            nodes.Getattr: self._getattr,
            nodes.Getitem: self._getitem,
            nodes.Filter: self._filter,
            nodes.Test: self._test,
            nodes.Call: self._call,
            nodes.Compare: self._compare,
            nodes.Concat: self._concat,
            nodes.CondExpr: self._conditional,
            nodes.And: lambda node, scope: (
                self.value(node.left, scope) and self.value(node.right, scope)
            ),
            nodes.Or: lambda node, scope: (
                self.value(node.left, scope) or self.value(node.right, scope)
            ),
            nodes.Not: lambda node, scope: not self.value(node.node, scope),
            nodes.Neg: lambda node, scope: -self.value(node.node, scope),
            nodes.Pos: lambda node, scope: +self.value(node.node, scope),
            nodes.Tuple: lambda node, scope: self._made(
                tuple(self.value(item, scope) for item in node.items)
            ),
            nodes.List: lambda node, scope: self._made(
                [self.value(item, scope) for item in node.items]
            ),
            nodes.Dict: lambda node, scope: self._made(
                {self.value(pair.key, scope): self.value(pair.value, scope) for pair in node.items}
            ),
            nodes.Slice: lambda node, scope: slice(
                *(
                    None if part is None else self.value(part, scope)
                    for part in (node.start, node.stop, node.step)
                )
            ),
        }
        for kind in _BINARY:
            self._by_type[kind] = self._binary

    def value(self, node: nodes.Node, scope: Scope) -> Value:
        """Return the value of an expression.

        Raises:
            TemplateRuntimeError: an error of Jinja or its sandbox; other exceptions are possible.
            BoundExceededError: the value is too large.
        """
        evaluate = self._by_type.get(type(node))
        if evaluate is None:
            raise TemplateRuntimeError(f"{type(node).__name__} is not an expression")
        return evaluate(node, scope)

    def name(self, name: str, scope: Scope) -> Value:
        """Return the value of a variable; undefined if it is missing."""
        value = scope.get(name, self)
        if value is not self:
            return value
        if name in self._globals:
            return self._globals[name]
        return self._environment.undefined(name=name)

    def path(self, path: tuple[str, ...], scope: Scope) -> Value:
        """Return the value of a dotted name."""
        value = self.name(path[0], scope)
        for part in path[1:]:
            value = self.attribute(value, part)
        return value

    def attribute(self, target: Value, name: str) -> Value:
        """Return `target.name`; keys of a mapping take precedence over Python's methods.

        Jinja looks for the method first, so `{{ order.items }}` prints a method there.
        """
        if isinstance(target, UnreadText):
            return target
        if isinstance(target, dict) and name in target:
            return target[name]
        return self._environment.getattr(target, name)

    def text(self, value: Value) -> str:
        """Return a value's text for the prompt.

        Raises:
            TypeError: it is a function or something else without a text.
            ValueError: it contains a lone surrogate.
        """
        if isinstance(value, str) or value is None:
            return _encodable(plain_text(value))
        if isinstance(value, Undefined):
            return ""
        if isinstance(value, list | tuple | dict | set):
            self._budget.expect_text(value)
        elif isinstance(getattr(value, "__self__", None), str | list | tuple | dict):
            raise TypeError(no_field(type(value.__self__).__name__, value.__name__))
        elif isinstance(value, Macro) or (callable(value) and not isinstance(value, Joiner)):
            raise TypeError("this is a function: call it with parentheses, or give it a value")
        elif hasattr(value, "__next__") or hasattr(value, "mapping"):
            value = self._made(bounded_items(value, self._budget))
            self._budget.expect_text(value)
        text = _encodable(plain_text(value))
        self._budget.charge(text)
        return text

    def call_filter(self, node: nodes.Filter, value: Value, scope: Scope) -> Value:
        """Apply a filter to a known value."""
        if node.name not in self._environment.filters:
            raise UnknownNameError(node.name)
        args, kwargs = self._arguments(node, scope)
        return self._environment.call_filter(node.name, value, args, kwargs, context=self._context)

    def _made(self, value: Value) -> Value:
        self._budget.charge(value)
        return value

    def _getattr(self, node: nodes.Getattr, scope: Scope) -> Value:
        return self.attribute(self.value(node.node, scope), node.attr)

    def _getitem(self, node: nodes.Getitem, scope: Scope) -> Value:
        target = self.value(node.node, scope)
        if isinstance(target, UnreadText):
            return target
        if isinstance(node.arg, nodes.Slice):
            return self._made(target[self.value(node.arg, scope)])
        return self._environment.getitem(target, self.value(node.arg, scope))

    def _filter(self, node: nodes.Filter, scope: Scope) -> Value:
        value = None if node.node is None else self.value(node.node, scope)
        return self.call_filter(node, value, scope)

    def _test(self, node: nodes.Test, scope: Scope) -> Value:
        if node.name not in self._environment.tests:
            raise UnknownNameError(node.name)
        args, kwargs = self._arguments(node, scope)
        return self._environment.call_test(
            node.name, self.value(node.node, scope), args, kwargs, context=self._context
        )

    def _arguments(self, node: Value, scope: Scope) -> tuple[list[Value], dict[str, Value]]:
        args = [self.value(item, scope) for item in node.args]
        kwargs = {item.key: self.value(item.value, scope) for item in node.kwargs}
        if node.dyn_args is not None:
            args += bounded_items(self.value(node.dyn_args, scope), self._budget)
        if node.dyn_kwargs is not None:
            kwargs.update(self.value(node.dyn_kwargs, scope))
        return args, kwargs

    def _call(self, node: nodes.Call, scope: Scope) -> Value:
        if isinstance(node.node, nodes.Getattr):
            target = self.value(node.node.node, scope)
            called = self._environment.getattr(target, node.node.attr)
            if not isinstance(target, Undefined) and not isinstance(called, Undefined):
                return self._call_method(target, called, node, scope)
        else:
            called = self.value(node.node, scope)
        if isinstance(called, Macro):
            return self.call_macro(called, node, scope)
        args, kwargs = self._arguments(node, scope)
        known = id(called) in self._callable or isinstance(called, Joiner | LoopContext)
        if isinstance(called, Undefined) or known:
            return self._made(called(*args, **kwargs))
        raise TypeError(f"{plain_text(called)[:40]!r} is not a function")

    def _call_method(self, target: Value, called: Value, node: nodes.Call, scope: Scope) -> Value:
        if isinstance(called, Macro):
            return self.call_macro(called, node, scope)
        args, kwargs = self._arguments(node, scope)
        name = node.node.attr  # type: ignore[attr-defined]
        if not isinstance(target, _WITH_METHODS) or not callable(called):
            raise TypeError(f"{name!r} is not a function")
        guard_method(target, name, (*args, *kwargs.values()), self._budget)
        return self._made(called(*args, **kwargs))

    def call_macro(
        self, macro: Macro, node: nodes.Call, scope: Scope, caller: Macro | None = None
    ) -> str:
        """Call a macro; its parameters keep the inputs that their values come from."""
        args, kwargs = self._arguments(node, scope)
        if caller is not None:
            kwargs["caller"] = caller
        sources = [scope.source_of(item) for item in node.args]
        named = {item.key: scope.source_of(item.value) for item in node.kwargs}
        return macro.run(MacroArguments(args, kwargs, sources, named))

    def _compare(self, node: nodes.Compare, scope: Scope) -> bool:
        left = self.value(node.expr, scope)
        result = True
        for operand in node.ops:
            right = self.value(operand.expr, scope)
            result = _COMPARE[operand.op](left, right)
            if not result:
                return result
            left = right
        return result

    def _concat(self, node: nodes.Concat, scope: Scope) -> str:
        texts = [self.text(self.value(item, scope)) for item in node.nodes]
        self._budget.expect(sum(map(len, texts)))
        return str(self._made("".join(texts)))

    def _conditional(self, node: nodes.CondExpr, scope: Scope) -> Value:
        if self.value(node.test, scope):
            return self.value(node.expr1, scope)
        if node.expr2 is None:
            return self._environment.undefined("this condition is false and has no 'else'")
        return self.value(node.expr2, scope)

    def _binary(self, node: nodes.BinExpr, scope: Scope) -> Value:
        symbol, compute = _BINARY[type(node)]
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        guard_operator(symbol, left, right, self._budget)
        return self._made(compute(left, right))


def _encodable(text: str) -> str:
    """Return a text; raise an error for a lone surrogate, which no request can contain."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            half = f"\\u{ord(text[error.start]):04x}"
            raise ValueError(f"{half} is half of a character; write both halves") from None
    return text
