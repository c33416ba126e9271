"""What runtimes make otherwise of an expression: a literal list of rules.

Sources: Prompty's draft of a Jinja Subset with its grammar, and the renderers of its
runtimes; Nunjucks 3.2.4. `make interop` asks Nunjucks and the subset's reference about every rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jinja2 import nodes

from studio.core.prompty.checks.portability.difference import (
    BOTH,
    CS,
    TS,
    RuntimeDifference,
    refuses,
    report,
)
from studio.core.prompty.checks.portability.found import Found
from studio.core.prompty.checks.portability.values import LOOP_FIELDS
from studio.core.prompty.templates.nunjucks import TESTS as NUNJUCKS_TESTS
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_MEMBERS: Mapping[str | None, frozenset[str]] = {
    "object": frozenset(dir(dict)),
    "array": frozenset(dir(list)),
    "string": frozenset(dir(str)),
    None: frozenset(dir(dict)),
}
"""Members that Python finds before a field of the same name, by the kind of the value."""

_REFUSED: Mapping[type[nodes.Node], str] = {
    nodes.Add: "arithmetic",
    nodes.Sub: "arithmetic",
    nodes.Mul: "arithmetic",
    nodes.Div: "arithmetic",
    nodes.FloorDiv: "arithmetic",
    nodes.Pow: "arithmetic",
    nodes.Pos: "arithmetic",
    nodes.CondExpr: "{{ … if … else … }}",
    nodes.List: "lists in a template",
    nodes.Dict: "mappings in a template",
}
"""Expressions that C# does not read, and the others do."""


def _refused(found: Found) -> Iterator[RuntimeDifference]:
    node = found.node
    what = _REFUSED.get(type(node))
    if what is not None:
        yield report("portable-expression", found.tag, CS, refuses(CS, what))
    match node:
        case nodes.Neg(node=nodes.Const()):
            pass  # the sign of a number
        case nodes.Neg():
            yield report("portable-expression", found.tag, CS, refuses(CS, "arithmetic"))
        case nodes.Mod():
            is_format = found.kind(node.left) == "string"
            where = BOTH if is_format else CS
            message = refuses(CS, "arithmetic")
            if is_format:
                message = f"TypeScript reads % as arithmetic, not as a format. {message}"
            yield report("portable-expression", found.tag, where, message)
        case nodes.Concat():
            parts = node.nodes
            otherwise = any(
                found.kind(part) in ("boolean", "null", "array", "object")
                or found.may_be_missing(part)
                for part in parts
            )
            message = refuses(CS, "~")
            if otherwise:
                message = f"TypeScript writes a value of ~ otherwise than Python. {message}"
            yield report("portable-expression", found.tag, BOTH if otherwise else CS, message)
        case nodes.Tuple(ctx="load"):
            yield report("portable-expression", found.tag, BOTH, refuses(BOTH, "tuples"))
        case nodes.Slice():
            yield report("portable-expression", found.tag, BOTH, refuses(BOTH, "slices"))
        case nodes.Call():
            yield report("portable-expression", found.tag, BOTH, refuses(BOTH, "calls"))
        case _:
            pass


def _compared(found: Found) -> Iterator[RuntimeDifference]:
    node = found.node
    if not isinstance(node, nodes.Compare):
        return
    if len(node.ops) > 1:
        message = "TypeScript compares two values and then the answer with the third. " + refuses(
            CS, "comparison of three values"
        )
        yield report("portable-expression", found.tag, BOTH, message)
        return
    left, operator, right = node.expr, node.ops[0].op, node.ops[0].expr
    if operator == "notin":
        message = refuses(CS, "{{ … not in … }}; write {{ not … in … }}")
        yield report("portable-expression", found.tag, CS, message)
    elif operator == "in" and found.may_be_missing(right):
        message = "Without a value TypeScript ends with an error here, where Python says no."
        yield report("portable-condition", found.tag, TS, message)
    elif operator in ("eq", "ne"):
        yield from _equal(found, left, right)
    elif operator in ("lt", "lteq", "gt", "gteq"):
        kinds = {found.kind(left), found.kind(right)}
        if found.may_be_missing(left) or found.may_be_missing(right):
            message = "Without a value Python ends with an error here; TypeScript and C# say no."
            yield report("portable-condition", found.tag, BOTH, message)
        elif "string" in kinds and kinds & {"integer", "float"}:
            message = "Python cannot compare a text with a number; TypeScript and C# say no."
            yield report("portable-condition", found.tag, BOTH, message)


def _equal(found: Found, left: nodes.Expr, right: nodes.Expr) -> Iterator[RuntimeDifference]:
    kinds = (found.kind(left), found.kind(right))
    for one, other in ((left, kinds[1]), (right, kinds[0])):
        if other == "null" and found.may_be_missing(one):
            message = "What nobody gave is not none in Python; in TypeScript and C# it is."
            yield report("portable-condition", found.tag, BOTH, message)
            return
    if set(kinds) in ({"string", "integer"}, {"string", "float"}):
        message = 'TypeScript takes a text for the number that it shows: 3 == "3".'
        yield report("portable-condition", found.tag, TS, message)
    elif kinds[0] in ("array", "object") and kinds[1] in ("array", "object"):
        message = "TypeScript never takes two lists or objects for equal."
        yield report("portable-condition", found.tag, TS, message)


def _tested(found: Found) -> Iterator[RuntimeDifference]:
    """An empty list holds in JavaScript."""
    node = found.node
    is_value = isinstance(node, nodes.Name | nodes.Getattr | nodes.Getitem)
    kind = found.kind(node)
    if found.role != "tested" or not is_value or kind not in ("array", "object"):
        return
    fixes: tuple[Fix, ...] = ()
    if isinstance(node, nodes.Name):
        at = found.word(node.name).end
        fixes = (Fix("Ask for its length", (TextEdit(Span(at, at), " | length"),)),)
    what = "list" if kind == "array" else "object"
    message = f"An empty {what} holds in TypeScript, and does not in Python and C#."
    yield report("portable-condition", found.tag, TS, message, *fixes)


def _printed(found: Found) -> Iterator[RuntimeDifference]:
    if found.role != "printed":
        return
    node = found.node
    kind = found.kind(node)
    if isinstance(node, nodes.And | nodes.Or | nodes.CondExpr):
        return  # told of the part whose value it is
    match kind:
        case "boolean":
            message = "Python writes True and False here, TypeScript and C# true and false."
        case "null":
            message = "Python writes None here, TypeScript and C# nothing."
        case "float" if isinstance(node, nodes.Div) or found.values.may_be_whole(node, found.bound):
            if isinstance(node, nodes.Const) and not float(node.value).is_integer():
                return
            message = "A number without a fraction is 1.0 in Python, 1 in TypeScript and C#."
        case "array":
            message = "Python writes a list as its code, TypeScript with commas, C# without."
        case "object":
            message = "Python writes an object as its code, TypeScript as [object Object]."
        case _:
            return
    where = TS if isinstance(node, nodes.List | nodes.Dict | nodes.Div) else BOTH
    yield report("portable-value", found.tag, where, message)


def _constants(found: Found) -> Iterator[RuntimeDifference]:
    """`True` and `False` are names without a value to the others."""
    node = found.node
    if not isinstance(node, nodes.Const) or not isinstance(node.value, bool):
        return
    word = str(node.value)
    if found.role != "printed" and found.written(word):
        place = found.word(word)
        fix = Fix(f"Write {word.lower()}", (TextEdit(place, word.lower()),))
        message = f"{word} is a name without a value in TypeScript and C#; {word.lower()} is not."
        yield report("portable-expression", place, BOTH, message, fix)


def _members(found: Found) -> Iterator[RuntimeDifference]:
    node = found.node
    if not isinstance(node, nodes.Getattr):
        return
    name, place = node.attr, found.word(node.attr)
    if isinstance(node.node, nodes.Name) and node.node.name == "loop" and "loop" in found.bound:
        if name not in LOOP_FIELDS:
            where = CS if name in ("revindex", "revindex0") else BOTH
            message = f"loop.{name} has no value in {' and '.join(sorted(where))}."
            yield report("portable-lookup", place, where, message)
        return
    kind = found.kind(node.node)
    members = _MEMBERS.get(kind)
    if members is not None and name in members and not name.startswith("_"):
        edit = TextEdit(Span(place.start - 1, place.end), f'["{name}"]')
        fix = Fix(f'Write ["{name}"]', (edit,))
        message = f"Python takes .{name} for a method of its own; TypeScript and C# for a field."
        yield report("portable-lookup", place, BOTH, message, fix)
    elif name == "length" and kind == "array":
        message = "Only TypeScript knows .length; the filter length is in all runtimes."
        yield report("portable-lookup", place, TS, message)
    elif found.may_be_missing(node.node):
        assert isinstance(node.node, nodes.Name)
        message = (
            f"Without a value for {node.node.name!r} Python ends with an error here; "
            "TypeScript and C# write nothing."
        )
        yield report("portable-lookup", place, BOTH, message)


def _items(found: Found) -> Iterator[RuntimeDifference]:
    node = found.node
    if not isinstance(node, nodes.Getitem):
        return
    kind = found.kind(node.node)
    is_negative = isinstance(node.arg, nodes.Neg)
    is_number = is_negative or (
        isinstance(node.arg, nodes.Const) and isinstance(node.arg.value, int)
    )
    if is_number and found.written("."):
        yield report("portable-lookup", found.tag, BOTH, refuses(BOTH, "{{ list.0 }}"))
    elif is_negative and kind != "object":
        message = "TypeScript counts no items from the end: it finds nothing here."
        yield report("portable-lookup", found.tag, TS, message)
    elif is_number and kind == "string":
        message = "TypeScript finds no single character of a text: it writes nothing here."
        yield report("portable-lookup", found.tag, TS, message)


def _asked(found: Found) -> Iterator[RuntimeDifference]:
    node = found.node
    if not isinstance(node, nodes.Test):
        return
    # Without parentheses around an argument Nunjucks stops reading.
    is_known = node.name in NUNJUCKS_TESTS | {"none"}
    is_bare = bool(node.args) and not found.source.startswith("(", _behind(found, node.name))
    where = CS if is_known and not is_bare else BOTH
    what = f"test {node.name!r} written so" if is_known and is_bare else f"test {node.name!r}"
    message = refuses(where, what)
    yield report("portable-expression", found.word(node.name), where, message)


def _behind(found: Found, name: str) -> int:
    return found.source.find(name, found.node.lineno) + len(name)


RULES: tuple[Callable[[Found], Iterator[RuntimeDifference]], ...] = (
    _refused,
    _compared,
    _tested,
    _printed,
    _constants,
    _members,
    _items,
    _asked,
)
"""What is looked at in each expression; filters are looked at in a module of their own."""
