"""Render templates as other programs do: with Jinja2 itself, without spans and segments.

Only used to verify an export, for a template that the studio's engine has rendered within its
limits. Values for Nunjucks follow JavaScript, by ECMAScript's `ToBoolean` (an empty list is true)
and `ToString` (a list is its items with commas, an object is "[object Object]").
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Literal, TypeAlias, assert_never

from jinja2 import ChainableUndefined, DictLoader, TemplateError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

from studio.core.text.values import Json, JsonObject

Setup: TypeAlias = Literal["plain", "script", "nunjucks", "prompty", "prompty-forgiving"]
"""Setup of Jinja2 in a program: unchanged; as in an exported script (undefined is empty, `true`
instead of `True`); with Nunjucks' values; as in `prompty`; the same with missing values as empty
texts.
"""


class StockRenderError(Exception):
    """Raised when Jinja2 cannot render the template with these values; the text says why."""


def render_stock(template: str, values: JsonObject, *, as_: Setup) -> str:
    """Render a template with Jinja2.

    Args:
        template: The template.
        values: Values by name.
        as_: The setup.

    Raises:
        StockRenderError: the template cannot be rendered.
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
    """Return a value as `_plain` in an exported script does (`core/export/python/script.py`)."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _List(list[object]):
    """A list that is true even if it is empty."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return ",".join(written(item) for item in self)


class _Object(dict[str, object]):
    """An object that is true even if it is empty."""

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        return "[object Object]"


def as_javascript(value: Json) -> object:
    """Return a value whose lists and objects have JavaScript's truth and text."""
    if isinstance(value, Mapping):
        return _Object((name, as_javascript(item)) for name, item in value.items())
    if isinstance(value, list):
        return _List(as_javascript(item) for item in value)
    return value


def written(value: object) -> str:
    """Return the text of a value in Nunjucks."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | _List() | _Object():
            return str(value)
        case int() | float():
            return _number(value)
        case Mapping():
            return "[object Object]"
        case Iterable():
            return ",".join(written(item) for item in value)
        case _:
            return str(value)


def _number(value: float) -> str:
    """Return the text of a float; no exponent from 1e-6 to 1e21 (ECMAScript, Number::toString)."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    if not math.isfinite(number):
        return "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")
    if number == 0:
        return "0"
    digits, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = digits.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    kept = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(kept)
    kept = kept.rstrip("0")
    sign = "-" if number < 0 else ""
    if 0 < point <= 21:
        kept = kept.ljust(point, "0")
        return sign + kept[:point] + (f".{kept[point:]}" if kept[point:] else "")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{kept}"
    head = kept[0] + (f".{kept[1:]}" if kept[1:] else "")
    return f"{sign}{head}e{point - 1:+d}"


FILTERS = frozenset(
    """
    abs batch capitalize center d default dictsort e escape first float forceescape groupby indent
    int join last length list lower random reject rejectattr replace reverse round safe select
    selectattr slice sort string striptags sum title trim truncate upper urlencode urlize
    wordcount
""".split()
)
"""Jinja2's filters that Nunjucks has too."""

TESTS = frozenset(
    """
    callable defined divisibleby eq equalto escaped even ge greaterthan gt iterable le lessthan
    lower lt mapping ne number odd sameas string undefined upper
""".split()
)
"""Jinja2's tests that Nunjucks has too."""


def nunjucks_losses(texts: Iterable[str]) -> Iterator[str]:
    """Yield the filters, tests, methods and statements of Jinja2 that Nunjucks lacks."""
    # Importing Jinja takes about 60 ms: not before the window is painted.
    from jinja2 import Environment, TemplateSyntaxError, nodes

    found: dict[str, None] = {}
    for text in texts:
        try:
            tree = Environment(autoescape=True).parse(text)
        except TemplateSyntaxError:
            continue  # the document's own problems report it
        for node in tree.find_all((nodes.Filter, nodes.Test, nodes.Call, nodes.With)):
            match node:
                case nodes.Filter(name=name) if name not in FILTERS:
                    found[f"the filter {name!r}"] = None
                case nodes.Test(name=name) if name not in TESTS:
                    found[f"the test {name!r}"] = None
                case nodes.Call(node=nodes.Getattr(attr=name)):
                    found[f"the method {name}()"] = None
                case nodes.Call(node=nodes.Name(name="namespace")):
                    found["namespace()"] = None
                case nodes.With():
                    found["{% with %}"] = None
                case _:
                    pass
    for each in found:
        yield f"promptfoo renders with Nunjucks, which has not {each} of Jinja2."
