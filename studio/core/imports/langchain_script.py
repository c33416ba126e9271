"""The messages of a LangChain script that the studio exported: its literals, nothing is run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from studio.core.text.values import Json, JsonObject

PLACEHOLDER = "placeholder"
"""Role of a row that stands for a conversation; its content is the variable's name."""

CLASSES = {
    "system": "SystemMessage",
    "developer": "SystemMessage",
    "user": "HumanMessage",
    "assistant": "AIMessage",
    "tool": "ToolMessage",
}
"""LangChain's class of a message, by role."""


def read_rows(text: str) -> Iterator[tuple[str, Json, JsonObject]]:
    """Yield role, content and further keys of each message; a row with keys is no template.

    Raises:
        SyntaxError: the text is no Python.
        ValueError: a message is not a literal, or of a class that is not known.
    """
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
        return PLACEHOLDER, ast.literal_eval(item.args[0]), {}
    found = {keyword.arg: ast.literal_eval(keyword.value) for keyword in item.keywords}
    role = next((role for role, each in CLASSES.items() if each == name), "")
    if not role:
        raise ValueError(f"{name} is no class of a message")
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
