"""How the programs that get an export render its templates; the proof renders as they do."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from typing import TypeAlias

from studio.core.prompty.document import TemplateFormat
from studio.core.prompty.prepare import Prepared
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


class CannotRender(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """The program cannot render the text with these values."""


def script_renderer(form: TemplateFormat) -> Render:
    """How an exported script renders, which takes line ends off both ends."""
    match form:
        case "jinja2":
            inner = _jinja(as_studio=True)
        case "mustache":
            inner = _chevron
        case "fstring":
            inner = _studio_fstring
    return lambda template, values: inner(template, values).strip("\r\n")


def langchain_renderer(form: TemplateFormat) -> Render:
    """How LangChain renders: Jinja2 as it comes, its copy of chevron, `str.format`."""
    match form:
        case "jinja2":
            return _jinja(as_studio=False)
        case "mustache":
            return _chevron
        case "fstring":
            return _str_format


def _jinja(*, as_studio: bool) -> Render:
    def render(template: str, values: Mapping[str, Json]) -> str:
        # Jinja takes some 60 ms to import: not before the window is painted.
        from studio.core.prompty.templates.jinja.stock import StockRenderError, render_stock

        try:
            return render_stock(template, values, as_studio=as_studio)
        except StockRenderError as error:
            raise CannotRender(str(error)) from error

    return render


def _chevron(template: str, values: Mapping[str, Json]) -> str:
    """Our own mustache with values written as Python writes them, as chevron does."""
    words = {name: _as_python(value) for name, value in values.items()}
    return _rendered(template, words, "mustache")


def _studio_fstring(template: str, values: Mapping[str, Json]) -> str:
    return _rendered(template, values, "fstring")


def _str_format(template: str, values: Mapping[str, Json]) -> str:
    try:
        return string.Formatter().vformat(template, (), values)
    except (KeyError, IndexError, ValueError, AttributeError, TypeError) as error:
        raise CannotRender(f"{type(error).__name__}: {error}") from error


def _rendered(template: str, values: Mapping[str, Json], form: TemplateFormat) -> str:
    rendering = render_template(template, values, format=form)
    return "".join(segment.text for segment in rendering.segments)


class _Word(str):
    """A value as Python writes it, that is as true as the value was."""

    holds: bool
    __slots__ = ("holds",)

    def __bool__(self) -> bool:
        return self.holds


def _as_python(value: Json) -> Json:
    if isinstance(value, bool | float):
        word = _Word(value)
        word.holds = bool(value)
        return word
    if isinstance(value, Mapping):
        return {key: _as_python(item) for key, item in value.items()}
    return [_as_python(item) for item in value] if isinstance(value, list) else value
