"""What is known of the value of an expression: its kind, and whether it may be missing."""

from __future__ import annotations

from collections.abc import Mapping

from jinja2 import nodes

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.inputs import RESERVED_SAMPLES
from studio.core.prompty.known_fields import Known, known_at
from studio.core.prompty.templates.jinja.fields import Bound, path_of
from studio.core.prompty.templates.jinja.sandbox import environment

TEXT_FILTERS = frozenset(("upper", "lower", "trim", "join", "replace"))
"""Filters of every runtime that give a text."""

LOOP_FIELDS: Mapping[str, str] = {
    "index": "integer", "index0": "integer", "length": "integer",
    "first": "boolean", "last": "boolean",
}  # fmt: skip
"""What every runtime knows of `loop`."""

_KINDS = frozenset(("string", "integer", "float", "boolean", "array", "object"))


class Values:
    """Answers for the expressions of one document."""

    def __init__(self, document: PromptDocument) -> None:
        self._document = document

    def kind(self, node: nodes.Node, bound: Bound) -> str | None:
        """The kind of an expression's value, `null` for nothing; None where nobody can say."""
        match node:
            case nodes.Const(value=value):
                return "null" if value is None else kind_of_value(value)
            case nodes.Compare() | nodes.Not() | nodes.Test():
                return "boolean"
            case nodes.And() | nodes.Or() | nodes.Add():
                left, right = self.kind(node.left, bound), self.kind(node.right, bound)
                return left if left == right else None
            case nodes.List() | nodes.Tuple():
                return "array"
            case nodes.Dict():
                return "object"
            case nodes.Concat():
                return "string"
            case nodes.Div():
                return "float"
            case nodes.Filter(name=name):
                return self._of_filter(name, node, bound)
            case nodes.Getattr(node=nodes.Name(name="loop"), attr=name) if "loop" in bound:
                return LOOP_FIELDS.get(name)
            case _:
                return self._known_kind(node, bound)

    def _of_filter(self, name: str, node: nodes.Filter, bound: Bound) -> str | None:
        if name == "length":
            return "integer"
        if name in TEXT_FILTERS:
            return "string"
        if node.node is None:
            return None
        kind = self.kind(node.node, bound)
        if name == "default" and node.args:
            return kind if kind == self.kind(node.args[0], bound) else None
        if name in ("list", "sort"):
            return "array"
        return kind if name == "string" else None

    def _known_kind(self, node: nodes.Node, bound: Bound) -> str | None:
        known = self._known(node, bound)
        if known is None:
            return None
        if known.values and all(value is None for value in known.values):
            return "null"
        kinds = {each.kind for each in known.declared}
        kinds = kinds or {kind_of_value(value) for value in known.values if value is not None}
        return kinds.pop() if len(kinds) == 1 and kinds <= _KINDS else None

    def _known(self, node: nodes.Node, bound: Bound) -> Known | None:
        path = path_of(node, bound)
        return known_at(self._document, path) if path else None

    def may_be_whole(self, node: nodes.Node, bound: Bound) -> bool:
        """Whether a float may have no fraction: `1.0`."""
        known = self._known(node, bound)
        numbers = [each for each in known.values if isinstance(each, float)] if known else []
        return not numbers or any(each.is_integer() for each in numbers)

    def may_be_null(self, node: nodes.Node, bound: Bound) -> bool:
        """Whether null is declared to be a value."""
        known = self._known(node, bound) if isinstance(node, nodes.Name) else None
        return known is not None and any(each.nullable for each in known.declared)

    def may_be_missing(self, node: nodes.Node, bound: Bound) -> bool:
        """Whether a run need not give it: an input without a default, or one of no declaration."""
        if not isinstance(node, nodes.Name) or node.name in bound:
            return False
        declared = self._document.input(node.name)
        if declared is not None:
            return not declared.required and not declared.has_default
        is_known = node.name in RESERVED_SAMPLES or node.name in environment().globals
        return not is_known and not isinstance(self._document.data.get("inputs"), str)
