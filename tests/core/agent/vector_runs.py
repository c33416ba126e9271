"""Cases of Prompty's loop, run by ours: its toolbox, its guards, its stops and steering."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.core.agent.values.commands import Steer, StopRun
from studio.core.agent.values.events import ContextTrimmed, Passed, Rendered, ReplyRead, ToolEnded
from studio.core.agent.values.options import Guard, RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Limits, PausePoint, Step
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import Message, PromptDocument, ToolCallPart, ToolId, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import JsonObject
from studio.core.tools.registry import ToolEntry, ToolRegistry
from studio.core.tools.source import ToolOutcome
from studio.core.tools.toolbox import Toolbox
from tests.core.agent.loop_vectors import reply_of
from tests.support import patience
from tests.support.errors import has_errors
from tests.support.start_run import start_run

AT_STEP_END = PausePoint.STEP_END


class VectorSource:
    """Answers each call as the vector says: the first result left for these arguments."""

    label = "vector"

    def __init__(self, sequence: Sequence[Mapping[str, Any]], functions: Mapping[str, str]) -> None:
        self._functions = functions
        self._waiting: list[tuple[str, JsonObject, str]] = []
        self.called: list[tuple[str, JsonObject]] = []
        for turn in sequence:
            results = {item["tool_call_id"]: item for item in turn.get("tool_results") or ()}
            self._waiting += [
                (call["name"], call["arguments"], results[call["id"]]["result"])
                for call in turn["expected_tool_calls"] or ()
                if call["id"] in results
            ]

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        return ()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        self.called.append((name, arguments))
        if self._functions.get(name) == "raises RuntimeError":
            return ToolOutcome("RuntimeError: Weather service unavailable", "error")
        # What a binding put in comes on top of what the model wrote.
        found = next(
            each
            for each in self._waiting
            if each[0] == name and each[1].items() <= dict(arguments).items()
        )
        self._waiting.remove(found)
        return ToolOutcome(found[2], "ok")

    async def close(self) -> None:
        """Nothing to let go of."""


def document_of(messages: Sequence[Mapping[str, str]], tools: Sequence[Any], inputs: Any) -> Any:
    """The prompt file of a case."""
    front = {"name": "v", "tools": list(tools), "inputs": dict.fromkeys(inputs, "")}
    body = "\n".join(f"{item['role']}:\n{item['content']}" for item in messages)
    return parse(f"---\n{json.dumps(front)}\n---\n{body}")


def guards_of(rules: Mapping[str, Any]) -> tuple[Guard, ...]:
    made = []
    for where, on in (("input", "request"), ("output", "reply")):
        if rules.get(where, {}).get("action") == "deny":
            made.append(Guard(on, "true", rules[where]["reason"]))
    for name in rules.get("tool", {}).get("deny_tools", ()):
        made.append(Guard("call", f'tool == "{name}"', rules["tool"]["reason"]))
    return tuple(made)


class VectorRun:
    """A case run by the loop, with its cancellations and steering at their times."""

    def __init__(
        self, given: Mapping[str, Any], sequence: Sequence[Mapping[str, Any]], *more: str
    ) -> None:
        """Make a run.

        Args:
            given: the input of the case.
            sequence: its turns: what the model says, and what the tools answer.
            more: replies that our loop asks for where the vector's has ended.
        """
        self._steering = (given.get("steering") or {}).get("messages", ())
        self._cancel = (given.get("cancel") or {}).get("cancelled_at", "")
        inputs = given.get("parent_inputs") or {}
        self.document: PromptDocument = document_of(given["messages"], given["tools"], inputs)
        assert not has_errors(self.document), self.document.problems
        functions = given.get("tool_functions") or {}
        self.source = VectorSource(sequence, functions)
        entries = tuple(
            ToolEntry(replace(spec, id=ToolId("vector", spec.name))) for spec in self.document.tools
        )
        registry = ToolRegistry(entries)
        toolbox = Toolbox(lambda: registry, {"vector": self.source}, inputs=inputs)
        choices = [turn["llm_response"]["choices"][0] for turn in sequence]
        self.model = ScriptedModel([*map(reply_of, choices), *more])
        options = RunOptions(
            headless=True,
            limits=Limits(given.get("max_iterations", 10)),
            parallel=bool(given.get("parallel_tool_calls")),
            context_budget=given.get("context_budget"),
            guards=guards_of(given.get("guardrails") or {}),
        )
        self.run = start_run(self.document, inputs, self.model, toolbox, options, shown=self._shown)

    def _shown(self, event: object) -> None:
        if self._cancel == "before_iteration" and isinstance(event, Rendered):
            self.run.send(StopRun())
        if isinstance(event, ToolEnded) and self._cancel == f"after_tool_{event.call}":
            self.run.send(StopRun())
        if isinstance(event, ReplyRead):  # the next step begins with what is said in this one
            following = self.run.state.iteration + 1
            for item in self._steering:
                assert item["role"] == "user"
                if item["inject_before_iteration"] == following:
                    self.run.send(Steer(item["text"]))
        is_next = isinstance(event, Passed) and event.place == AT_STEP_END
        if is_next and self._cancel == f"before_iteration_{self.run.state.iteration}":
            self.run.send(StopRun())

    async def go(self, *, stopped_at_once: bool = False) -> RunState:
        first = (StopRun(),) if stopped_at_once else ()
        return await asyncio.wait_for(self.run.go(*first), patience.SECONDS)

    @property
    def steps(self) -> list[Step]:
        """The steps that had a reply."""
        state = self.run.state
        steps = [*state.steps, state.step]
        return list({step.number: step for step in steps if step.reply is not None}.values())

    @property
    def trimmed(self) -> tuple[Message, ...] | None:
        """The conversation after it was first made to fit; None where it was not."""
        events = (each for each in self.run.events if isinstance(each, ContextTrimmed))
        return next((event.messages for event in events), None)


def plain(message: Message) -> dict[str, Any]:
    """A message in the shape that the vectors' messages are compared in."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    return {
        "role": message.role,
        "content": message.text,
        "calls": [(part.id, part.name, part.arguments) for part in calls],
        "answers": message.attributes.get("tool_call_id"),
    }


def wanted(item: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a vector's message."""
    metadata = item.get("metadata") or {}
    assert set(metadata) <= {"tool_calls", "tool_call_id"}
    assert set(item) <= {"role", "content", "metadata"}
    for call in metadata.get("tool_calls") or ():
        assert (set(call), call["type"]) == ({"id", "type", "function"}, "function")
        assert set(call["function"]) == {"name", "arguments"}
    content = item["content"]
    if not isinstance(content, str):
        assert all((set(part), part["type"]) == ({"type", "text"}, "text") for part in content)
        content = "".join(part["text"] for part in content)
    return {
        "role": item["role"],
        "content": content,
        "calls": [
            (call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in metadata.get("tool_calls") or ()
        ],
        "answers": metadata.get("tool_call_id"),
    }
