"""Names and their values while a template runs, each with the input that it came from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from jinja2 import nodes

# The type of what a template computes with.

Value: TypeAlias = Any
"""Inputs are JSON, but filters and methods make anything: iterators, ranges, Jinja's objects."""


_MISSING = object()


class Scope:
    """One level of names; an inner scope reads the outer ones and writes only itself."""

    __slots__ = ("key_of", "outer", "sources", "values")

    def __init__(self, outer: Scope | None = None) -> None:
        self.outer = outer
        self.values: dict[str, Value] = {}
        self.sources: dict[str, str] = {}
        self.key_of: tuple[str, str] = ("", "")
        """The name that a loop gives to keys of an object, and that object as it is written."""

    def set(self, name: str, value: Value, source: str | None = None) -> None:
        """Give a name a value that came from the input `source`, if from any."""
        self.values[name] = value
        if source is not None:
            self.sources[name] = source
        else:
            self.sources.pop(name, None)

    def get(self, name: str, default: Value) -> Value:
        """The value of a name."""
        scope: Scope | None = self
        while scope is not None:
            value = scope.values.get(name, _MISSING)
            if value is not _MISSING:
                return value
            scope = scope.outer
        return default

    def source(self, name: str) -> str | None:
        """The input that a name's value came from."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope.sources.get(name)
            scope = scope.outer
        return None

    def mapping_of(self, name: str) -> str:
        """Return the object that a name's value is a key of; empty where it is none."""
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.outer
        return scope.key_of[1] if scope is not None and scope.key_of[0] == name else ""

    def source_of(self, expression: nodes.Node | None) -> str | None:
        """The first input whose value goes into an expression."""
        if expression is None:
            return None
        sources = (self.source(name.name) for name in names_in(expression))
        return next((source for source in sources if source is not None), None)


def names_in(expression: nodes.Node) -> Iterable[nodes.Name]:
    """The names an expression reads, those that can become output before those only asked about."""
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
    """The outermost scope: every input is its own source."""
    scope = Scope()
    for name, value in inputs:
        scope.set(name, value, name)
    return scope
