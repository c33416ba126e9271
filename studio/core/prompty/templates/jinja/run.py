"""Run the statements of a Jinja template within limits, and collect segments.

A template is parsed only once as long as its text stays the same.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

from jinja2 import TemplateError, Undefined, nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.runtime import LoopContext

from studio.core.prompty.document import FieldUse, Rendering, Variable
from studio.core.prompty.templates.jinja.expressions import (
    Expressions,
    Macro,
    MacroArguments,
    Namespace,
    UnknownNameError,
)
from studio.core.prompty.templates.jinja.failures import reason
from studio.core.prompty.templates.jinja.program import Program, read_program
from studio.core.prompty.templates.jinja.sandbox import (
    Scope,
    Value,
    bounded_items,
    environment,
    root_scope,
)
from studio.core.prompty.templates.jinja.tokens import Interpolation, Literal, PlainExpression
from studio.core.prompty.templates.jinja.variables import inspect, names_read
from studio.core.prompty.templates.writer import (
    BoundExceededError,
    Bounds,
    Budget,
    FaultList,
    RenderedText,
    SegmentWriter,
    key_problem,
    limit_problem,
    merge,
    syntax_problem,
    unsupported_problem,
    value_problem,
)
from studio.core.text.amounts import counted
from studio.core.text.source import Problem, Span
from studio.core.text.values import JsonObject


def bind_parameters(
    name: str,
    node: nodes.Macro | nodes.CallBlock,
    inner: Scope,
    given: MacroArguments,
    expressions: Expressions,
) -> Scope:
    """Bind the arguments of a call to the parameters of a macro, as Jinja does.

    Raises:
        TypeError: there are too many arguments.
    """
    names = [parameter.name for parameter in node.args]
    first_default = len(names) - len(node.defaults)
    rest = dict(given.named)
    for index, parameter in enumerate(names):
        if index < len(given.values):
            source = given.sources[index] if index < len(given.sources) else None
            inner.set(parameter, given.values[index], source)
        elif parameter in rest:
            inner.set(parameter, rest.pop(parameter), given.named_sources.get(parameter))
        elif index >= first_default:
            default = node.defaults[index - first_default]
            inner.set(parameter, expressions.value(default, inner), inner.source_of(default))
        else:
            inner.set(parameter, environment().undefined(name=parameter))
    inner.set("caller", rest.pop("caller", None) or environment().undefined(name="caller"))
    further = given.values[len(names) :]
    read = names_read(node.body)
    if rest and "kwargs" not in read:
        raise TypeError(f"macro {name!r} takes no argument {next(iter(rest))!r}")
    if further and "varargs" not in read:
        raise TypeError(f"macro {name!r} takes at most {len(names)} arguments")
    inner.set("varargs", tuple(further), next(iter(filter(None, given.sources)), None))
    inner.set("kwargs", rest, next(iter(filter(None, given.named_sources.values())), None))
    return inner


FAILURES = (
    TemplateError,
    ArithmeticError,
    LookupError,
    TypeError,
    ValueError,
    AssertionError,
    AttributeError,
    RuntimeError,
)
"""Exceptions of evaluating an expression: Jinja's, and Python's for wrong values."""


def _written(node: nodes.Node) -> str:
    """Return a dotted name as written; "it" for other expressions."""
    if isinstance(node, nodes.Getattr):
        return f"{_written(node.node)}.{node.attr}"
    return node.name if isinstance(node, nodes.Name) else "it"


class Runner:
    """One rendering of one template."""

    def __init__(
        self,
        program: Program,
        budget: Budget,
        rich: frozenset[str],
        writer: SegmentWriter,
        faults: FaultList,
        engine: type[Expressions] = Expressions,
    ) -> None:
        self._program = program
        self._budget = budget
        self._rich = rich
        self._writer = writer
        self._faults = faults
        self._expressions = engine(environment(), budget)
        self._depth = 0
        self._current = Span(0, 0)
        self._read_keys: set[tuple[str, str]] = set()
        self._by_type: dict[type[Value], Callable[[Value, Scope], None]] = {
            nodes.Output: self._output,
            nodes.If: self._if,
            nodes.For: self._for,
            nodes.Assign: self._assign,
            nodes.AssignBlock: self._assign_block,
            nodes.With: self._with,
            nodes.Macro: self._macro,
            nodes.CallBlock: self._call_block,
            nodes.FilterBlock: self._filter_block,
            nodes.Block: lambda node, scope: self._body(node.body, Scope(scope)),
            nodes.Scope: lambda node, scope: self._body(node.body, Scope(scope)),
            nodes.ScopedEvalContextModifier: self._autoescape,
            nodes.ExprStmt: self._discard,
        }

    def run(self, scope: Scope) -> None:
        """Run the whole template; exceeding a limit ends it."""
        try:
            self._body(self._program.body, scope)
        except BoundExceededError as error:
            self._faults.add(limit_problem(str(error), self._current))
        except RecursionError:
            self._faults.add(limit_problem("its expressions are nested too deeply", self._current))

    def _body(self, body: Sequence[Value], scope: Scope) -> None:
        for statement in body:
            if type(statement) is Literal:
                self._writer.literal(statement.text, statement.span)
                continue
            self._budget.step()
            try:
                self._statement(statement, scope)
            except RecursionError:
                raise
            except UnknownNameError:
                continue
            except FAILURES as error:
                self._faults.add(value_problem(reason(error), self._span(statement)))

    def _statement(self, statement: Value, scope: Scope) -> None:
        if type(statement) is PlainExpression:
            self._plain(statement, scope)
        elif type(statement) is Interpolation:
            self._current = statement.span
            self._interpolate(statement.expression, statement.span, scope)
        else:
            self._current = self._span(statement)
            run = self._by_type.get(type(statement))
            if run is None:
                self._unsupported(statement)
            else:
                run(statement, scope)

    def _span(self, statement: Value) -> Span:
        if isinstance(statement, PlainExpression | Interpolation | Literal):
            return statement.span
        while statement.lineno is None:  # the scope that Jinja adds around `autoescape`
            statement = statement.body[0]
        return self._program.tag_at(statement.lineno)

    def _unsupported(self, statement: nodes.Node) -> None:
        name = type(statement).__name__.lower()
        tag = "from" if name == "fromimport" else name
        self._faults.add(
            unsupported_problem(
                f"'{tag}' needs other template files, and a prompt is one file.",
                self._span(statement),
            )
        )

    def _plain(self, statement: PlainExpression, scope: Scope) -> None:
        path = statement.path
        source = scope.source(path[0])
        if len(path) == 1 and self._is_rich(path[0], source, scope):
            self._writer.rich(path[0], statement.span)
            return
        if len(path) > 1 and self._is_key(path, statement.span, scope):
            return
        value = self._expressions.path(path, scope)
        self._writer.value(self._expressions.text(value), statement.span, source)

    def _is_key(self, path: tuple[str, ...], span: Span, scope: Scope) -> bool:
        """Return whether a field is read from an object's key; report it the first time.

        Jinja continues in this case: it prints an empty text, or a method of texts with that name.
        """
        mapping = scope.mapping_of(path[0])
        if not mapping or not isinstance(scope.get(path[0], None), str):
            return False
        if (path[0], mapping) not in self._read_keys:
            self._read_keys.add((path[0], mapping))
            self._faults.add(key_problem(path[0], mapping, path[1], span))
        return True

    def _is_rich(self, name: str, source: str | None, scope: Scope) -> bool:
        if name not in self._rich:
            return False
        return source == name or (source is None and scope.get(name, self) is self)

    def _interpolate(self, expression: nodes.Expr, span: Span, scope: Scope) -> None:
        if isinstance(expression, nodes.Concat):
            for part in expression.nodes:
                self._interpolate(part, span, scope)
            return
        if isinstance(expression, nodes.Name):
            self._plain(PlainExpression((expression.name,), span.start, span), scope)
            return
        value = self._expressions.value(expression, scope)
        text = self._expressions.text(value)
        self._writer.value(text, span, scope.source_of(expression))

    def _output(self, node: nodes.Output, scope: Scope) -> None:
        for expression in node.nodes:
            self._interpolate(expression, self._span(node), scope)

    def _discard(self, node: nodes.ExprStmt, scope: Scope) -> None:
        self._expressions.value(node.node, scope)

    def _if(self, node: nodes.If, scope: Scope) -> None:
        for branch in (node, *node.elif_):
            if self._expressions.value(branch.test, scope):
                self._body(branch.body, scope)
                return
        self._body(node.else_, scope)

    def _for(self, node: nodes.For, scope: Scope) -> None:
        source = scope.source_of(node.iter)
        self._loop(node, self._expressions.value(node.iter, scope), source, scope, 0)

    def _loop(
        self, node: nodes.For, value: Value, source: str | None, scope: Scope, depth: int
    ) -> None:
        items = bounded_items(value, self._budget)
        if node.test is not None:
            items = [item for item in items if self._passes(node, item, source, scope)]
        loop = LoopContext(items, Undefined, self._recursive(node, source, scope), depth)
        ran = False
        for item, _ in loop:
            ran = True
            self._budget.step()
            inner = Scope(scope)
            if isinstance(value, dict) and isinstance(node.target, nodes.Name):
                inner.key_of = (node.target.name, _written(node.iter))
            inner.set("loop", loop)
            self._bind(node.target, item, source, inner)
            self._body(node.body, inner)
        if not ran:
            self._body(node.else_, Scope(scope))

    def _recursive(self, node: nodes.For, source: str | None, scope: Scope) -> Value:
        if not node.recursive:
            return None

        def recurse(value: Value, _recurse: Value, depth: int) -> str:
            with self._deeper():
                held = self._writer.begin()
                try:
                    self._loop(node, value, source, scope, depth)
                finally:
                    rendered = self._writer.end(held)
            return rendered

        return recurse

    def _passes(self, node: nodes.For, item: Value, source: str | None, scope: Scope) -> bool:
        self._budget.step()
        inner = Scope(scope)
        self._bind(node.target, item, source, inner)
        assert node.test is not None
        return bool(self._expressions.value(node.test, inner))

    def _bind(self, target: nodes.Node, value: Value, source: str | None, scope: Scope) -> None:
        if isinstance(target, nodes.Name):
            scope.set(target.name, value, source)
        elif isinstance(target, nodes.NSRef):
            space = scope.get(target.name, None)
            if not isinstance(space, Namespace):
                name = target.name
                raise TemplateRuntimeError(
                    f"{name!r} is not a namespace: write {{% set {name} = namespace() %}} first"
                )
            space.assign_attribute(target.attr, value)
        elif isinstance(target, nodes.Tuple):
            values = bounded_items(value, self._budget)
            if len(values) != len(target.items):
                names = counted(len(target.items), "name")
                raise ValueError(f"{names} cannot take {counted(len(values), 'value')}")
            for item, part in zip(target.items, values, strict=True):
                self._bind(item, part, source, scope)
        else:
            raise TemplateRuntimeError(f"a value cannot be given to {type(target).__name__}")

    def _assign(self, node: nodes.Assign, scope: Scope) -> None:
        source = scope.source_of(node.node)
        self._bind(node.target, self._expressions.value(node.node, scope), source, scope)

    def _captured(self, body: Sequence[Value], scope: Scope) -> RenderedText:
        held = self._writer.begin()
        try:
            self._body(body, scope)
        finally:
            rendered = self._writer.end(held)
        return rendered

    def _filtered(self, node: nodes.Node | None, text: RenderedText, scope: Scope) -> Value:
        """Apply a chain of filters, the innermost of which filters the given text."""
        if not isinstance(node, nodes.Filter):
            return text
        return self._expressions.call_filter(node, self._filtered(node.node, text, scope), scope)

    def _assign_block(self, node: nodes.AssignBlock, scope: Scope) -> None:
        text = self._captured(node.body, Scope(scope))
        value = self._filtered(node.filter, text, scope)
        self._bind(node.target, value, text.input, scope)

    def _filter_block(self, node: nodes.FilterBlock, scope: Scope) -> None:
        text = self._captured(node.body, Scope(scope))
        value = self._expressions.text(self._filtered(node.filter, text, scope))
        self._writer.value(value, self._span(node), text.input)

    def _with(self, node: nodes.With, scope: Scope) -> None:
        inner = Scope(scope)
        for target, expression in zip(node.targets, node.values, strict=True):
            value = self._expressions.value(expression, scope)
            self._bind(target, value, scope.source_of(expression), inner)
        self._body(node.body, inner)

    def _autoescape(self, node: nodes.ScopedEvalContextModifier, scope: Scope) -> None:
        self._faults.add(
            unsupported_problem(
                "'autoescape' has no effect here: a prompt is not HTML.", self._span(node)
            )
        )
        self._body(node.body, scope)

    def _macro(self, node: nodes.Macro, scope: Scope) -> None:
        scope.set(node.name, self._made_macro(node.name, node, scope))

    def _call_block(self, node: nodes.CallBlock, scope: Scope) -> None:
        caller = self._made_macro("caller", node, scope)
        called = self._expressions.value(node.call.node, scope)
        if not isinstance(called, Macro):
            raise TypeError("'call' needs a macro")
        text = self._expressions.call_macro(called, node.call, scope, caller)
        self._writer.value(text, self._span(node), None)

    def _made_macro(self, name: str, node: nodes.Macro | nodes.CallBlock, scope: Scope) -> Macro:
        def run(given: MacroArguments) -> str:
            inner = bind_parameters(name, node, Scope(scope), given, self._expressions)
            with self._deeper():
                return self._captured(node.body, inner)

        return Macro(name, run)

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        if self._depth >= self._budget.bounds.depth:
            raise BoundExceededError(f"calls go deeper than {self._budget.bounds.depth} levels")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1


_LARGE = 200_000
"""Minimum length of large templates, of which only the last two are cached."""


@dataclass(frozen=True, slots=True)
class JinjaTemplate:
    """A parsed template with facts known before rendering."""

    program: Program
    """Parsed statements."""

    variables: tuple[Variable, ...]
    """Inputs that it uses."""

    fields: tuple[FieldUse, ...]
    """Fields of their values that it uses."""

    problems: tuple[Problem, ...]
    """Syntax errors, unknown filters and tests."""


def read_template(source: str, base: int) -> JinjaTemplate:
    """Parse a template that begins at `base` in its document."""
    return _small(source, base) if len(source) < _LARGE else _large(source, base)


def _read(source: str, base: int) -> JinjaTemplate:
    program = read_program(source, environment(), base)
    try:
        variables, fields, problems = inspect(program, source)
    except RecursionError:
        at = Span(base, base)
        return JinjaTemplate(program, (), (), (limit_problem("it is nested too deeply", at),))
    if program.error is not None:
        problems = (
            *problems,
            syntax_problem(program.error.message, program.error.span, program.error.fixes),
        )
    return JinjaTemplate(program, variables, fields, problems)


_small = lru_cache(maxsize=64)(_read)
_large = lru_cache(maxsize=2)(_read)


def render_jinja(
    source: str, inputs: JsonObject, base: int, rich: frozenset[str], bounds: Bounds
) -> Rendering:
    """Render a Jinja template; problems are in the rendering."""
    template = read_template(source, base)
    budget, faults = Budget(bounds), FaultList()
    for problem in template.problems:
        faults.add(problem)
    writer = SegmentWriter(budget)
    Runner(template.program, budget, rich, writer, faults).run(root_scope(inputs.items()))
    return Rendering(merge(writer.segments), tuple(faults.problems))
