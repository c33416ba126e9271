"""A real run for the pane's tests: a prompt file, a scripted model, and tools in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import RunSetup
from studio.core.models.base import ModelRequest
from studio.core.models.scripted import ScriptedModel, ScriptedReply
from studio.core.paths import resource
from studio.core.prompty.document import ToolId, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.text.values import JsonObject
from studio.core.tools.registry import ToolEntry, ToolRegistry
from studio.core.tools.source import ToolOutcome
from studio.core.tools.toolbox import Toolbox
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.wire_call import KeptCall, WireCall

QUESTION = "What is the capital of France, and its letters squared?"
LOOKUP = 'Thought: I look it up.\nAction: lookup\nArgs: {"fact": "capital of France"}'
CALCULATE = 'Thought: Five letters.\nAction: calculator\nArgs: {"expression": "5 ** 2"}'
FINAL = "Thought: I know it all.\nFinal Answer: It is **Paris**, and 25."
BROKEN = 'Thought: Look it up.\nAction: lookup\nArgs: {"fact": "capital of France",}'


class LocalTools:
    """Runs functions in the loop; a call of `wait` never ends by itself."""

    label = "local"

    def __init__(self) -> None:
        self.called: list[tuple[str, JsonObject]] = []
        self._facts = {"capital of France": "Paris", "capital of Italy": "Rome"}

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        return ()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        self.called.append((name, arguments))
        if name == "wait":
            await asyncio.Event().wait()
        if name == "lookup":
            fact = self._facts.get(str(arguments.get("fact")))
            if fact is None:
                return ToolOutcome("no such fact", "error", stderr="looked in 2 facts\n")
            return ToolOutcome(fact, "ok", stderr="looked in 2 facts\n")
        return ToolOutcome("25", "ok")

    async def close(self) -> None:
        """Nothing to let go of."""


def spec(name: str, parameter: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string"}},
        "required": [parameter],
    }
    return ToolSpec(name, f"The {name} tool.", schema, source="tools.py")


def toolbox(tools: LocalTools, approval: str = "allow") -> Toolbox:
    entries = tuple(
        ToolEntry(
            replace(spec(name, parameter), id=ToolId("local", name)),
            approval=approval,  # type: ignore[arg-type]
        )
        for name, parameter in (("lookup", "fact"), ("calculator", "expression"), ("wait", "for"))
    )
    registry = ToolRegistry(entries)
    return Toolbox(lambda: registry, {"local": tools})


class HeldModel(ScriptedModel):
    """Holds each piece of a reply back but the first, until the test lets it go."""

    def __init__(self, replies: Sequence[ScriptedReply]) -> None:
        super().__init__(replies)
        self._gates: list[Future[None]] = [Future() for _ in range(1000)]
        self._passed, self._opened = 0, 0

    def go_on(self, pieces: int = 1) -> None:
        for gate in self._gates[self._opened : self._opened + pieces]:
            gate.set_result(None)
        self._opened += pieces

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        async for delta in super().stream(request):
            yield delta
            self._passed += 1
            await asyncio.wrap_future(self._gates[self._passed - 1])


def plan(
    replies: Sequence[ScriptedReply] | ScriptedModel,
    *,
    tools: LocalTools | None = None,
    approval: str = "allow",
    example: str = "react-agent.prompty",
    options: RunOptions | None = None,
) -> RunPlan:
    path: Path = resource("examples", example)
    document = parse(path.read_text(encoding="utf-8"), path)
    return RunPlan(
        document,
        {"question": QUESTION},
        replies if isinstance(replies, ScriptedModel) else ScriptedModel(replies),
        toolbox(tools or LocalTools(), approval),
        options=options or RunOptions(),
    )


class ListJournal:
    """Keeps facts in a list, with what had been shown when each was written."""

    def __init__(self, shown: Callable[[], int] = lambda: 0) -> None:
        self.setups: list[RunSetup] = []
        self.replies: list[Reply] = []
        self.events: list[Event] = []
        self._shown = shown

    def begin(self, setup: RunSetup) -> None:
        self.setups.append(setup)

    def keep_reply(self, run: str, reply: Reply) -> None:
        self.replies.append(reply)

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Models of this program send nothing."""

    def call(self, run: str, seq: int) -> None:
        """Nothing is kept."""

    def write(self, run: str, event: Event) -> None:
        assert run == self.setups[-1].run
        self.events.append(event)
