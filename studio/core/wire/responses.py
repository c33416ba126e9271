"""Bodies of OpenAI's responses API (Prompty spec §7.4 and its test vectors)."""

from collections.abc import Collection, Mapping, Sequence
from typing import assert_never

from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, JsonObject, list_of
from studio.core.wire.chat import function_definition
from studio.core.wire.draft import (
    SYSTEM_MOVED,
    RequestDraft,
    file_name,
    has_media,
    image_detail,
    merged_text,
    report_attributes,
    report_kind,
    report_text_only,
    resolve_media,
    result_id,
    takes_only,
    tool_calls,
)
from studio.core.wire.media import MediaData, is_web
from studio.core.wire.message_rules import RESPONSES, MessageRules, sent_attributes
from studio.core.wire.origins import ValueOrigin, message_origin, part_origin, text_origin
from studio.core.wire.schema import strict_schema

OPTIONS = {
    "temperature": "temperature",
    "maxOutputTokens": "max_output_tokens",
    "topP": "top_p",
    "allowMultipleToolCalls": "parallel_tool_calls",
}
_TAKEN = ("model", "input", "instructions", "tools")
_REASONING = "reasoning.encrypted_content"
_SYSTEM = ("system", "developer")


def responses_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of a responses request; system messages become its instructions."""
    body: JsonDict = {"model": draft.model.id}
    system = [message for message in messages if message.role in _SYSTEM]
    if system:
        body["instructions"] = "\n\n".join(message.text for message in system)
        draft.origins.note_top("instructions", text_origin(*system, between="\n\n"))
        report_system(messages, _SYSTEM, draft, RESPONSES)
    items: list[Json] = []
    for message in messages:
        if message.role not in _SYSTEM:
            first = len(items)
            items += _items(message, draft)
            for index in range(first, len(items)):
                draft.origins.note(items, index, message_origin(message))
    body["input"] = items
    text = _add_options(body, draft)
    tools: list[Json] = []
    for tool in draft.sendable_tools():
        described: JsonDict = {"type": "function", **function_definition(tool)}
        draft.origins.note_tool(described, tool, "parameters")
        draft.origins.note(tools, len(tools), ValueOrigin(tool.span))
        tools.append(described)
    if tools:
        body["tools"] = tools
    schema = draft.response_schema
    if schema is not None:
        held: JsonDict = {
            "type": "json_schema",
            "name": "structured_output",
            "strict": True,
            "schema": strict_schema(schema),
        }
        text["format"] = held
        draft.note_outputs("text", held)
    if text:
        body["text"] = text
    if draft.stream:
        body["stream"] = True
    return body


def _add_options(body: JsonDict, draft: RequestDraft) -> JsonDict:
    """Add the options; return the author's own `text`, to which the outputs are added."""
    effort = draft.model.options.get("reasoningEffort")
    options = draft.options({**OPTIONS, "reasoningEffort": "effort"}, _TAKEN)
    options.pop("effort", None)
    text, reasoning = _mapping(options.pop("text", None)), _mapping(options.pop("reasoning", None))
    if "response_format" in options:
        text["format"] = _format(_mapping(options.pop("response_format")))
    if "verbosity" in options:
        text["verbosity"] = options.pop("verbosity")
    body |= options
    if effort is not None:
        reasoning["effort"] = effort
        keys = ("model", "options", "reasoningEffort")
        draft.origins.note_top("reasoning", ValueOrigin(draft.model.span, keys=keys, is_deep=True))
    if reasoning:
        body["reasoning"] = reasoning
    if draft.keeps_nothing and "store" not in body and "previous_response_id" not in body:
        body["store"] = False
        asked = list_of(body.get("include"))
        body["include"] = asked if _REASONING in asked else [*asked, _REASONING]
    return text


def _format(asked: JsonDict) -> JsonDict:
    """Return a `response_format` of chat completions in this API's form."""
    return {
        **{k: v for k, v in asked.items() if k != "json_schema"},
        **_mapping(asked.get("json_schema")),
    }


def _items(message: Message, draft: RequestDraft) -> list[Json]:
    if message.role == "tool":
        message = takes_only(message, draft, ("image", "file"))
        result: JsonDict = {
            "type": "function_call_output",
            "call_id": result_id(message),
            "output": _blocks(message, draft) if has_media(message) else message.text,
        }
        draft.origins.note_result(result, message, "call_id", "output")
        return [result]
    calls = tool_calls(message)
    sent_attributes(message, draft, RESPONSES)
    text = merged_text(message)
    items: list[Json] = []
    if text is None or text or not calls:
        content: Json = text if text is not None else _blocks(message, draft)
        body: JsonDict = {"role": message.role, "content": content}
        draft.origins.note_message(body, message)
        if text is not None:
            draft.origins.note(body, "content", text_origin(message))
        items.append(body)
    for call in calls:
        made: JsonDict = {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        }
        for key in made:
            draft.origins.note(made, key, part_origin(call, message))
        items.append(made)
    return _arranged(items, message.carried)


def _mapping(value: Json) -> JsonDict:
    return dict(value) if isinstance(value, Mapping) else {}


def _arranged(items: list[Json], carried: Sequence[JsonObject]) -> list[Json]:
    """Return the items of a reply with its reasoning, in the order received."""
    left = [*items]
    made: list[Json] = []
    for each in carried:
        kind = each.get("type")
        if kind == "reasoning":
            made.append(dict(each))
            continue
        at = next((at for at, item in enumerate(left) if _is_at(item, each)), None)
        if at is None:
            continue
        found = left.pop(at)
        if kind == "message" and isinstance(found, dict) and each.get("phase"):
            found["phase"] = each["phase"]
        made.append(found)
    return [*made, *left]


def _is_at(item: Json, place: JsonObject) -> bool:
    """Return whether an item is the one whose place was recorded."""
    if not isinstance(item, Mapping):
        return False
    if place.get("type") == "message":
        return "role" in item
    return "call_id" in item and item["call_id"] == place.get("call_id")


def report_system(
    messages: Sequence[Message], roles: Collection[str], draft: RequestDraft, rules: MessageRules
) -> None:
    """Report what is lost when all system messages are merged before the conversation."""
    has_begun = False
    for message in messages:
        if message.role not in roles:
            has_begun = True
            continue
        sent_attributes(message, draft, rules)
        report_text_only(message, draft, f"What {rules.who} takes from a system message")
        if has_begun:
            draft.report(
                SYSTEM_MOVED,
                f"{rules.who} only accepts system messages before the conversation: this one is "
                "moved there.",
                message.origin.marker,
                Severity.HINT,
            )


def _blocks(message: Message, draft: RequestDraft) -> list[Json]:
    text_type = "output_text" if message.role == "assistant" else "input_text"
    made: list[Json] = []
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                made.append({"type": text_type, "text": part.text})
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
    return made


def _media(part: MediaPart, draft: RequestDraft) -> JsonDict | None:
    if part.kind in ("audio", "video"):
        report_kind(part, draft, "The responses API")
        return None
    found = resolve_media(part, draft)
    if part.kind == "image":
        report_attributes(part, draft, ("detail", "quality"))
        made: JsonDict = {
            "type": "input_image",
            "image_url": found.uri if isinstance(found, MediaData) else found,
        }
        detail = image_detail(part, draft)
        if detail is not None:
            made["detail"] = detail
        return made
    report_attributes(part, draft)
    if isinstance(found, MediaData):
        name = file_name(part, found)
        return {"type": "input_file", "filename": name, "file_data": found.uri}
    return {"type": "input_file", "file_url" if is_web(found) else "file_id": found}
