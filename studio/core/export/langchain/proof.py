"""Reads a LangChain file that was written, and renders it as LangChain does."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from studio.core.export.chat_items import THREAD, as_sent, fill_items
from studio.core.export.consumers import CannotRender, Render, check_bounds, langchain_renderer
from studio.core.export.proof import Meaning, compare
from studio.core.export.target import ExportSource, Round
from studio.core.prompty.document import TemplateFormat
from studio.core.prompty.messages import Message
from studio.core.prompty.threads import read_thread
from studio.core.text.values import Json, JsonObject

CLASSES = {
    "system": "SystemMessage", "developer": "SystemMessage", "user": "HumanMessage",
    "assistant": "AIMessage", "tool": "ToolMessage",
}  # fmt: skip
"""LangChain's class of a message, by role."""


def langchain_rounds(
    source: ExportSource,
    text: str,
    form: TemplateFormat,
    partial: Mapping[str, Json],
    tools: Sequence[str],
) -> Iterator[Round]:
    """Read the list of messages out of the file, and render it as LangChain does."""
    rows = tuple(_read(text))
    render = langchain_renderer(form)
    for name, prepared in source.rounds.items():
        got: list[Message] = []
        try:
            check_bounds(prepared)
            for row in rows:
                got += _rendered(row, render, {**partial, **prepared.inputs})
        except CannotRender as error:
            yield Round(name, f"LangChain cannot render the prompt: {error}")
            continue
        got = list(as_sent(got))
        expected = as_sent(prepared.messages.messages)
        compared = compare(name, Meaning(_known(expected)), Meaning(_known(got)))
        yield replace(compared, tools=len(tools))


def _rendered(
    row: tuple[str, Json, JsonObject], render: Render, values: Mapping[str, Json]
) -> tuple[Message, ...]:
    role, content, further = row
    if role == THREAD:
        return read_thread(values.get(str(content)), {}, None) or ()
    item: JsonObject = {"role": role, "content": content, **further}
    if further or (content and isinstance(content, str) and role == "tool"):
        return read_thread([item], {}, None) or ()
    return fill_items([item], render, values)


def _known(messages: tuple[Message, ...] | list[Message]) -> tuple[Message, ...]:
    """Messages without what is told as lost already: attributes but names and call ids."""
    return tuple(replace(each, attributes=_kept(each.attributes)) for each in messages)


def _kept(attributes: JsonObject) -> JsonObject:
    return {key: item for key, item in attributes.items() if key in ("name", "tool_call_id")}


def _read(text: str) -> Iterator[tuple[str, Json, JsonObject]]:
    """Role, content and further keys of each message in a file that this module wrote."""
    for node in ast.parse(text).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        if node.targets[0].id != "MESSAGES" or not isinstance(node.value, ast.List):
            continue
        for item in node.value.elts:
            if isinstance(item, ast.Tuple):
                role, content = ast.literal_eval(item)
                yield {"human": "user", "ai": "assistant"}.get(role, role), content, {}
            elif isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
                yield _read_call(item.func.id, item)


def _read_call(name: str, item: ast.Call) -> tuple[str, Json, JsonObject]:
    if name == "MessagesPlaceholder":
        return THREAD, ast.literal_eval(item.args[0]), {}
    found = {keyword.arg: ast.literal_eval(keyword.value) for keyword in item.keywords}
    role = next(role for role, each in CLASSES.items() if each == name)
    if "additional_kwargs" in found:
        role = "developer"
    further: dict[str, Json] = {key: found[key] for key in ("name", "tool_call_id") if key in found}
    if "tool_calls" in found:
        further["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in found["tool_calls"]
        ]
    return role, found.get("content", ""), further or {"static": True}
