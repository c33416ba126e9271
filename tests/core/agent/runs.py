"""Runs for the loop's tests: real documents, the scripted model, tools that are plain functions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from studio.core.agent.run.runner import Run
from studio.core.agent.values.options import RunOptions
from studio.core.models.scripted import ScriptedModel, ScriptedReply
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome, tool_asked
from studio.core.tools.toolbox import check_arguments
from studio.core.wire.reply import Reply, ToolCall, Usage
from tests.support import patience
from tests.support.errors import has_errors
from tests.support.start_run import start_run

REACT = """---
name: Finder
inputs:
  question:
    kind: string
    required: true
---
system:
Thought:, then Action: and Args:, or Final Answer:.
{% for tool in tools %}- {{ tool.name }}: {{ tool.description }}
{% endfor %}
user:
Question: {{ question }}
{% for h in history %}Thought: {{ h.thought }}
Action: {{ h.action }}
Args: {{ h.arguments | tojson }}
Observation: {{ h.observation }}
{% endfor %}"""

JSON_ACTION = """---
name: Chooser
template:
  format: fstring
  parser: prompty
---
user:
Choose one of:
{tools}
- "final_answer": finish. Names: {tool_names}
Write {{"action": "…", "action_input": {{}}}}.
{chat_history}
{agent_scratchpad}
"""

NATIVE = """---
name: Caller
inputs:
  question: {kind: string, required: true}
tools:
  - name: search
    kind: function
    description: Find something.
    parameters:
      - {name: query, kind: string, required: true}
---
system:
Be brief.
user:
{{ question }}
"""


class Functions:
    """A toolbox of Python functions, called in this process."""

    def __init__(self, *functions: Callable[..., Any], ask: tuple[str, ...] = (), **specs: Any):
        self._functions = {function.__name__: function for function in functions}
        self._specs = {
            name: self._spec(name, function, specs) for name, function in self._functions.items()
        }
        self._ask = set(ask)
        self.called: list[tuple[str, JsonObject]] = []

    @staticmethod
    def _spec(name: str, function: Callable[..., Any], specs: dict[str, Any]) -> ToolSpec:
        names = list(inspect.signature(function).parameters)
        schema = {
            "type": "object",
            "properties": {item: {"type": "string"} for item in names},
            "required": names,
            "additionalProperties": False,
        }
        return ToolSpec(name, function.__doc__ or "", schema, **specs)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(self._specs.values())

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        return check_arguments(self._specs[name].parameters, arguments)

    def why_approval(self, name: str) -> str:
        return ""

    def needs_approval(self, name: str) -> bool:
        return name in self._ask

    def approve(self, name: str) -> None:
        self._ask.discard(name)

    def origin(self, name: str) -> Literal["live", "mock"]:
        return "live"

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        self.called.append((name, arguments))
        tool_asked()
        made = self._functions[name](**arguments)
        result = await made if isinstance(made, Awaitable) else made
        return result if isinstance(result, ToolOutcome) else ToolOutcome(str(result), "ok")

    def live_output(self, call_id: str) -> str:
        return f"{call_id} is at it"


def search(query: str) -> str:
    """Find something."""
    return f"found {query}"


def document(text: str) -> PromptDocument:
    """A parsed prompt."""
    made = parse(text)
    assert not has_errors(made), made.problems
    return made


def run_of(
    text: str,
    replies: list[ScriptedReply],
    *,
    tools: Functions | None = None,
    options: RunOptions | None = None,
    inputs: dict[str, Any] | None = None,
    **more: Any,
) -> tuple[Run, ScriptedModel]:
    """A run of a prompt over a script, headless where no options are given."""
    model = ScriptedModel(replies)
    run = start_run(
        document(text),
        {"question": "Where?"} if inputs is None else inputs,
        model,
        tools if tools is not None else Functions(search),
        options if options is not None else RunOptions(headless=True),
        run="r1",
        **more,
    )
    return run, model


def call(name: str = "search", arguments: str = '{"query": "x"}', call_id: str = "c1") -> ToolCall:
    """A native call."""
    return ToolCall(call_id, name, arguments)


def calling(*calls: ToolCall, text: str = "") -> Reply:
    """A reply that calls tools."""
    return Reply(text, tool_calls=calls, finish_reason="tool_calls", usage=Usage(10, 5))


class Session:
    """A run that is driven in the background while a test plays the person."""

    def __init__(self, run_: Run):
        self.run = run_
        self._task: asyncio.Task[Any] | None = None

    @classmethod
    def over(cls, text: str, replies: list[ScriptedReply], **more: Any) -> Session:
        """A session of a new run, interactive unless options say otherwise."""
        changed, streamed = asyncio.Event(), asyncio.Event()
        more.setdefault("options", RunOptions())
        made, model = run_of(
            text,
            replies,
            shown=lambda _: changed.set(),
            stream=lambda delta, reply: streamed.set(),
            **more,
        )
        session = cls(made)
        session.changed, session.streamed, session.model = changed, streamed, model
        return session

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, looked at after every fact."""
        while not holds():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), patience.SECONDS)

    async def until_still(self) -> str:
        """Let it run until it pauses or ends; gives the place, or the status."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self.run.go())
        while not (self._task.done() or (self.run.state.pause and not self.run.is_working)):
            self.changed.clear()
            waiter = asyncio.create_task(self.changed.wait())
            await asyncio.wait({self._task, waiter}, return_when=asyncio.FIRST_COMPLETED, timeout=5)
            waiter.cancel()
            await asyncio.sleep(0)
        if self._task.done():
            self._task.result()
            return self.run.state.status
        return self.run.state.place or ""

    async def send(self, *commands: Any) -> str:
        """Say something and let it run on."""
        if self.run.state.is_over:
            self._task = asyncio.create_task(self.run.go(*commands))
        else:
            for command in commands:
                self.run.send(command)
        await asyncio.sleep(0)
        return await self.until_still()

    async def close(self) -> None:
        """End it."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})
