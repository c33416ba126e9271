"""Render templates of all three languages to segments with their origins."""

from typing import assert_never

from studio.core.prompty.document import FieldUse, Rendering, TemplateFormat, Variable
from studio.core.prompty.templates import fstring
from studio.core.prompty.templates.mustache.template import (
    find_mustache_fields,
    find_mustache_variables,
    render_mustache,
)
from studio.core.prompty.templates.writer import DEFAULT_BOUNDS, Bounds, limit_problem
from studio.core.text.source import Problem, Span
from studio.core.text.values import JsonObject

__all__ = ["DEFAULT_BOUNDS", "Bounds", "find_fields", "find_variables", "render_template"]


def render_template(
    template: str,
    inputs: JsonObject,
    *,
    format: TemplateFormat,  # noqa: A002 - the name of the front matter's key
    offset: int = 0,
    rich: frozenset[str] = frozenset(),
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Rendering:
    """Render a template; errors become problems, and the segments contain the rendered part.

    Args:
        template: The body of a prompt file, or any part of it.
        inputs: Values by name; missing ones are empty.
        format: The template language.
        offset: Start of the template in its document, added to all spans.
        rich: Inputs that are whole threads or media: `{{ name }}` alone becomes a `rich` segment.
        bounds: Limits; exceeding one ends the rendering.
    """
    if len(template) > bounds.template:
        return Rendering((), (_too_long(template, bounds, offset),))
    match format:
        case "jinja2":
            # Importing Jinja takes about 60 ms: not before the window is painted.
            from studio.core.prompty.templates.jinja.run import render_jinja

            return render_jinja(template, inputs, offset, rich, bounds)
        case "mustache":
            return render_mustache(template, inputs, offset, rich, bounds)
        case "fstring":
            return fstring.render_fstring(template, inputs, offset, rich, bounds)
        case _:
            assert_never(format)


def find_variables(
    template: str,
    format: TemplateFormat,  # noqa: A002
    offset: int = 0,
) -> tuple[tuple[Variable, ...], tuple[Problem, ...]]:
    """Return the variables that the template uses but does not define, and its errors."""
    if len(template) > DEFAULT_BOUNDS.template:
        return (), (_too_long(template, DEFAULT_BOUNDS, offset),)
    match format:
        case "jinja2":
            from studio.core.prompty.templates.jinja.run import read_template

            read = read_template(template, offset)
            return read.variables, read.problems
        case "mustache":
            return find_mustache_variables(template, offset)
        case "fstring":
            return fstring.find_fstring_variables(template, offset)
        case _:
            assert_never(format)


def find_fields(
    template: str,
    format: TemplateFormat,  # noqa: A002
    offset: int = 0,
) -> tuple[FieldUse, ...]:
    """Return the uses of fields in a template.

    For mustache only dotted names outside sections, since a name inside may belong to any scope.
    """
    if len(template) > DEFAULT_BOUNDS.template or not ("." in template or "[" in template):
        return ()
    match format:
        case "jinja2":
            from studio.core.prompty.templates.jinja.run import read_template

            return read_template(template, offset).fields
        case "mustache":
            return find_mustache_fields(template, offset)
        case "fstring":
            return fstring.find_fstring_fields(template, offset)
        case _:
            assert_never(format)


def _too_long(template: str, bounds: Bounds, offset: int) -> Problem:
    reason = f"it is {len(template):,} characters long, and {bounds.template:,} is the most"
    return limit_problem(reason, Span(offset, offset))
