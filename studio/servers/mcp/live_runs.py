"""The runs that an agent began or went on with through this server, and how they are driven.

Each is written to the history that the window shows, and locked there by this process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from studio.application.connections.model import choice_words
from studio.application.connections.tools import tool_session
from studio.application.history.find import find_run
from studio.application.run.past.again import past_run
from studio.application.run.start.readiness import refusal_of
from studio.application.run.start.session import begin_run, tool_scores_of
from studio.application.trust import references_of
from studio.core.agent.loop.setup import limits_of, run_model_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError, choice_at
from studio.core.agent.run.runner import Run
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import ChooseModel, Command, ForkFrom
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint, Step, StepError
from studio.core.masking.walk import masked
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.prompty.shapes import message_text
from studio.core.runs.codec import JournalError
from studio.core.runs.store import StoreError
from studio.core.text.values import Json
from studio.core.tools.source import ToolSourceError
from studio.core.wire.reply import Reply
from studio.servers.mcp.served_folder import ServedFolder, checked_inputs

# Where a run stands, as JSON: what an agent needs to decide on its next step.

_CHOICES = {
    "approval": "The call waits for the user: `allow` asks them; `edit` can refuse or answer it.",
    "limit": "A limit is reached: `allow` asks the user for more; `stop` ends the run.",
    "": "",
}


def state_as_json(run: str, state: RunState, *, is_working: bool, steps: bool) -> dict[str, Any]:
    """Encode a moment of a run as JSON.

    Args:
        run: its id.
        state: the run.
        is_working: whether something is under way; the state is then of a moment ago.
        steps: whether the steps that are done are told, too.
    """
    model = state.answered_by
    found: dict[str, Any] = {
        "run": run,
        "model": {"name": model.name, "id": model.id, "server": model.server},
        "status": "working" if is_working and not state.is_over else _status(state),
        "step": state.iteration,
        "place": state.place.word if state.place is not None else None,
        "why": _why(state),
        "current": _step(state.step),
        "error": _error(state.error),
        "answer": state.answer,
        "answer_problems": list(state.answer_problems),
        "tokens": {"input": state.usage.input_tokens, "output": state.usage.output_tokens},
        "cost": state.usage.cost,
    }
    if steps:
        found["steps"] = [_step(each) for each in state.steps]
    return found


def _status(state: RunState) -> str:
    return state.status if state.is_over or state.pause is None else "paused"


def _why(state: RunState) -> str:
    if state.pause is None:
        return ""
    words = [state.pause.reason, *state.pause.breakpoints, state.pause.text]
    return " ".join(filter(None, (*words, _CHOICES[choice_at(state)])))


def _step(step: Step) -> dict[str, Any]:
    return {
        "number": step.number,
        "messages": [{"role": item.role, "text": message_text(item)} for item in step.messages],
        "reply": _reply(step.reply if step.reply is not None else step.partial),
        "thought": step.reading.thought if step.reading is not None else "",
        "calls": [_call(each) for each in step.calls],
        "marks": sorted(step.marks),
        "warnings": [each.message for each in step.warnings],
    }


def _reply(reply: Reply | None) -> dict[str, Any] | None:
    if reply is None:
        return None
    calls = [{"tool": each.name, "arguments": each.arguments} for each in reply.tool_calls]
    return {"text": reply.text, "calls": calls}


def _call(call: Call) -> dict[str, Any]:
    return {
        "tool": call.tool,
        "arguments": call.arguments,
        "status": call.status,
        "needs_approval": call.needs_approval,
        "observation": call.observation,
        "is_error": call.is_error,
        "repairs": [each.name for each in call.repairs],
    }


def _error(error: StepError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {
        "kind": error.kind,
        "code": error.code,
        "message": error.message,
        "hint": error.hint,
        "repairs": [each.name for each in error.repairs],
    }


_MOST = 20
"""Runs that are held at once; those that are over leave first."""


@dataclass(frozen=True)
class RunWish:
    """The options of a run to start."""

    document: PromptDocument
    """The prompt."""

    inputs: Mapping[str, Json]
    """The values of its inputs."""

    choice: ModelChoice
    """Model that answers."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """Breakpoints of the run."""

    stops_first: bool = False
    """Whether it pauses before the first request."""

    most_steps: int | None = None
    """Model calls at most; None takes the prompt's own number."""


@dataclass(eq=False)
class LiveRun:
    """One run that this process drives."""

    run: Run
    """The run."""

    opened: AsyncExitStack
    """Lets go of its tools and of what answers it."""

    choice: ModelChoice
    """Model and connection that it began with."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with every fact of the run."""

    task: asyncio.Task[RunState] | None = None
    """Task that drives the run."""

    fault: str = ""
    """Reason of an abort from outside; empty if there was none."""

    @property
    def is_working(self) -> bool:
        """Whether it goes on by itself at the moment."""
        task = self.task
        if task is None or task.done():
            return False
        stands = self.run.state.pause is not None and self.run.state.place is not None
        return self.run.is_working or not stands

    def go(self, *first: Command) -> None:
        """Drive it, on from its end where it is over."""
        self.task = asyncio.create_task(self._drive(*first))

    async def _drive(self, *first: Command) -> RunState:
        try:
            return await self.run.go(*first)
        except (ModelError, ToolSourceError, NotAllowedError, StoreError) as error:
            self.fault = str(error)
            return self.run.state
        finally:
            self.changed.set()

    async def settle(self, seconds: float) -> None:
        """Wait until it pauses, is over, or the time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.sleep(0)  # a command that was just sent is taken first
                while self.is_working:
                    self.changed.clear()
                    await self.changed.wait()
                    await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop it where it goes on, and let go of what it holds."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            await asyncio.wait({self.task})
        await self.opened.aclose()


class LiveRuns:
    """The runs of this server, by their ids."""

    def __init__(self, folder: ServedFolder) -> None:
        self._folder = folder
        self._runs: dict[str, LiveRun] = {}

    def get(self, name: str) -> LiveRun:
        """Return the run of an id, or of the beginning of one.

        Raises:
            ToolError: this server drives none.
        """
        found = [live for run, live in self._runs.items() if name and run.startswith(name)]
        if len(found) != 1:
            known = ", ".join(self._runs) or "none"
            raise ToolError(f"This server drives no run {name!r}; it drives: {known}.")
        return found[0]

    def own(self, name: str) -> LiveRun:
        """Return a run that this server can still continue.

        Raises:
            ToolError: this server drives no such run, or the user has taken it over.
        """
        live = self.get(name)
        if not self._folder.history.owns(live.run.state.setup.run):
            raise ToolError(
                "The user has taken this run over in Prompt Studio; `state` says where it stands."
            )
        return live

    def drives(self, name: str) -> bool:
        """Return whether this server drives a run that was not taken over."""
        if not self.holds(name):
            return False
        return self._folder.history.owns(self.get(name).run.state.setup.run)

    def holds(self, name: str) -> bool:
        """Return whether this server drives a run of that id, or of the beginning of one."""
        return sum(run.startswith(name) for run in self._runs) == 1

    def described(self, live: LiveRun, *, steps: bool = False) -> dict[str, Any]:
        """Describe the state of a run, without secrets."""
        state = live.run.state
        found = state_as_json(state.setup.run, state, is_working=live.is_working, steps=steps)
        found |= {"connection": live.choice.connection.name, "chosen": choice_words(live.choice)}
        if live.fault:
            found |= {"status": "failed", "fault": live.fault}
        return masked(found, self._folder.secrets.masker)

    async def begin(self, wish: RunWish) -> LiveRun:
        """Start a run.

        Raises:
            ToolError: the prompt cannot be run as it stands, or its model or tools cannot be had.
        """
        refusal = refusal_of(
            wish.document,
            wish.inputs,
            references_of(wish.document.source.path, self._folder.trust),
        )
        if refusal is not None:
            raise ToolError(f"{refusal.text} {refusal.hint}")
        async with AsyncExitStack() as opened:
            return await self._take(await self._plan(wish, opened), opened, wish.choice)

    async def fork(self, name: str, step: int, place: PausePoint, wish: RunWish) -> LiveRun:
        """Go on with a run of the history from one of its steps, as a new branch of it.

        Raises:
            ToolError: there is no such run or step, or another process drives it.
        """
        history = self._folder.history
        try:
            line = find_run(history, name)
            whole = history.open(line.id)
        except (LookupError, JournalError) as error:
            raise ToolError(str(error)) from None
        if history.is_driven_elsewhere(line.id):
            raise ToolError("Another process drives this run (an open window, perhaps).")
        found = whole.tree.find(step, place)
        past = past_run(whole, found.id) if found is not None else None
        if found is None or past is None:
            raise ToolError(f"The run has no step {step} {place.word}.")
        async with AsyncExitStack() as opened:
            plan = await self._plan(wish, opened)
            had, now = past.state.answered_by, run_model_of(plan.model)
            chosen = () if now.is_same(had) else (ChooseModel(now, had, plan.model),)
            plan = replace(plan, past=past.to_take_up)
            return await self._take(plan, opened, wish.choice, ForkFrom(found.id), *chosen)

    async def close(self) -> None:
        """Stop all that still go on."""
        for live in tuple(self._runs.values()):
            await live.close()
        self._runs.clear()

    async def _plan(self, wish: RunWish, opened: AsyncExitStack) -> RunPlan:
        """Return the plan of a run, with its model and tools, which `opened` releases."""
        folder = self._folder
        trusted = folder.is_trusted(wish.document)
        path = wish.document.source.path
        references = references_of(path, folder.trust, masker=folder.secrets.masker)
        document = settled_document(wish.document, wish.inputs, references)
        limits = limits_of(document)
        if wish.most_steps is not None:
            limits = replace(limits, iterations=wish.most_steps)
        options = RunOptions(
            limits=limits, breakpoints=wish.breakpoints, stop_at_entry=wish.stops_first
        )
        tools = tool_session(folder.trust, folder.connections, folder.secrets)
        opened.push_async_callback(tools.close)
        try:
            how = "The user can add a connection for it in Prompt Studio."
            model = folder.answerers.open(wish.choice, path, trusted=trusted, how=how)
            opened.push_async_callback(model.close)
            prepared = prepare(document, wish.inputs, references=references)
            await tools.load(document, prepared.messages.tools)
        except (ModelError, ToolSourceError) as error:
            raise ToolError(str(error)) from None
        toolbox = tools.current.toolbox(prepared.inputs)
        return RunPlan(
            document, wish.inputs, model, toolbox, options=options, references=references
        )

    async def _take(
        self, plan: RunPlan, opened: AsyncExitStack, choice: ModelChoice, *first: Command
    ) -> LiveRun:
        changed = asyncio.Event()
        writers: list[Any] = []

        def write(event: Event) -> None:
            for writer in writers:
                writer.write(event)

        def keep_reply(reply: Reply) -> None:
            for writer in writers:
                writer.keep_reply(reply)

        await self._make_room()
        try:
            plan = replace(
                plan,
                journal=write,
                shown=lambda _event: changed.set(),
                kept=keep_reply,
                keep_call=lambda seq, call: writers[0].keep_call(seq, call) if writers else None,
            )
            run = begin_run(plan, scores=await tool_scores_of(plan))
            writers.append(self._folder.history.journal(run.state.setup.run))
        except (ModelError, StoreError, ValueError) as error:
            raise ToolError(str(error)) from None
        live = LiveRun(run, opened.pop_all(), choice, changed)
        self._runs[run.state.setup.run] = live
        live.go(*first)
        return live

    async def _make_room(self) -> None:
        over = [run for run, live in self._runs.items() if live.run.state.is_over]
        while len(self._runs) >= _MOST:
            if not over:
                raise ToolError(f"{_MOST} runs stand still; stop one first.")
            await self._runs.pop(over.pop(0)).close()


def wish_for(
    folder: ServedFolder,
    file: str,
    inputs: Mapping[str, Json] | None,
    connection: str,
    model: str,
) -> RunWish:
    """Return a run of a file, as a tool asks for it.

    Raises:
        ToolError: it names something that is not there.
    """
    document = folder.document(file)
    return RunWish(
        document, checked_inputs(document, inputs), folder.choice(document, connection, model)
    )
