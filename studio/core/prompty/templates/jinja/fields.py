"""Which fields of its values a Jinja template reads, followed through loops and assignments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from jinja2 import nodes

from studio.core.prompty.document import EACH, MOST_PARTS, FieldUse
from studio.core.prompty.templates.jinja.program import Program
from studio.core.prompty.templates.jinja.statements import PlainExpression
from studio.core.text.span import Span

DataPath: TypeAlias = tuple[str, ...]
"""A root name and the fields below it; `EACH` for each item of a list."""
Bound: TypeAlias = dict[str, "DataPath | None"]
"""Names that the template binds itself, and what they stand for; None where nobody can say."""

_SAME_ITEMS = frozenset(
    ("sort", "list", "reverse", "unique", "select", "reject", "selectattr", "rejectattr")
)
"""Filters that give the items of a list as they are."""
_ONE_ITEM = frozenset(("first", "last", "random", "min", "max"))
_DEFAULTS = frozenset(("default", "d"))
_WITHOUT_VALUE = frozenset(("defined", "undefined", "none"))


def path_of(node: nodes.Node | None, bound: Bound, parts: int = MOST_PARTS) -> DataPath | None:
    """Return the path of the field that an expression reads.

    None where it reads no field of a value, or one with more than `parts` parts.
    """
    if parts == 0:
        return None
    match node:
        case nodes.Name():
            return bound.get(node.name, (node.name,))
        case nodes.Getattr():
            return _below(path_of(node.node, bound, parts - 1), node.attr)
        case nodes.Getitem(arg=nodes.Const(value=str(key))):
            return _below(path_of(node.node, bound, parts - 1), key)
        case nodes.Getitem(arg=nodes.Const(value=int())):
            return _below(path_of(node.node, bound, parts - 1), EACH)
        case nodes.Getitem(arg=nodes.Slice()):
            return path_of(node.node, bound, parts - 1)
        case nodes.Filter() if node.name in _SAME_ITEMS | _DEFAULTS:
            return path_of(node.node, bound, parts - 1)
        case nodes.Filter() if node.name in _ONE_ITEM:
            return _below(path_of(node.node, bound, parts - 1), EACH)
        case _:
            return None


def _below(path: DataPath | None, name: str) -> DataPath | None:
    return (*path, name) if path is not None else None


class FieldReader:
    """Collects the fields that expressions read."""

    def __init__(self, program: Program, source: str) -> None:
        self._program = program
        self._source = source
        self.uses: list[FieldUse] = []
        self._guards: list[frozenset[DataPath]] = []

    def guard(self, condition: nodes.Node, bound: Bound) -> None:
        """Until `leave`, what a condition asks about is known to be there, or not."""
        asked = (path_of(node, bound) for node in _within(condition))
        self._guards.append(frozenset(path for path in asked if path is not None))

    def leave(self, count: int) -> None:
        """Leave the newest conditions."""
        del self._guards[len(self._guards) - count :]

    def read_plain(self, item: PlainExpression, bound: Bound) -> None:
        """Take the fields of a `{{ dotted.name }}`."""
        root = item.path[0]
        path = bound.get(root, (root,))
        at = item.offset - self._program.base + len(root)
        for name in item.path[1:MOST_PARTS]:
            start = self._source.find(name, at)
            at = start + len(name)
            path = _below(path, name)
            if path is not None and start >= 0:
                self._take(path, Span(start, at), item.span, is_guarded=False)

    def read(self, node: nodes.Node, bound: Bound, *, is_guarded: bool) -> None:
        """Take the fields of any other expression.

        Args:
            node: the expression.
            bound: names that the template binds.
            is_guarded: whether it is a condition.
        """
        if isinstance(node, nodes.Name | nodes.Const):
            return
        open_ = [(node, is_guarded)]
        while open_:
            found, guarded = open_.pop()
            if isinstance(found, nodes.Call) and isinstance(found.node, nodes.Getattr):
                open_.append((found.node.node, guarded))  # a method is no field
                open_ += [(each, guarded) for each in (*found.args, *found.kwargs)]
                continue
            if isinstance(found, nodes.Getattr):
                self._take_node(found, found.attr, bound, is_guarded=guarded)
            elif isinstance(found, nodes.Getitem):
                key = found.arg.value if isinstance(found.arg, nodes.Const) else None
                if isinstance(key, str):
                    self._take_node(found, key, bound, is_guarded=guarded)
            is_safe = (isinstance(found, nodes.Filter) and found.name in _DEFAULTS) or (
                isinstance(found, nodes.Test) and found.name in _WITHOUT_VALUE
            )
            inner = guarded or is_safe or isinstance(found, nodes.Or | nodes.CondExpr)
            open_ += [(each, inner) for each in found.iter_child_nodes()]

    def _take_node(
        self, node: nodes.Getattr | nodes.Getitem, name: str, bound: Bound, *, is_guarded: bool
    ) -> None:
        path = path_of(node, bound)
        start = self._source.find(name, node.lineno)
        if path is None or start < 0:
            return
        tag = self._program.tag_at(node.lineno)
        self._take(path, Span(start, start + len(name)), tag, is_guarded=is_guarded)

    def _take(self, path: DataPath, place: Span, tag: Span, *, is_guarded: bool) -> None:
        guarded = is_guarded or any(path in each for each in self._guards)
        self.uses.append(FieldUse(path, place.shift(self._program.base), tag, guarded))


def _within(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    yield from node.find_all(nodes.Expr)
