"""Compare two JSON request bodies, ignoring what an API treats as equal."""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TypeAlias

from studio.core.imports.gemini_body import lower_type_names
from studio.core.text.amounts import shortened
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    KeyPath,
    list_of,
    object_of,
    parse_json,
)
from studio.core.wire.request import Provider

BodyDifference: TypeAlias = tuple[KeyPath, str]
"""Place of a difference, and its description."""


def body_differences(
    kept: JsonObject, built: JsonObject, api: Provider
) -> Iterator[BodyDifference]:
    """Yield every difference between a recorded body and a built one."""
    yield from _between(comparable(kept, api), comparable(built, api), ())


def _between(kept: Json, built: Json, path: KeyPath) -> Iterator[BodyDifference]:
    if isinstance(kept, Mapping) and isinstance(built, Mapping):
        for key in dict.fromkeys((*kept, *built)):
            if key not in built:
                yield (*path, key), f"is left out: it was {_short(kept[key])}"
            elif key not in kept:
                yield (*path, key), f"is added: {_short(built[key])}"
            else:
                yield from _between(kept[key], built[key], (*path, key))
    elif isinstance(kept, list) and isinstance(built, list):
        for at, (one, other) in enumerate(zip_longest(kept, built, fillvalue=_ABSENT)):
            if one is _ABSENT:
                yield (*path, at), f"is added: {_short(other)}"
            elif other is _ABSENT:
                yield (*path, at), f"is left out: it was {_short(one)}"
            else:
                yield from _between(one, other, (*path, at))
    elif kept != built or isinstance(kept, bool) != isinstance(built, bool):
        yield path, f"is {_short(built)}: it was {_short(kept)}"


_ABSENT = "\0absent"


def _short(value: Json) -> str:
    return shortened(repr(value), 80)


def comparable(body: JsonObject, api: Provider) -> JsonObject:
    """Return a body normalized for what the API treats as equal (docs/record.md)."""
    made: JsonDict = {k: each for k, each in body.items() if each not in (None, {}, [])}
    for key in ("messages", "input", "contents", "system"):
        if key in made:
            made[key] = _plain(made[key])
    if api == "openai-responses":
        asked = made.get("input")
        made["input"] = (
            [{"role": "user", "content": asked}]
            if isinstance(asked, str)
            else [_without(object_of(item), {"type": "message"}) for item in list_of(asked)]
        )
    if api in ("openai-chat", "ollama"):
        made["messages"] = [
            _without(object_of(item), {"content": ""})
            if object_of(item).get("tool_calls")
            else item
            for item in list_of(made.get("messages"))
        ]
    if api == "gemini":
        made = dict(object_of(_in_camel_case(made)))
        made["contents"] = [{"role": "user", **object_of(i)} for i in list_of(made.get("contents"))]
        if "systemInstruction" in made:
            parts = object_of(made["systemInstruction"]).get("parts")
            made["systemInstruction"] = {"parts": parts}
        if "tools" in made:
            made["tools"] = [_gemini_tool(each) for each in list_of(made["tools"])]
    return made


def _without(item: JsonObject, defaults: JsonObject) -> JsonObject:
    return {key: each for key, each in item.items() if defaults.get(key, _ABSENT) != each}


def _plain(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if not isinstance(value, list):
        return value
    if len(value) == 1 and set(alone := object_of(value[0])) == {"type", "text"}:
        return alone["text"]
    return [_plain(item) for item in value]


_OTHERS_WORDS = ("args", "response", "parameters", "parametersJsonSchema", "responseJsonSchema")
"""Keys of a Gemini body whose content has other keys than Gemini's."""


def _in_camel_case(value: Json) -> Json:
    """Return a value with its keys in camel case, one of protobuf's two spellings."""
    if isinstance(value, list):
        return [_in_camel_case(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    named = {re.sub("_([a-z])", lambda at: at[1].upper(), key): each for key, each in value.items()}
    return {
        key: each if key in _OTHERS_WORDS else _in_camel_case(each) for key, each in named.items()
    }


def _gemini_tool(value: Json) -> Json:
    listed: list[Json] = []
    for each in list_of(object_of(value).get("functionDeclarations")):
        made = dict(object_of(each))
        schema = made.pop("parameters", made.get("parametersJsonSchema"))
        if schema is not None:
            made["parametersJsonSchema"] = _lowered(schema)
        listed.append(made)
    return {**object_of(value), "functionDeclarations": listed} if listed else value


def _lowered(schema: Json) -> Json:
    copied = parse_json(json.dumps(schema))
    lower_type_names(copied)
    return copied
