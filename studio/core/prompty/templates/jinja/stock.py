"""Templates rendered as other programs render them: by Jinja2 itself, without spans and segments.

Only for the proof of an export, of a template that our own engine has rendered within its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal, TypeAlias, assert_never

from jinja2 import ChainableUndefined, DictLoader, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from studio.core.prompty.templates.jinja.javascript import as_javascript, written
from studio.core.text.values import Json

Setup: TypeAlias = Literal["plain", "script", "nunjucks", "prompty", "prompty-forgiving"]
"""How a program sets Jinja2 up: as it comes; as an exported script does (undefined is empty, `true`
and not `True`); with values as Nunjucks has them; as `prompty` does; the same,
where what nobody gave reads as nothing."""


class StockRenderError(Exception):
    """Jinja2 itself cannot render the template with these values; the text says why."""


def render_stock(template: str, values: Mapping[str, Json], *, as_: Setup) -> str:
    """Render a template with Jinja2.

    Args:
        template: The template.
        values: Values by name.
        as_: How it is set up.

    Raises:
        StockRenderError: it cannot be rendered.
    """
    given: dict[str, object] = dict(values)
    if as_ == "nunjucks":
        given = {name: as_javascript(value) for name, value in values.items()}
    try:
        return _environment(as_).from_string(template).render(given)
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise StockRenderError(str(error)) from error


@cache
def _environment(setup: Setup) -> SandboxedEnvironment:
    nothing = DictLoader({})
    match setup:
        case "plain":
            return SandboxedEnvironment()
        case "script":
            return SandboxedEnvironment(
                undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_plain
            )
        case "nunjucks":
            return SandboxedEnvironment(
                undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_written
            )
        case "prompty":
            return ImmutableSandboxedEnvironment(loader=nothing, keep_trailing_newline=True)
        case "prompty-forgiving":
            return ImmutableSandboxedEnvironment(
                loader=nothing, keep_trailing_newline=True, undefined=ChainableUndefined
            )
        case _:
            assert_never(setup)


def _written(value: object) -> object:
    return value if isinstance(value, str | Undefined) else written(value)


def _plain(value: object) -> object:
    """As `_plain` of an exported script (`core/export/python/code.py`)."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() else value
