"""The nodes of the loop diagram, and the places of a run that they stand for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.step import ErrorKind

Node: TypeAlias = Literal[
    "prompt", "model", "reply", "action", "tool", "observation", "final", "done"
]
"""The stations of one turn of the loop, in the order that they are drawn."""

NODES: tuple[Node, ...] = (
    "prompt",
    "model",
    "reply",
    "action",
    "tool",
    "observation",
    "final",
    "done",
)
"""All of them; the first six are the loop, the last two leave it."""

NODE_OF_PLACE: dict[PausePoint, Node] = {
    PausePoint.BEFORE_REQUEST: "prompt",
    PausePoint.REPLY: "reply",
    PausePoint.TOOL_CALL: "action",
    PausePoint.OBSERVATION: "observation",
    PausePoint.STEP_END: "observation",
    PausePoint.ANSWER: "final",
}
"""The node where a run stands at a place."""

NODE_OF_ERROR: dict[ErrorKind, Node] = {
    "format": "reply",
    "model": "model",
    "unknown_tool": "action",
    "schema": "action",
    "tool": "observation",
    "timeout": "tool",
    "limit": "prompt",
    "refusal": "reply",
    "repeated_action": "action",
    "guardrail": "action",
    "output": "final",
    "outcome_unknown": "tool",
    "render": "prompt",
    "journal": "prompt",
}
"""The node where a problem stands."""

CHAT_NODES: tuple[Node, ...] = ("prompt", "model", "reply", "final", "done")
"""The nodes of a prompt without tools: it has no loop."""

PLACE_OF_NODE: dict[Node, PausePoint] = {
    "prompt": PausePoint.BEFORE_REQUEST,
    "reply": PausePoint.REPLY,
    "action": PausePoint.TOOL_CALL,
    "observation": PausePoint.OBSERVATION,
    "final": PausePoint.ANSWER,
}
"""Nodes that a breakpoint can stand at, with their place."""
