"""How the programs that get an export render its templates; the proof renders as they do."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

from studio.core.prompty.document import TemplateFormat
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.runtimes.render import CannotRender, render_chevron
from studio.core.prompty.templates import render_template
from studio.core.prompty.templates.faults import LIMIT
from studio.core.text.values import Json

Render: TypeAlias = Callable[[str, Mapping[str, Json]], str]
"""Renders one text with values; raises `CannotRender`."""


def check_bounds(prepared: Prepared) -> None:
    """Other programs have no bounds: what ours has stopped is not given to them.

    Raises:
        CannotRender: the template was stopped.
    """
    for problem in prepared.problems:
        if problem.code == LIMIT:
            raise CannotRender(problem.message)


def script_renderer(form: TemplateFormat) -> Render:
    """How an exported script renders, which takes line ends off both ends."""
    match form:
        case "jinja2":
            inner = _jinja("script")
        case "mustache":
            inner = render_chevron
        case "fstring":
            inner = _studio_fstring
    return lambda template, values: inner(template, values).strip("\r\n")


def langchain_renderer(form: TemplateFormat) -> Render:
    """How LangChain renders: Jinja2 as it comes, its copy of chevron, `str.format`."""
    match form:
        case "jinja2":
            return _jinja("plain")
        case "mustache":
            return render_chevron
        case "fstring":
            return _str_format


def nunjucks_renderer() -> Render:
    """How promptfoo renders: the part of Jinja2 that Nunjucks has, with values of JavaScript."""
    return _jinja("nunjucks")


def _jinja(setup: Literal["plain", "script", "nunjucks"]) -> Render:
    def render(template: str, values: Mapping[str, Json]) -> str:
        # Jinja takes some 60 ms to import: not before the window is painted.
        from studio.core.prompty.templates.jinja.stock import StockRenderError, render_stock

        try:
            return render_stock(template, values, as_=setup)
        except StockRenderError as error:
            raise CannotRender(str(error)) from error

    return render


def _studio_fstring(template: str, values: Mapping[str, Json]) -> str:
    rendering = render_template(template, values, format="fstring")
    return "".join(segment.text for segment in rendering.segments)


def _str_format(template: str, values: Mapping[str, Json]) -> str:
    try:
        return string.Formatter().vformat(template, (), values)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise CannotRender(f"{type(error).__name__}: {error}") from error
