"""Templates rendered as other programs render them: by Jinja2 itself, without spans and segments.

Only for the proof of an export, of a template that our own engine has rendered within its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from jinja2 import ChainableUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from studio.core.text.values import Json


class StockRenderError(Exception):
    """Jinja2 itself cannot render the template with these values; the text says why."""


def render_stock(template: str, values: Mapping[str, Json], *, as_studio: bool) -> str:
    """Render a template with Jinja2.

    Args:
        template: The template.
        values: Values by name.
        as_studio: Set up as an exported script does (undefined is empty, `true` and not `True`);
            otherwise as Jinja2 comes.

    Raises:
        StockRenderError: it cannot be rendered.
    """
    environment = _scripted() if as_studio else SandboxedEnvironment()
    try:
        return environment.from_string(template).render(dict(values))
    except (TemplateError, TypeError, ValueError, ArithmeticError, RecursionError) as error:
        raise StockRenderError(str(error)) from error


@cache
def _scripted() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_plain
    )


def _plain(value: object) -> object:
    """As `_plain` of an exported script (`core/export/python/code.py`)."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() else value
