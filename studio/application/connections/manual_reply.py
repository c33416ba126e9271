"""What a user types as the model's reply, read and checked."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studio.application.words import translate
from studio.core.text.foreign_json import JsonBoundError, parse_json
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply, ToolCall


def reply_problem(text: str, tool: str, arguments: str) -> str:
    """What is wrong with a reply; empty for nothing.

    Args:
        text: the answer's text; may be empty beside a call.
        tool: the tool that is called; empty for none.
        arguments: its arguments as JSON text.
    """
    if not tool:
        return "" if text.strip() else translate("ManualReply", "Type or paste the reply.")
    try:
        value = parse_json(arguments or "{}")
    except json.JSONDecodeError as error:
        return translate(
            "ManualReply", "The arguments are not JSON: line {lineno}, column {colno}."
        ).format(lineno=error.lineno, colno=error.colno)
    except JsonBoundError as error:
        return translate("ManualReply", "The arguments cannot be used: {reason}.").format(
            reason=error
        )
    return (
        ""
        if isinstance(value, dict)
        else translate("ManualReply", "The arguments must be an object: { … }.")
    )


def reply_of(text: str, tool: str, arguments: str) -> Reply:
    """The reply; the arguments go exactly as they were typed."""
    calls = (ToolCall("", tool, arguments or "{}"),) if tool else ()
    return Reply(text=text, tool_calls=calls)


def example_arguments(parameters: JsonObject) -> str:
    """Arguments to begin with: every required parameter, with an empty value of its type."""
    properties = parameters.get("properties")
    required = parameters.get("required")
    names = required if isinstance(required, Sequence) and not isinstance(required, str) else ()
    if not isinstance(properties, dict):
        return "{}"
    values = {name: _empty(properties.get(name)) for name in names if isinstance(name, str)}
    return json.dumps(values, indent=2, ensure_ascii=False)


def _empty(schema: object) -> object:
    kind = schema.get("type") if isinstance(schema, dict) else None
    empties: dict[object, object] = {
        "integer": 0, "number": 0, "boolean": False, "array": [], "object": {},
    }  # fmt: skip
    return empties.get(kind if isinstance(kind, str) else None, "")
