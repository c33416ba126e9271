"""A Jinja template, read once for as long as its text stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from studio.core.prompty.document import FieldUse, Variable
from studio.core.prompty.rendering import Rendering
from studio.core.prompty.templates.bounds import Bounds, Budget
from studio.core.prompty.templates.faults import FaultList, limit_problem, syntax_problem
from studio.core.prompty.templates.jinja.program import Program, read_program
from studio.core.prompty.templates.jinja.run import Runner
from studio.core.prompty.templates.jinja.sandbox import environment
from studio.core.prompty.templates.jinja.scope import root_scope
from studio.core.prompty.templates.jinja.variables import inspect
from studio.core.prompty.templates.writer import SegmentWriter, merge
from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json

_LARGE = 200_000
"""Only the last two templates above this length are kept."""


@dataclass(frozen=True, slots=True)
class JinjaTemplate:
    """What is known of a template before it is rendered."""

    program: Program
    """Its statements."""

    variables: tuple[Variable, ...]
    """Inputs that it reads."""

    fields: tuple[FieldUse, ...]
    """Fields of their values that it reads."""

    problems: tuple[Problem, ...]
    """Syntax errors, unknown filters and tests."""


def read_template(source: str, base: int) -> JinjaTemplate:
    """Read a template that begins at `base` in its document."""
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
    source: str, inputs: Mapping[str, Json], base: int, rich: frozenset[str], bounds: Bounds
) -> Rendering:
    """Render a Jinja template; all problems are in the rendering."""
    template = read_template(source, base)
    budget, faults = Budget(bounds), FaultList()
    for problem in template.problems:
        faults.add(problem)
    writer = SegmentWriter(budget)
    Runner(template.program, budget, rich, writer, faults).run(root_scope(inputs.items()))
    return Rendering(merge(writer.segments), tuple(faults.problems))
