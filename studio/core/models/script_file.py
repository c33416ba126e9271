"""Scripts of replies as files that people write: JSON, one reply for each call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedReply, ScriptedTurn
from studio.core.text.bounded_file import read_text
from studio.core.text.foreign_json import parse_json
from studio.core.text.reason import reason_of
from studio.core.text.values import Json, JsonObject, text_of
from studio.core.wire.reply import FinishReason, Reply, ToolCall

_HINT = "A script is a JSON list; each item is a reply's text, or an object with `text`, "
_HINT += "`tool_calls`, `refusal`, `finish_reason`, `error` or `delay`."


def read_script(path: Path) -> tuple[ScriptedReply, ...]:
    """The replies of a script file.

    Each item of its list is a text, or an object with any of `text`, `reasoning`, `refusal`,
    `tool_calls` (a list of `{"name", "arguments"}`), `finish_reason`, `error` (`{"kind",
    "message"}`) and `delay` (seconds before each piece).

    Raises:
        ModelError: "no-script"; the file is missing or not a script.
    """
    try:
        items = parse_json(read_text(path))
    except OSError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} cannot be read: {error.strerror}.", _HINT
        ) from error
    except ValueError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} is not JSON: {reason_of(error)}.", _HINT
        ) from error
    if not isinstance(items, list) or not items:
        raise ModelError("no-script", f"The script {path.name!r} is not a list of replies.", _HINT)
    return tuple(_reply(item, number, path) for number, item in enumerate(items, 1))


def _reply(item: Json, number: int, path: Path) -> ScriptedReply:
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        raise ModelError("no-script", f"Reply {number} of {path.name!r} is not a reply.", _HINT)
    reason = item.get("finish_reason")
    if reason is not None and reason not in get_args(FinishReason):
        raise ModelError(
            "no-script", f"Reply {number} of {path.name!r} ends with {reason!r}.", _HINT
        )
    delay = item.get("delay")
    return ScriptedTurn(
        Reply(
            text=_text(item, "text"),
            reasoning=_text(item, "reasoning"),
            refusal=_text(item, "refusal"),
            tool_calls=_calls(item.get("tool_calls")),
            finish_reason=next((each for each in get_args(FinishReason) if each == reason), None),
        ),
        error=_error(item.get("error")),
        delay=float(delay) if isinstance(delay, int | float) else None,
    )


def _calls(value: Json) -> tuple[ToolCall, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    calls: list[ToolCall] = []
    for each in value:
        if isinstance(each, Mapping):
            arguments = each.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            calls.append(ToolCall(_text(each, "id"), _text(each, "name"), text))
    return tuple(calls)


def _error(value: Json) -> ModelError | None:
    if not isinstance(value, Mapping):
        return None
    return ModelError(
        _text(value, "kind") or "server-error",
        _text(value, "message") or "The script fails here.",
        _text(value, "hint") or "The script says so.",
    )


def _text(item: JsonObject, key: str) -> str:
    return text_of(item.get(key))
