"""Convert the blocks of an Anthropic message to a thread's form."""

from collections.abc import Mapping

from studio.core.text.values import Json, JsonDict, object_of


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
        further = {key: block[key] for key in ("title", "context", "citations") if key in block}
        if source is not None:
            return {"kind": "image" if kind == "image" else "file", "value": source, **further}
    return {"type": "text", "text": block.get("text", "")} if kind == "text" else block
