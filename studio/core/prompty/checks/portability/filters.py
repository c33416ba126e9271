"""What runtimes make otherwise of a filter."""

from __future__ import annotations

from collections.abc import Iterator

from jinja2 import nodes

from studio.core.prompty.checks.portability.difference import (
    BOTH,
    CS,
    TS,
    Runtime,
    RuntimeDifference,
    refuses,
    report,
)
from studio.core.prompty.checks.portability.found import Found
from studio.core.prompty.templates.nunjucks import FILTERS as NUNJUCKS_FILTERS

_SUBSET = frozenset(("default", "join", "length", "lower", "replace", "trim", "upper"))
"""All filters of C# (Prompty's Jinja Subset, grammar §5.4)."""

_OTHERWISE = frozenset(
    ("batch", "dictsort", "float", "groupby", "random", "slice", "truncate", "urlize")
)
"""Filters that Nunjucks has and works out, or writes, otherwise."""

_TEXT_ONLY = frozenset(("capitalize", "lower", "title", "trim", "upper"))
"""Filters that Nunjucks has for texts alone: a number ends it."""

_MOST_ARGUMENTS = {"default": 1, "join": 1, "replace": 2, "trim": 0}
"""Arguments that C# reads; it passes over the others."""


def check_filter(found: Found) -> Iterator[RuntimeDifference]:
    """The differences at one filter."""
    node = found.node
    if not isinstance(node, nodes.Filter) or node.node is None:
        return
    place = found.word(node.name)
    told = _unknown(found, node) or _arguments(node) or _of_its_value(found, node)
    if told is not None:
        where, message = told
        yield report("portable-filter", place, where, message)


_Told = tuple[frozenset[Runtime], str] | None


def _unknown(found: Found, node: nodes.Filter) -> _Told:
    name = node.name
    if name in _SUBSET:
        return None
    if name not in NUNJUCKS_FILTERS:
        return BOTH, refuses(BOTH, f"filter {name!r}")
    kinds = {found.kind(node.node)}
    if name in _OTHERWISE or (name == "round" and not node.args):
        how = f"TypeScript gives something else for {name!r}."
    elif name in _TEXT_ONLY and kinds & {"integer", "float", "boolean"}:
        how = f"TypeScript takes only a text for {name!r}."
    elif node.kwargs and name != "sort":
        how = "TypeScript does not read named arguments."
    elif name in ("select", "reject", "selectattr", "rejectattr") and len(node.args) > 1:
        how = f"TypeScript reads one argument of {name!r}."
    else:
        return CS, refuses(CS, f"filter {name!r}")
    return BOTH, f"{how} {refuses(CS, f'filter {name!r}')}"


def _arguments(node: nodes.Filter) -> _Told:
    name = node.name
    if node.kwargs:
        where = CS if name == "default" else BOTH
        how = refuses(CS, "named arguments")
        return where, how if where == CS else f"TypeScript does not read them by name. {how}"
    if len(node.args) > _MOST_ARGUMENTS.get(name, 0):
        last = node.args[-1]
        if isinstance(last, nodes.Const) and last.value is False:
            return None
        if name == "trim":
            return BOTH, "TypeScript and C# trim white space alone."
        return CS, f"C# passes over the last argument of {name!r}."
    return None


def _of_its_value(found: Found, node: nodes.Filter) -> _Told:
    name, kind = node.name, found.kind(node.node)
    if found.may_be_missing(node.node) and name in ("join", "trim"):
        return TS, f"Without a value TypeScript ends with an error at {name!r}."
    if name in _TEXT_ONLY and kind in ("integer", "float", "boolean"):
        how = f"TypeScript takes only a text for {name!r} and ends with an error"
        if name == "trim" and kind != "integer":
            return BOTH, f"{how}; C# writes the value otherwise than Python."
        return TS, f"{how}."
    if name == "length" and kind in ("integer", "float", "boolean"):
        return BOTH, "A number has no length in Python, which ends with an error."
    if name == "join" and kind in ("integer", "float", "boolean"):
        return CS, "C# joins nothing here; Python and TypeScript end with an error."
    if name == "join" and kind in ("object", "string"):
        return BOTH, "TypeScript joins lists alone and ends with an error; C# gives nothing."
    if name == "default" and node.node is not None:
        if found.values.may_be_null(node.node, found.bound):
            message = "For null C# takes the default; Python writes None, TypeScript nothing."
            return BOTH, message
        if node.args and found.kind(node.args[0]) == "null":
            return BOTH, "Python writes None here, TypeScript and C# nothing."
    return None
