"""The inputs that a Jinja template uses, and its unknown filters and tests.

Also the fields of their values that it uses, followed through loops and assignments.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from jinja2 import TemplateSyntaxError, nodes

from studio.core.prompty.document import EACH, LOOP, MOST_PARTS, FieldUse, Variable
from studio.core.prompty.templates.jinja.program import Program, ProgramParser
from studio.core.prompty.templates.jinja.sandbox import environment, names_in
from studio.core.prompty.templates.jinja.tokens import (
    Interpolation,
    JinjaTokens,
    Literal,
    PlainExpression,
)
from studio.core.prompty.templates.writer import UNKNOWN_FILTER, UNKNOWN_TEST, unknown_name_problem
from studio.core.text.source import Problem, Span

DataPath: TypeAlias = tuple[str, ...]
"""A root name and the fields below it; `EACH` for each item of a list."""
Bound: TypeAlias = dict[str, "DataPath | None"]
"""Names that the template binds, with their paths; None if a path is unknown."""

_SAME_ITEMS = frozenset(
    ("sort", "list", "reverse", "unique", "select", "reject", "selectattr", "rejectattr")
)
"""Filters that return the items of a list unchanged."""
_ONE_ITEM = frozenset(("first", "last", "random", "min", "max"))
_DEFAULTS = frozenset(("default", "d"))
_WITHOUT_VALUE = frozenset(("defined", "undefined", "none"))


def path_of(node: nodes.Node | None, bound: Bound, parts: int = MOST_PARTS) -> DataPath | None:
    """Return the path of the field that an expression reads.

    None if it reads no field of a value, or the path has more than `parts` parts.
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
    """A collector of the fields that expressions read."""

    def __init__(self, program: Program, source: str) -> None:
        self._program = program
        self._source = source
        self.uses: list[FieldUse] = []
        self._guards: list[frozenset[DataPath]] = []

    def guard(self, condition: nodes.Node, bound: Bound) -> None:
        """Record, until `leave`, the fields that a condition tests: they may be missing."""
        asked = (path_of(node, bound) for node in _within(condition))
        self._guards.append(frozenset(path for path in asked if path is not None))

    def leave(self, count: int) -> None:
        """Remove the newest conditions."""
        del self._guards[len(self._guards) - count :]

    def read_plain(self, item: PlainExpression, bound: Bound) -> None:
        """Add the fields of a `{{ dotted.name }}`."""
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
        """Add the fields of any other expression.

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
                open_.append((found.node.node, guarded))  # a method is not a field
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


_OF_A_MACRO = frozenset(("varargs", "kwargs", "caller"))

_LONGEST = 200_000
"""Maximum number of code points before the place that are read."""


def names_read(body: Sequence[Any]) -> frozenset[str]:
    """Return every name in statements, wherever it is bound."""
    found: set[str] = set()
    open_: list[Any] = list(body)
    while open_:
        item = open_.pop()
        if isinstance(item, PlainExpression):
            found.add(item.path[0])
        elif isinstance(item, Interpolation):
            open_.append(item.expression)
        elif isinstance(item, nodes.Name):
            found.add(item.name)
        elif isinstance(item, nodes.Node):
            for _, value in item.iter_fields():
                open_ += value if isinstance(value, list) else [value]
    return frozenset(found)


def inspect(
    program: Program, source: str
) -> tuple[tuple[Variable, ...], tuple[FieldUse, ...], tuple[Problem, ...]]:
    """List the variables and fields that a template uses and does not define itself.

    Returns:
        Variables, fields and unknown names, each in source order.
    """
    inspector = TemplateReader(program, source)
    inspector.body(program.body, dict.fromkeys((*environment().globals, "namespace", "self")))
    inspector.variables.sort(key=lambda variable: variable.span.start)
    inspector.problems.sort(key=lambda problem: problem.span.start)
    fields = {use.span: use for use in inspector.fields.uses}
    found = tuple(fields[span] for span in sorted(fields))
    return tuple(inspector.variables), found, tuple(inspector.problems)


class TemplateReader:
    """A walk through statements with the names that are bound at each."""

    def __init__(self, program: Program, source: str) -> None:
        self._program = program
        self._source = source
        self.variables: list[Variable] = []
        self.fields = FieldReader(program, source)
        self.problems: list[Problem] = []

    def body(self, body: Sequence[Any], bound: Bound) -> None:
        """Read statements; `bound` receives the names that they bind."""
        for item in body:
            if isinstance(item, Literal):
                continue
            if isinstance(item, PlainExpression):
                self._use(item.path[0], item.offset, item.span, bound)
                self.fields.read_plain(item, bound)
            elif isinstance(item, Interpolation):
                self._expression(item.expression, bound)
            else:
                self._statement(item, bound)

    def _use(self, name: str, offset: int, tag: Span, bound: Bound) -> None:
        if name not in bound:
            self.variables.append(Variable(name, Span(offset, offset + len(name)), tag))

    def _expression(self, node: nodes.Node | None, bound: Bound, *, is_test: bool = False) -> None:
        if node is None:
            return
        self.fields.read(node, bound, is_guarded=is_test)
        for name in names_in(node):
            tag = self._program.tag_at(name.lineno)
            self._use(name.name, name.lineno + self._program.base, tag, bound)
        for found in _filters_and_tests(node):
            self._check(found)

    def _check(self, node: nodes.Filter | nodes.Test) -> None:
        is_filter = isinstance(node, nodes.Filter)
        known = environment().filters if is_filter else environment().tests
        if node.name in known:
            return
        start = self._source.find(node.name, node.lineno)
        if start < 0:
            start = node.lineno
        at = Span(start, start + len(node.name)).shift(self._program.base)
        code, what = (UNKNOWN_FILTER, "filter") if is_filter else (UNKNOWN_TEST, "test")
        names = [name for name in known if name.isidentifier()]
        self.problems.append(unknown_name_problem(code, what, node.name, names, at))

    def _statement(self, node: nodes.Node, bound: Bound) -> None:
        match node:
            case nodes.If():
                for branch in (node, *node.elif_):
                    self._expression(branch.test, bound, is_test=True)
                    self.fields.guard(branch.test, bound)
                    self.body(branch.body, bound)
                self.body(node.else_, bound)
                self.fields.leave(len(node.elif_) + 1)
            case nodes.For():
                self._expression(node.iter, bound)
                inner = bound | _each(node, bound) | {"loop": (LOOP,)}
                self._expression(node.test, inner, is_test=True)
                self.body(node.body, inner)
                self.body(node.else_, dict(bound))
            case nodes.Assign():
                self._expression(node.node, bound)
                bound |= _named(node.target, path_of(node.node, bound))
            case nodes.AssignBlock():
                self._expression(node.filter, bound)
                self.body(node.body, dict(bound))
                bound |= _named(node.target, None)
            case nodes.With():
                for value in node.values:
                    self._expression(value, bound)
                inner = dict(bound)
                for target, value in zip(node.targets, node.values, strict=True):
                    inner |= _named(target, path_of(value, bound))
                self.body(node.body, inner)
            case nodes.Macro() | nodes.CallBlock():
                self._macro(node, bound)
            case _:
                self._other(node, bound)

    def _macro(self, node: nodes.Macro | nodes.CallBlock, bound: Bound) -> None:
        if isinstance(node, nodes.Macro):
            bound[node.name] = None
        else:
            self._expression(node.call, bound)
        own = (*_OF_A_MACRO, *(parameter.name for parameter in node.args))
        inner = bound | dict.fromkeys(own)
        for default in node.defaults:
            self._expression(default, inner)
        self.body(node.body, inner)

    def _other(self, node: nodes.Node, bound: Bound) -> None:
        for name, value in node.iter_fields():
            if name == "body":
                self.body(value, dict(bound))
            elif isinstance(value, nodes.Expr):
                self._expression(value, bound)
            elif isinstance(value, list):
                for item in value:
                    if isinstance(item, nodes.Expr):
                        self._expression(item, bound)


def _named(target: nodes.Node, path: DataPath | None = None) -> Bound:
    """Return the names that a target binds: a single name with its path; several without."""
    if isinstance(target, nodes.Name):
        return {target.name: path}
    return dict.fromkeys(found.name for found in target.find_all(nodes.Name))


def _each(node: nodes.For, bound: Bound) -> Bound:
    path = path_of(node.iter, bound)
    return _named(node.target, (*path, EACH) if path is not None else None)


def _filters_and_tests(node: nodes.Node) -> Iterator[nodes.Filter | nodes.Test]:
    open_ = [node]
    while open_:
        found = open_.pop()
        if isinstance(found, nodes.Filter | nodes.Test):
            yield found
        open_ += found.iter_child_nodes()


class UnreadableTemplateError(ValueError):
    """Raised for a template that is unreadable before the place, so that its names are unknown."""


def path_at(before: str, expression: str) -> DataPath | None:
    """Return the path that an expression reads, through the loops and assignments around it.

    Args:
        before: the template up to the place, with only complete tags.
        expression: the expression, without braces.

    Raises:
        UnreadableTemplateError: the text before cannot be read.
    """
    if len(before) > _LONGEST:
        raise UnreadableTemplateError
    source = f"{before}{{{{ ({expression}) }}}}"
    tokens = JinjaTokens(source, environment().lexer, 0)
    parser = ProgramParser(environment(), tokens, 0)
    try:
        body = parser.read()
    except (TemplateSyntaxError, RecursionError):
        source += "".join(f"{{% end{name} %}}" for _, name in reversed(parser.opened))
        tokens = JinjaTokens(source, environment().lexer, 0)
        try:
            body = ProgramParser(environment(), tokens, 0).read()
        except (TemplateSyntaxError, RecursionError) as error:
            raise UnreadableTemplateError from error
    finder = _Finder(Program(body, tuple(tokens.tags), 0), source, len(before))
    finder.body(body, dict.fromkeys((*environment().globals, "namespace", "self")))
    return finder.found


class _Finder(TemplateReader):
    """A search for the path of one expression, with the names bound at its position."""

    def __init__(self, program: Program, source: str, at: int) -> None:
        super().__init__(program, source)
        self._at = at
        self.found: DataPath | None = None

    def body(self, body: Sequence[Any], bound: Bound) -> None:
        """Read statements one by one, each with the names bound before it."""
        for item in body:
            if isinstance(item, Interpolation) and item.span.start == self._at:
                self.found = path_of(item.expression, bound)
            super().body([item], bound)
