"""Arguments of a call: checked against the tool's schema, with bound inputs put in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError


_LONGEST = 1000
_MANY = 100


@dataclass(slots=True)
class _Group:
    """What an open bracket holds so far."""

    repeats: bool = False
    chooses: bool = False


@lru_cache(maxsize=512)
def is_quick(pattern: str) -> bool:
    """Whether a pattern can be searched for without a risk of exponential time."""
    if len(pattern) > _LONGEST:
        return False
    open_groups = [_Group()]
    closed: _Group | None = None  # the group that ended just before this place
    index = 0
    while index < len(pattern):
        char = pattern[index]
        repeats, after = _repetition(pattern, index)
        if repeats is not None:
            if repeats and closed is not None and (closed.repeats or closed.chooses):
                return False
            open_groups[-1].repeats |= repeats
            index, closed = after, None
            continue
        closed = None
        if char == "\\":
            # A reference to a group can repeat what was matched: its cost is not bounded by ours.
            if pattern[index + 1 : index + 2].isdigit():
                return False
            index += 2
            continue
        if char == "[":
            index = _end_of_set(pattern, index)
            continue
        if char == "(":
            open_groups.append(_Group())
        elif char == ")" and len(open_groups) > 1:
            closed = open_groups.pop()
            open_groups[-1].repeats |= closed.repeats
            open_groups[-1].chooses |= closed.chooses
        elif char == "|":
            open_groups[-1].chooses = True
        index += 1
    return True


def _repetition(pattern: str, index: int) -> tuple[bool | None, int]:
    """Whether a quantifier at this place is open-ended or large, and the place after it.

    None where there is no quantifier.
    """
    char = pattern[index]
    if char in "*+":
        return True, index + 1
    if char == "?" and not pattern.startswith("(?", index - 1):
        return False, index + 1
    end = pattern.find("}", index)
    if char != "{" or end < 0:
        return None, index
    low, comma, high = pattern[index + 1 : end].partition(",")
    if not (low + high).isdigit():
        return None, index
    return bool(comma and not high) or int(high or low) > _MANY, end + 1


def _end_of_set(pattern: str, start: int) -> int:
    """The place after a character set; a bracket right after its start belongs to it."""
    index = start + 1
    if pattern.startswith("^", index):
        index += 1
    if pattern.startswith("]", index):
        index += 1
    while index < len(pattern) and pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index + 1


_SHOWN_PROBLEMS = 5


def check_arguments(schema: JsonObject, arguments: JsonObject) -> tuple[str, ...]:
    """What is wrong with the arguments, a plain sentence each; empty when nothing is.

    A schema that is itself broken refuses nothing: the tool will say what it does not like.
    """
    from jsonschema import SchemaError
    from referencing.exceptions import Unresolvable

    try:
        validator = _validator(json.dumps(schema, sort_keys=True, default=str))
        found = sorted(validator.iter_errors(arguments), key=lambda error: str(list(error.path)))
    except (SchemaError, Unresolvable, RecursionError):
        return ()
    return tuple(_sentence(error) for error in found[:_SHOWN_PROBLEMS])


def inject_bindings(
    spec: ToolSpec, arguments: JsonObject, inputs: Mapping[str, Json]
) -> JsonObject:
    """Arguments with bound parameters set from the run's inputs, over whatever the model gave.

    Prompty 2 §2.9.1; a bound input that has no value leaves its parameter out.
    """
    if not spec.bindings:
        return arguments
    kept = {name: value for name, value in arguments.items() if name not in spec.bindings}
    bound = {name: inputs[given] for name, given in spec.bindings.items() if given in inputs}
    return {**kept, **bound}


@lru_cache(maxsize=256)
def _validator(schema: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator
    from referencing import Registry

    loaded = cast("dict[str, Any]", _without_slow_patterns(json.loads(schema)))
    Draft202012Validator.check_schema(loaded)
    # An empty registry: a schema of a stranger must not make us fetch anything.
    return Draft202012Validator(loaded, registry=Registry())


def _without_slow_patterns(node: Json) -> Json:
    """The schema without patterns that could take for ever; the tool itself will refuse."""
    if isinstance(node, list):
        return [_without_slow_patterns(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept: dict[str, Json] = {}
    for key, value in node.items():
        if key == "pattern" and isinstance(value, str) and not is_quick(value):
            continue
        quick = (
            {name: item for name, item in value.items() if is_quick(name)}
            if key == "patternProperties" and isinstance(value, dict)
            else value
        )
        kept[key] = _without_slow_patterns(quick)
    return kept


def _sentence(error: ValidationError) -> str:
    path = ".".join(str(step) for step in error.path)
    message = error.message
    if len(message) > 300:
        message = f"{message[:300]}…"
    return f"{path}: {message}" if path else message
