"""What `prompty` 2.1 for Python wants of the front matter before it loads a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from studio.core.prompty.reference_values import whole_reference
from studio.core.text.values import Json, JsonObject

_FORMATS = ("jinja2", "mustache")
_PARSERS = ("prompty",)


def load_faults(data: JsonObject) -> Iterator[str]:
    """What the runtime refuses in the front matter, a sentence each.

    Args:
        data: The front matter, references to files resolved where that is possible; a reference
            that stays is taken to give what is wanted.
    """
    yield from _empty(data, ("template", "model", "inputs", "outputs", "tools"), "")
    yield from _template(data.get("template"))
    yield from _model(data.get("model"))
    for block in ("inputs", "outputs"):
        yield from _properties(data.get(block), block)
    yield from _tools(data.get("tools"))


def _empty(data: JsonObject, keys: Collection[str], path: str) -> Iterator[str]:
    """Keys that are written without a value: the runtime reads no block out of nothing."""
    for key in keys:
        if key in data and data[key] is None:
            yield f"{path}{key} has no value"


def _is_open(value: Json) -> bool:
    """Whether the value is only known when the runtime resolves it."""
    return value is None or (isinstance(value, str) and whole_reference(value) is not None)


def _template(value: Json) -> Iterator[str]:
    if _is_open(value):
        return
    if not isinstance(value, Mapping):
        yield f"template: {value!r} is not a block with format and parser"
        return
    for key in ("format", "parser"):
        inner = value.get(key)
        if inner is None:
            yield f"template.{key} is missing"
            continue
        kind = inner.get("kind") if isinstance(inner, Mapping) else inner
        known = _FORMATS if key == "format" else _PARSERS
        if isinstance(kind, str) and kind not in known and kind not in ("", "*"):
            yield f"template.{key}: it has no {kind!r}"


def _model(value: Json) -> Iterator[str]:
    if _is_open(value) or isinstance(value, str):
        return
    if not isinstance(value, Mapping):
        yield "model is neither an id nor a block"
        return
    yield from _empty(value, ("connection", "options"), "model.")
    if value.get("connection") is not None:
        yield from _connection(value["connection"], "model.connection")
        yield from trust_faults(value["connection"])
    if value.get("options") is not None and not _is_block(value["options"]):
        yield "model.options is not a block"


def _is_block(value: Json) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, str) and whole_reference(value) is not None
    )


def _connection(value: Json, path: str) -> Iterator[str]:
    if isinstance(value, str) and whole_reference(value) is not None:
        return
    if not isinstance(value, Mapping):
        yield f"{path} is not a block"
        return
    kind = value.get("kind")
    if not isinstance(kind, str) or not kind:
        yield f"{path}.kind is missing"


_TRUSTED = re.compile(
    r"https://(?:api\.openai\.com|api\.anthropic\.com|login\.microsoftonline\.com"
    r"|[^/:@\\]+\.(?:openai\.azure|services\.ai\.azure|cognitiveservices\.azure)\.com)(?::443)?"
    r"(?:[/?#].*)?"
)


def trust_faults(value: Json) -> Iterator[str]:
    """What keeps keys of the environment from the endpoint of a connection, a sentence each."""
    if not isinstance(value, Mapping) or value.get("kind") == "reference":
        return
    key = value.get("apiKey") if value.get("kind") == "key" else None
    if isinstance(key, str) and key.strip() and not (key.startswith("${") and key.endswith("}")):
        return
    for name in ("endpoint", "tokenUrl"):
        place = value.get(name)
        reference = whole_reference(place) if isinstance(place, str) else None
        if reference is not None:
            place = reference.default if reference.protocol == "env" else None
        if isinstance(place, str) and place and _TRUSTED.fullmatch(place.strip()) is None:
            way = (
                f"set {reference.argument}" if reference is not None else "write ${env:NAME} there"
            )
            yield (
                f"model.connection.{name} {place!r} is not among the addresses that it trusts with "
                f"a key of the environment ({way}, or say trusted_endpoints)"
            )


def _properties(value: Json, path: str) -> Iterator[str]:
    if _is_open(value):
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, list):
                yield f"{path}.{name} is a list"
            elif isinstance(item, Mapping):
                yield from _property(item, f"{path}.{name}")
            else:  # the short form `name: value` has no kind there
                yield f"{path}.{name}.kind is missing"
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _property(item, f"{path}.{index}")
    else:
        yield f"{path} is neither a list nor a block"


def _property(value: Json, path: str) -> Iterator[str]:
    match value:
        case bool() | int() | float() | str():
            return
        case Mapping():
            kind = value.get("kind")
            if not isinstance(kind, str) or not kind:
                yield f"{path}.kind is missing"
                return
            if kind == "array" and value.get("items") is None:
                yield f"{path}.items is missing"
            elif kind == "array":
                yield from _property(value["items"], f"{path}.items")
            if kind == "object":
                yield from _empty(value, ("properties",), f"{path}.")
                yield from _properties(value.get("properties"), f"{path}.properties")
        case _:
            yield f"{path} declares nothing"


def _tools(value: Json) -> Iterator[str]:
    if _is_open(value):
        return
    pairs: list[tuple[str, Json]]
    if isinstance(value, Mapping):
        pairs = [(str(name), item) for name, item in value.items()]
    elif isinstance(value, list):
        pairs = [(str(index), item) for index, item in enumerate(value)]
    else:
        yield "tools is neither a list nor a block"
        return
    for name, item in pairs:
        path = f"tools.{name}"
        if not isinstance(item, Mapping):
            yield f"{path} is not a block"
        elif item.get("kind") == "function":
            yield from _empty(item, ("parameters",), f"{path}.")
            yield from _properties(item.get("parameters"), f"{path}.parameters")
        elif item.get("connection") is None:
            yield f"{path}.connection is missing, which a tool of kind {item.get('kind')!r} wants"
        else:
            yield from _connection(item["connection"], f"{path}.connection")
