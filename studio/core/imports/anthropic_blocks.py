"""Convert the blocks of an Anthropic message to a thread's form; name those that no prompt has."""

from collections.abc import Iterator, Mapping

from studio.core.imports.gemini_body import gemini_rows
from studio.core.prompty.threads import PART_KINDS, ROLES, part_kind
from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of, objects_of
from studio.core.wire.anthropic import BLOCK_KEYS


def cached(block: Json) -> JsonDict:
    """Return the message attribute for a block that ends the cached part."""
    mark = object_of(object_of(block).get("cache_control"))
    return {"cache_control": mark.get("ttl", mark.get("type", True))} if mark else {}


def is_step(kind: Json) -> bool:
    """Return whether a block is the model's thinking or a server tool's step."""
    word = str(kind)
    steps = ("thinking", "redacted_thinking", "server_tool_use")
    return word in steps or (word.endswith("_tool_result") and word != "tool_result")


def thread_block(block: Json) -> Json:
    """Return a content block in a thread's form: texts lose `cache_control` and `citations`."""
    if not isinstance(block, Mapping):
        return block
    kind, inner = block.get("type"), object_of(block.get("source"))
    if kind in ("image", "document"):
        source = inner.get("url", inner.get("file_id"))
        if inner.get("type") == "base64":
            source = f"data:{inner.get('media_type')};base64,{inner.get('data')}"
        elif inner.get("type") == "text":
            source = f"data:{inner.get('media_type')},{str(inner.get('data')).replace('%', '%25')}"
        further = {key: block[key] for key in BLOCK_KEYS if key in block}
        if source is not None:
            return {"kind": "image" if kind == "image" else "file", "value": source, **further}
    return {"type": "text", "text": block.get("text", "")} if kind == "text" else block


CALLS = (
    *("function_call", "custom_tool_call"),
    *("function_call_output", "custom_tool_call_output"),
)
"""Item types of the Responses API: calls of tools, then their results."""


def foreign_parts(data: JsonObject, form: str) -> Iterator[str]:
    """Yield a note on each kind of item and block that is not part of a prompt.

    The model's thinking is left out, and reported by its keys.
    """
    listed = objects_of(data.get("input" if form == "openai-responses" else "messages"))
    for item in gemini_rows(data) if form == "gemini" else listed:
        kind, role = str(item.get("type", "message")), str(item.get("role", "user"))
        if role.lower() not in ROLES:
            yield f"messages: the role {role!r} is unknown; its message becomes a user message."
        for call in objects_of([item, *list_of(item.get("tool_calls"))]):
            if call.get("type") in ("custom", "custom_tool_call"):
                name = object_of(call.get("custom", call)).get("name")
                yield (
                    f"messages: a call of the custom tool {name!r} is one of a function here, "
                    "whose argument 'input' has its text."
                )
        if form == "openai-responses" and kind not in ("message", "reasoning", *CALLS):
            yield f"input: an item of type {kind!r} is not possible in a prompt; it is left out."
        for block in objects_of(item.get("content")):
            kind = part_kind(block)
            is_read = kind in PART_KINDS or kind == "tool_use"
            held = object_of(block.get("file", block.get("source"))).get("file_id")
            if held and is_read:
                yield f"messages: {held!r} is stored at the provider; save it beside the prompt."
            if not is_read and not (form == "anthropic" and is_step(kind)):
                yield f"messages: a block of type {kind!r} is not part of a prompt; it stays JSON."
