"""How values are written into a request: the styles of OpenAPI 3.1 §4.8.12 and RFC 6570.

Everything that a value holds is encoded; only what the style itself puts between values is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

from studio.core.text.values import Json
from studio.core.tools.openapi.operation import OpenApiParameter

_RESERVED = ":/?[]@!$'()*,;"  # those of RFC 3986 without '#', '&', '=' and '+', which end a value
_BETWEEN = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "form": ",", "": ","}


def plain(value: Json) -> str:
    """A value as text; what is not a text as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def path_value(parameter: OpenApiParameter, value: Json) -> str:
    """A value in the path, encoded: `simple`, `label` or `matrix`."""
    items, pairs = _items(parameter, value), _pairs(parameter, value)
    name = quote(parameter.name, safe="")
    match parameter.style:
        case "label":
            return "".join(f".{each}" for each in _pieces(parameter, items, pairs))
        case "matrix":
            if pairs is not None:
                if parameter.explode:
                    return "".join(f";{key}={each}" for key, each in pairs)
                return f";{name}={','.join(word for pair in pairs for word in pair)}"
            if parameter.explode:
                return "".join(f";{name}={each}" for each in items)
            return f";{name}={','.join(items)}"
        case _:
            return ",".join(_pieces(parameter, items, pairs))


def _pieces(
    parameter: OpenApiParameter, items: list[str], pairs: list[tuple[str, str]] | None
) -> list[str]:
    """The pieces between which the style puts its sign."""
    if pairs is not None and parameter.explode:
        return [f"{key}={each}" for key, each in pairs]
    words = items if pairs is None else [word for pair in pairs for word in pair]
    return words if parameter.explode or parameter.style != "label" else [",".join(words)]


def query_pairs(parameter: OpenApiParameter, value: Json) -> Iterator[str]:
    """A value in the query, as encoded `name=value` pairs."""
    name = quote_plus(parameter.name)
    if parameter.content_type:
        yield f"{name}={quote_plus(json.dumps(value, ensure_ascii=False))}"
        return
    safe = _RESERVED if parameter.reserved else ""

    def encoded(item: Json) -> str:
        text = plain(item)
        return quote(text, safe=safe) if parameter.reserved else quote_plus(text)

    if isinstance(value, Mapping) and parameter.kind == "object":
        yield from _object_pairs(parameter, value, name)
    elif isinstance(value, list | tuple):
        if parameter.explode:
            yield from (f"{name}={encoded(item)}" for item in value)
        else:
            yield f"{name}={_BETWEEN.get(parameter.style, ',').join(map(encoded, value))}"
    else:
        yield f"{name}={encoded(value)}"


def _object_pairs(
    parameter: OpenApiParameter, value: Mapping[str, Json], name: str
) -> Iterator[str]:
    if parameter.style == "deepObject":
        yield from deep_pairs(parameter.name, value)
    elif parameter.explode:
        yield from (f"{quote_plus(key)}={quote_plus(plain(item))}" for key, item in value.items())
    else:
        words = (quote_plus(word) for key, item in value.items() for word in (key, plain(item)))
        yield f"{name}={_BETWEEN.get(parameter.style, ',').join(words)}"


def deep_pairs(name: str, value: Json, *, brackets: bool = False) -> Iterator[str]:
    """`name[key]=value`, also of objects and lists in each other, which the standard leaves open.

    Args:
        name: the name so far.
        value: what stands under it.
        brackets: whether items of a list are numbered (`name[0]`), as where they are objects.
    """
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from deep_pairs(f"{name}[{key}]", item, brackets=True)
    elif isinstance(value, list | tuple):
        is_numbered = brackets and any(isinstance(item, Mapping | list) for item in value)
        for index, item in enumerate(value):
            inner = f"{name}[{index}]" if is_numbered else f"{name}[]" if brackets else name
            yield from deep_pairs(inner, item, brackets=True)
    else:
        yield f"{quote(name, safe='[]')}={quote_plus(plain(value))}"


def header_text(parameter: OpenApiParameter, value: Json) -> str:
    """A value in a header, before it is made safe for one: `simple`."""
    if isinstance(value, Mapping) and parameter.kind == "object":
        sign = "=" if parameter.explode else ","
        return ",".join(f"{key}{sign}{plain(item)}" for key, item in value.items())
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return ",".join(plain(item) for item in value)
    return plain(value)


def cookie_text(parameter: OpenApiParameter, value: Json) -> str:
    """A value in a cookie, encoded: `form`, never in several cookies."""
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return ",".join(quote(plain(item), safe="") for item in value)
    if isinstance(value, Mapping) and parameter.kind == "object":
        words = (quote(w, safe="") for key, item in value.items() for w in (key, plain(item)))
        return ",".join(words)
    return quote(plain(value), safe="")


def _items(parameter: OpenApiParameter, value: Json) -> list[str]:
    if isinstance(value, list | tuple) and parameter.kind == "array":
        return [quote(plain(item), safe="") for item in value]
    return [quote(plain(value), safe="")]


def _pairs(parameter: OpenApiParameter, value: Json) -> list[tuple[str, str]] | None:
    if not isinstance(value, Mapping) or parameter.kind != "object":
        return None
    return [(quote(k, safe=""), quote(plain(item), safe="")) for k, item in value.items()]
