"""How other programs render templates: by Jinja2 itself, and as chevron does."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.prompty.templates import render_template
from studio.core.text.values import Json


class CannotRender(Exception):  # noqa: N818 - it is a finding, no failure of the program
    """The program cannot render the text with these values."""


def render_jinja(template: str, values: Mapping[str, Json], *, forgiving: bool = False) -> str:
    """Render as `prompty` does: Jinja2's sandbox as it comes, the last line end kept.

    Args:
        template: The template.
        values: Values by name.
        forgiving: What is not given reads as nothing, however deep the template looks.

    Raises:
        CannotRender: Jinja2 cannot.
    """
    # Jinja takes some 60 ms to import: not before the window is painted.
    from studio.core.prompty.templates.jinja.stock import StockRenderError, render_stock

    try:
        return render_stock(template, values, as_="prompty-forgiving" if forgiving else "prompty")
    except StockRenderError as error:
        raise CannotRender(str(error)) from error


def render_chevron(template: str, values: Mapping[str, Json]) -> str:
    """Our own mustache with values written as Python writes them, as chevron does."""
    words = {name: _as_python(value) for name, value in values.items()}
    rendering = render_template(template, words, format="mustache")
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
