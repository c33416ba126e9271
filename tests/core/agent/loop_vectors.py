"""The loop vectors: where they are, and replies made from their cases."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from studio.core.agent.protocols.findings import ReadRules
from studio.core.prompty.document import ToolSpec
from studio.core.wire.reply import Reply, ToolCall

ROOT = Path(__file__).resolve().parents[3]


def load(name: str) -> list[dict[str, Any]]:
    """The cases of one vector file; skips where the folder is absent."""
    folder = Path(os.environ.get("LOOP_VECTORS", ROOT / "../shared/vectors/loops"))
    if not folder.is_dir():
        pytest.skip(f"no loop vectors at {folder} (set LOOP_VECTORS)", allow_module_level=True)
    return json.loads((folder / name).read_text(encoding="utf-8"))


def reply_of(given: Any) -> Reply:
    """The reply that a case describes: a text, or a chat-completions message."""
    if isinstance(given, str):
        return Reply(text=given, finish_reason="stop")
    message = given["message"]
    raw = message.get("tool_calls") or []
    if message.get("function_call"):
        raw = [{"id": "", "function": message["function_call"]}]
    calls = tuple(
        ToolCall(
            item.get("id") or "", item["function"]["name"], item["function"]["arguments"] or ""
        )
        for item in raw
    )
    reason = given.get("finish_reason") or "stop"
    return Reply(
        text=message.get("content") or "",
        refusal=message.get("refusal") or "",
        tool_calls=calls,
        finish_reason="tool_calls" if reason == "function_call" else reason,
    )


def text_tool(name: str) -> ToolSpec:
    """A tool that takes one string, as the older ReAct dialects mean it."""
    schema = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
    return ToolSpec(name, parameters=schema)


def rules_for(case: dict[str, Any]) -> ReadRules:
    """Reading rules that fit a case's dialect."""
    dialect = case.get("dialect", "")
    labels = ("Answer",) if "Answer: ends" in dialect else ()
    labels = ("AI",) if "AI:" in dialect else labels
    tool = case["expected"].get("tool")
    is_free = case.get("adopt") == "dialect"
    return ReadRules(
        tools=(text_tool(tool),) if is_free and tool else (),
        free_text=is_free,
        answer_labels=labels,
    )
