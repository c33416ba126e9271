"""Bodies of Anthropic's messages API (Prompty spec §7.5)."""

from collections.abc import Mapping, Sequence
from typing import assert_never

from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, parse_json
from studio.core.wire.draft import (
    RequestDraft,
    described_tool,
    has_media,
    report_attributes,
    report_kind,
    resolve_media,
    result_id,
    takes_only,
    tool_calls,
)
from studio.core.wire.message_rules import ANTHROPIC, sent_attributes
from studio.core.wire.origins import ValueOrigin, message_origin, part_origin, text_origin
from studio.core.wire.responses import report_system
from studio.core.wire.schema import closed_schema

OPTIONS = {
    "temperature": "temperature",
    "maxOutputTokens": "max_tokens",
    "topP": "top_p",
    "topK": "top_k",
    "stopSequences": "stop_sequences",
}
_DEFAULT_MAX_TOKENS = 4096
_TAKEN = ("model", "messages", "system", "tools", "output_config", "max_tokens")
_SYSTEM = ("system", "developer")
_EFFORTS = {"minimal": "low"}


def anthropic_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of a messages request: system texts separate, results in user messages."""
    body: JsonDict = {"model": draft.model.id}
    system = [message for message in messages if message.role in _SYSTEM]
    if any("cache_control" in message.attributes for message in system):
        # Separate blocks, so that each can end the cached part.
        texts: list[Json] = []
        for message in system:
            draft.origins.note(texts, len(texts), text_origin(message))
            texts.append(_cached({"type": "text", "text": message.text}, message))
        body["system"] = texts
        report_system(messages, _SYSTEM, draft, ANTHROPIC)
    elif system:
        body["system"] = "\n\n".join(message.text for message in system)
        draft.origins.note_top("system", text_origin(*system, between="\n\n"))
        report_system(messages, _SYSTEM, draft, ANTHROPIC)
    body["messages"] = _messages(messages, draft)
    body["max_tokens"] = _DEFAULT_MAX_TOKENS
    # These two have their own place in the body, below.
    own = {"reasoningEffort": "output_config", "allowMultipleToolCalls": "parallel"}
    options = draft.options({**OPTIONS, **own}, _TAKEN)
    effort = options.pop("output_config", None)
    parallel = options.pop("parallel", None)
    body |= options
    tools: list[Json] = []
    for tool in draft.sendable_tools():
        draft.origins.note(tools, len(tools), ValueOrigin(tool.span))
        tools.append(described_tool(tool, draft, "input_schema"))
    if tools:
        body["tools"] = tools
        if parallel is False:
            choice = object_of(body.get("tool_choice"))
            body["tool_choice"] = {"type": "auto", **choice, "disable_parallel_tool_use": True}
            keys = ("model", "options", "allowMultipleToolCalls")
            draft.origins.note_top("tool_choice", ValueOrigin(draft.model.span, keys=keys))
    output: JsonDict = {}
    schema = draft.response_schema
    if schema is not None:
        held: JsonDict = {"type": "json_schema", "schema": closed_schema(schema)}
        output["format"] = held
        draft.note_outputs("output_config", held)
    if effort not in (None, "none"):
        output["effort"] = _EFFORTS.get(str(effort), effort)
        keys = ("model", "options", "reasoningEffort")
        draft.origins.note(output, "effort", ValueOrigin(draft.model.span, keys=keys))
    if output:
        body["output_config"] = output
    if draft.stream:
        body["stream"] = True
    return body


def _messages(messages: Sequence[Message], draft: RequestDraft) -> list[Json]:
    made: list[Json] = []
    results: list[Json] = []
    for message in messages:
        if message.role in _SYSTEM:
            continue
        if message.role == "tool":
            message = takes_only(message, draft, ("image", "file"))  # noqa: PLW2901
            # All results of a turn go into one user message.
            result: JsonDict = {
                "type": "tool_result",
                "tool_use_id": result_id(message),
                "content": _blocks(message, draft) if has_media(message) else message.text,
            }
            draft.origins.note_result(result, message, "tool_use_id", "content")
            results.append(_cached(result, message))
            continue
        if results:
            made.append({"role": "user", "content": results})
            results = []
        sent_attributes(message, draft, ANTHROPIC)
        blocks = _arranged(_blocks(message, draft), message.carried)
        if blocks and isinstance(blocks[-1], dict):
            _cached(blocks[-1], message)
        body: JsonDict = {"role": message.role, "content": blocks}
        draft.origins.note_message(body, message)
        draft.origins.note(made, len(made), message_origin(message))
        made.append(body)
    if results:
        made.append({"role": "user", "content": results})
    return made


def _cached(block: JsonDict, message: Message) -> JsonDict:
    """Return the block, marked as the end of the cached part if its message says so.

    A message's `cache_control` is a word (`ephemeral`), a time (`1h`), or the object itself.
    """
    cached = message.attributes.get("cache_control")
    if isinstance(cached, Mapping):
        block["cache_control"] = dict(cached)
    elif cached is not None and cached is not False:
        held: JsonDict = {"type": "ephemeral"}
        if cached in ("5m", "1h"):
            held["ttl"] = cached
        block["cache_control"] = held
    return block


_THINKING = ("thinking", "redacted_thinking")


def _arranged(blocks: list[Json], carried: Sequence[JsonObject]) -> list[Json]:
    """Return the blocks with the thinking that was received with them, in the original order.

    A provider that signs its thinking requires it back before the blocks that followed.
    """
    if not any(item.get("type") in _THINKING for item in carried):
        return blocks
    left = [block for block in blocks if block != {"type": "text", "text": ""}]
    made: list[Json] = []
    for item in carried:
        if item.get("type") in _THINKING:
            made.append(dict(item))
            continue
        at = next((at for at, block in enumerate(left) if _is_at(block, item)), None)
        if at is not None:
            made.append(left.pop(at))
    return [*made, *left]


def _is_at(block: Json, item: JsonObject) -> bool:
    """Return whether a block is the one whose place an item records."""
    if not isinstance(block, Mapping) or block.get("type") != item.get("type"):
        return False
    return "id" not in item or block.get("id") == item["id"]


def _blocks(message: Message, draft: RequestDraft) -> list[Json]:
    made: list[Json] = []
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                # The API rejects empty text beside other blocks.
                if not part.text and len(message.parts) > 1:
                    continue
                made.append({"type": "text", "text": part.text})
            case MediaPart():
                block = _media(part, draft)
                if block is None:
                    continue
                made.append(block)
            case ToolCallPart():
                continue
            case _:
                assert_never(part)
        draft.origins.note(made, len(made) - 1, part_origin(part, message))
    for call in tool_calls(message):
        draft.origins.note(made, len(made), part_origin(call, message))
        made.append(
            {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call, draft)}
        )
    return made or [{"type": "text", "text": ""}]


def _input(call: ToolCallPart, draft: RequestDraft) -> Json:
    """Return the arguments as an object; invalid JSON is kept whole under a descriptive key."""
    try:
        value = parse_json(call.arguments or "{}")
    except ValueError:
        value = call.arguments
    if isinstance(value, Mapping):
        return value
    draft.report(
        "tool-arguments",
        f"The arguments of {call.name!r} are not a JSON object; Anthropic gets them as '_raw'.",
        call.span,
        Severity.WARNING,
    )
    return {"_raw": value}


def _media(part: MediaPart, draft: RequestDraft) -> JsonDict | None:
    if part.kind in ("audio", "video"):
        report_kind(part, draft, "Anthropic")
        return None
    known = BLOCK_KEYS[-1:] if part.kind == "image" else BLOCK_KEYS
    report_attributes(part, draft, known)
    found = resolve_media(part, draft)
    kind = "image" if part.kind == "image" else "document"
    source: JsonDict
    if isinstance(found, str):
        source = {"type": "url", "url": found}
    elif kind == "document" and found.media_type.startswith("text/"):
        source = {"type": "text", "media_type": "text/plain", "data": found.text}
    else:
        source = {"type": "base64", "media_type": found.media_type, "data": found.data}
    further = {key: part.attributes[key] for key in known if key in part.attributes}
    return {"type": kind, "source": source, **further}


BLOCK_KEYS = ("title", "context", "citations", "cache_control")
"""Keys beside the source of a document; an image has the last one."""
