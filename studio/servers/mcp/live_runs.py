"""The runs that an agent started or continued through this server.

Each run is written to the history that the window shows, and this process locks it there.
"""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError

from studio.application.connections.model import choice_words, tool_session
from studio.application.history.rows import find_run
from studio.application.run.debugging.console import ConsoleLine, event_lines
from studio.application.run.past.again import from_here, past_run
from studio.application.run.start.session import begin_run, refusal_of, tool_scores_of
from studio.application.trust import references_of
from studio.core.agent.loop.setup import limits_of, run_model_of
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError, choice_at
from studio.core.agent.run.runner import Run
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import ChooseModel, Command, StepOn
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState, steps_of
from studio.core.agent.values.step import Call, PausePoint, Step, StepError
from studio.core.masking.walk import masked
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import Message, PromptDocument
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.prompty.shapes import message_text
from studio.core.runs.codec import JournalError
from studio.core.runs.store import StoreError
from studio.core.text.diff import common_start
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolSourceError
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import CallLookup, WireCall
from studio.servers.mcp.served_folder import ServedFolder, checked_inputs
from studio.servers.record.program_run import ProgramRun

_CHOICES = {
    "approval": "The call waits for the user: `allow` asks; `edit` rejects it or gives its result.",
    "limit": "A limit was reached: `allow` asks the user to raise it; `stop` ends the run.",
    "": "",
}

_LONGEST = 6_000
"""Maximum number of characters of a text in an answer."""

_MOST_MESSAGES, _MOST_LINES = 40, 30
"""Maximum numbers of messages of a step and of console lines in an answer; the newest are kept."""

MOST_STEPS = 50
"""Maximum number of steps in one answer."""

_LEAST_SAME = 200
"""Minimum number of equal characters at the start of a message that are left out."""


@dataclass(frozen=True)
class KnownState:
    """The part of a run that its client knows from earlier answers."""

    where: str = ""
    """Step and place of the last answer; empty before the first."""

    messages: Sequence[Message] = ()
    """Messages of the request that the client has seen."""

    step: dict[str, Any] = field(default_factory=dict)
    """All other values of the step."""

    lines: int = 0
    """Number of console lines that the client has seen."""


NO_ANSWER = KnownState()
"""Known state before the first answer."""


def news_of(
    state: RunState,
    sent: CallLookup,
    known: KnownState,
    console: Sequence[ConsoleLine] = (),
    *,
    is_working: bool = False,
    steps: range | None = None,
    whole: bool = False,
) -> tuple[dict[str, Any], KnownState]:
    """Encode what is new in the state of a run as JSON; also return the new known state.

    Args:
        state: the run.
        sent: looks up the sent request and the received reply of a model call.
        known: what the client already knows.
        console: all lines of its console.
        is_working: whether the run is in progress, so that the state is already changing.
        steps: numbers of finished steps to include.
        whole: whether no text is cut and no message is left out.
    """
    step, model = state.step, state.answered_by
    call = sent(step.called) if step.called and step.reply is not None else None
    current = _step(step, known.messages, call, whole=whole)
    listed: tuple[str, ...] = ("messages_before", "messages")
    news = {name: current.pop(name) for name in listed if name in current}
    is_same = known.step.get("number") == step.number and known.step.keys() <= current.keys()
    before = known.step if is_same else {}
    news |= {key: each for key, each in current.items() if before.get(key) != each}
    if "calls" in news:
        news["calls"] = [each for each in news["calls"] if each not in before.get("calls", ())]
    found: dict[str, Any] = {
        "run": state.setup.run,
        "model": {"name": model.name, "id": model.id, "server": model.server},
        "status": "working" if is_working and not state.is_over else _status(state),
        "step": state.iteration,
        "place": state.place.word if state.place is not None else None,
        "new_since": known.where or None,
        "why": _why(state),
        "current": {"number": step.number, **news},
        "error": _error(state.error),
        "answer": state.answer,
        "answer_problems": list(state.answer_problems),
        "console": [_line(each) for each in console[known.lines :][-_MOST_LINES:]],
        "tokens": {"input": state.usage.input_tokens, "output": state.usage.output_tokens},
        "cost": state.usage.cost,
    }
    if steps is not None:
        done = steps_of(state)
        chosen = [at for at in range(len(done)) if at + 1 in steps]
        found["steps"] = [_step_after(done, at, sent) for at in chosen]
    where = f"step {state.iteration}, {state.place.word if state.place else found['status']}"
    return _filled(found), KnownState(where, step.messages, current, len(console))


def _filled(found: dict[str, Any]) -> dict[str, Any]:
    """Return the object without its empty values."""
    return {key: value for key, value in found.items() if value not in (None, "", [], {})}


def _status(state: RunState) -> str:
    return state.status if state.is_over or state.pause is None else "paused"


def _why(state: RunState) -> str:
    if state.pause is None:
        return ""
    words = [state.pause.reason, *state.pause.breakpoints, state.pause.text]
    return " ".join(filter(None, (*words, _CHOICES[choice_at(state)])))


def _step_after(steps: Sequence[Step], at: int, sent: CallLookup) -> dict[str, Any]:
    """Return a step with only the messages that the previous step did not have."""
    before = steps[at - 1].messages if at else ()
    return _step(steps[at], before, sent(steps[at].called))


def _step(
    step: Step, before: Sequence[Message], call: WireCall | None, *, whole: bool = False
) -> dict[str, Any]:
    """Encode a step as JSON.

    Args:
        step: the step.
        before: known messages, which are not repeated.
        call: sent request and received reply, if they were kept.
        whole: whether no text is cut and no message is left out.
    """
    messages = list(step.messages)
    same = common_start(list(before), messages)
    first = same if whole else max(same, len(messages) - _MOST_MESSAGES)
    shown = [
        _message(each, before[at] if at == same < len(before) else None, whole=whole)
        for at, each in enumerate(messages[first:], first)
    ]
    reply = step.reply if step.reply is not None else step.partial
    return _filled(
        {
            "number": step.number,
            "messages_before": first if shown and first else None,
            "messages": shown,
            "reply": _reply(reply, call, whole=whole) if reply is not None else None,
            "thought": step.reading.thought if step.reading is not None else "",
            "calls": [_call(row, each, whole=whole) for row, each in enumerate(step.calls)],
            "marks": sorted(step.marks),
            "warnings": [each.message for each in step.warnings],
        }
    )


def _message(message: Message, before: Message | None, *, whole: bool) -> dict[str, Any]:
    """Encode a message as JSON; if only its end grew, return only the added text."""
    text, same = message_text(message), 0
    if before is not None and before.role == message.role:
        same = text.rfind("\n", 0, common_start(message_text(before), text)) + 1
    same = same if same >= _LEAST_SAME else 0
    found = {
        "role": message.role,
        "same_start": same or None,
        "text": _text(text[same:], whole=whole),
    }
    return _filled(found)


def _text(text: str, *, whole: bool) -> str:
    """Return a text, shortened if it is long."""
    if whole or len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}… [{len(text):,} characters; `state` with `whole` returns all]"


def _reply(reply: Reply, call: WireCall | None, *, whole: bool) -> dict[str, Any]:
    """Encode a reply as JSON, with the model and the id that the server returned."""
    calls = [{"tool": each.name, "arguments": each.arguments} for each in reply.tool_calls]
    identity = {"model": call.model, "id": call.id} if call is not None else {}
    text = _text(reply.text, whole=whole)
    return _filled({"text": text, "calls": calls, "finish": reply.finish_reason, **identity})


def _call(row: int, call: Call, *, whole: bool) -> dict[str, Any]:
    seen = call.observation
    return _filled(
        {
            "row": row,
            "tool": call.tool,
            "arguments": call.arguments,
            "status": call.status,
            "needs_approval": call.needs_approval or None,
            "observation": _text(seen, whole=whole) if seen is not None else None,
            "is_error": call.is_error or None,
            "problems": list(call.problems),
            "repairs": [each.name for each in call.repairs],
            "seconds": round(call.outcome.duration, 3) if call.outcome is not None else None,
        }
    )


def _line(line: ConsoleLine) -> dict[str, Any]:
    return {"step": line.step, "kind": line.kind, "text": _text(line.text, whole=False)}


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
"""Maximum number of runs in memory; finished ones are removed first."""


@dataclass(frozen=True)
class RunWish:
    """The options of a run to start."""

    document: PromptDocument
    """The prompt."""

    inputs: JsonObject
    """Values of the inputs."""

    choice: ModelChoice
    """Model to use."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """Breakpoints of the run."""

    stops_first: bool = False
    """Whether the run pauses before the first request."""

    most_steps: int | None = None
    """Maximum number of model calls; None uses the number from the prompt."""


@dataclass(eq=False)
class LiveRun:
    """One run that this process drives."""

    run: Run
    """The run."""

    opened: AsyncExitStack
    """Resources of the run (tools and model client), closed with it."""

    choice: ModelChoice | None
    """Model and connection at the start of the run; None if a program chooses them."""

    program: ProgramRun | None = None
    """Conversation of a recorded program; None for a run of this server."""

    changed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set on each event of the run."""

    task: asyncio.Task[RunState] | asyncio.Task[None] | None = None
    """Task that drives the run."""

    fault: str = ""
    """Reason if the run was aborted from outside; otherwise empty."""

    console: list[ConsoleLine] = field(default_factory=list)
    """Console lines: log points, tool output, retries and repairs."""

    known: KnownState = NO_ANSWER
    """The part of the run that the agent knows."""

    @property
    def is_working(self) -> bool:
        """Whether the run is currently in progress."""
        task = self.task
        if task is None or task.done() or (self.program is not None and self.run.state.is_over):
            return False
        stands = self.run.state.pause is not None and self.run.state.place is not None
        return self.run.is_working or not stands

    def follow(self, event: Event) -> None:
        """Handle an event of the run."""
        self.console += event_lines(event, self.run.state)
        self.changed.set()

    def go(self, *first: Command) -> None:
        """Drive the run; a finished run continues from its end."""
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
        """Wait until the run pauses or ends, or the time is up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.sleep(0)  # let a command that was just sent be handled first
                while self.is_working:
                    self.changed.clear()
                    await self.changed.wait()
                    await asyncio.sleep(0)

    async def close(self) -> None:
        """Stop the run if it is in progress, and close its resources."""
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
        """Return the run with an id, or with an id that starts so.

        Raises:
            ToolError: this server drives no such run.
        """
        found = [live for run, live in self._runs.items() if name and run.startswith(name)]
        if len(found) != 1:
            known = ", ".join(self._runs) or "none"
            raise ToolError(f"This server has no run {name!r}; its runs are: {known}.")
        return found[0]

    def own(self, name: str) -> LiveRun:
        """Return a run that this server can still continue.

        Raises:
            ToolError: this server drives no such run, or the user has taken it over.
        """
        live = self.get(name)
        if not self._folder.history.owns(live.run.state.setup.run):
            raise ToolError(
                "The user has taken over this run in Prompt Studio; `state` returns its state."
            )
        return live

    def drives(self, name: str) -> bool:
        """Return whether this server drives a run that the user has not taken over."""
        if not self.holds(name):
            return False
        return self._folder.history.owns(self.get(name).run.state.setup.run)

    def holds(self, name: str) -> bool:
        """Return whether this server drives a run whose id is this, or starts so."""
        return sum(run.startswith(name) for run in self._runs) == 1

    def described(
        self, live: LiveRun, *, steps: range | None = None, whole: bool = False
    ) -> dict[str, Any]:
        """Describe what is new to the agent in the state of a run, without secrets.

        Args:
            live: the run.
            steps: numbers of finished steps to include.
            whole: whether the current step is described completely again.
        """
        state, tree = live.run.state, live.run.tree
        sent = partial(self._folder.history.call, state.setup.run)
        known = NO_ANSWER if whole else live.known
        found, live.known = news_of(
            state, sent, known, live.console, is_working=live.is_working, steps=steps, whole=whole
        )
        if tree.forks:
            found |= {"branch": tree.branch, "branches": sorted(tree.ends)}
        if live.choice is not None:
            found["connection"] = live.choice.connection.name
            if known is NO_ANSWER:
                found["chosen"] = choice_words(live.choice)
        if live.fault:
            found |= {"status": "failed", "fault": live.fault}
        return masked(found, self._folder.secrets.masker)

    def adopt(self, program: ProgramRun, task: asyncio.Task[None]) -> None:
        """Drive a conversation of a recorded program until its task ends."""
        name = program.run.state.setup.run
        self._runs[name] = LiveRun(program.run, AsyncExitStack(), None, program, task=task)
        task.add_done_callback(lambda _: self._runs.pop(name, None))

    async def begin(self, wish: RunWish) -> LiveRun:
        """Start a run.

        Raises:
            ToolError: the prompt cannot be run, or its model or tools cannot be opened.
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
        """Continue a run from one of its steps with the current prompt, as a new branch.

        If the prompt has changed, the request of the step has the new text.

        Raises:
            ToolError: there is no such run or step, or another process drives it.
        """
        history = self._folder.history
        if self.holds(name):
            await self._runs.pop(self.own(name).run.state.setup.run).close()
        try:
            line = find_run(history, name)
            whole = history.open(line.id)
        except (LookupError, JournalError) as error:
            raise ToolError(str(error)) from None
        if history.is_driven_elsewhere(line.id):
            raise ToolError("Another process is running it (perhaps an open window).")
        found = whole.tree.find(step, place)
        past = past_run(whole, found.id) if found is not None else None
        if found is None or past is None:
            raise ToolError(f"The run has no step {step} {place.word}.")
        wish = replace(wish, inputs={**past.setup.inputs, **wish.inputs})
        async with AsyncExitStack() as opened:
            plan = await self._plan(wish, opened)
            had, now = past.state.answered_by, run_model_of(plan.model)
            chosen = () if now.is_same(had) else (ChooseModel(now, had, plan.model),)
            plan = replace(plan, past=past.to_take_up)
            try:
                at, *edits = from_here(past, plan)
            except ModelError as error:
                raise ToolError(f"{error} {error.hint}") from None
            live = await self._take(plan, opened, wish.choice, at, *chosen, *edits)
        if at.checkpoint != found.id:
            await live.settle(30)
            live.run.send(StepOn("into"))
        return live

    async def close(self) -> None:
        """Stop all runs that are in progress."""
        for live in tuple(self._runs.values()):
            await live.close()
        self._runs.clear()

    async def _plan(self, wish: RunWish, opened: AsyncExitStack) -> RunPlan:
        """Create the plan of a run, with its model and tools, which `opened` closes."""
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
        writers: list[Any] = []
        made: list[LiveRun] = []

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
                shown=lambda event: made[0].follow(event) if made else None,
                kept=keep_reply,
                keep_call=lambda seq, call: writers[0].keep_call(seq, call) if writers else None,
            )
            run = begin_run(plan, scores=await tool_scores_of(plan))
            writers.append(self._folder.history.journal(run.state.setup.run))
        except (ModelError, StoreError, ValueError) as error:
            raise ToolError(str(error)) from None
        live = LiveRun(run, opened.pop_all(), choice)
        made.append(live)
        self._runs[run.state.setup.run] = live
        live.go(*first)
        return live

    async def _make_room(self) -> None:
        own = {run: live for run, live in self._runs.items() if live.program is None}
        over = [run for run, live in own.items() if live.run.state.is_over]
        for _ in range(len(own) - _MOST + 1):
            if not over:
                raise ToolError(f"{_MOST} runs are paused; stop one first.")
            await self._runs.pop(over.pop(0)).close()


def wish_for(
    folder: ServedFolder,
    file: str,
    inputs: JsonObject | None,
    connection: str,
    model: str,
) -> RunWish:
    """Return the options of a run that a tool requests.

    Raises:
        ToolError: a named file, input, connection or model does not exist.
    """
    document = folder.document(file)
    return RunWish(
        document, checked_inputs(document, inputs), folder.choice(document, connection, model)
    )
