"""Debugger tools: an agent starts, steps through, edits, forks and compares runs."""

from collections.abc import Iterable
from dataclasses import replace

# The annotations must be evaluated: the SDK builds schemas from them and finds the functions that
# ask the user in them. It could not resolve those functions in strings.
from typing import Annotated, Any, Literal, TypeAlias

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from studio.application.run.text_commands import CommandError, breakpoint_of, command_of
from studio.core.agent.run.requests import NotAllowedError, choice_at
from studio.core.agent.values import commands, events
from studio.core.agent.values.breakpoints import Breakpoint, problem_of
from studio.core.agent.values.commands import Command
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.wire.request import Provider
from studio.servers.mcp.live_runs import LiveRun, LiveRuns, wish_for
from studio.servers.mcp.served_folder import ServedFolder, UserConsent, ask, needs
from studio.servers.record.session import refusal_for

# Common parameters and results of the tools, with their descriptions for clients.

Answer: TypeAlias = dict[str, Any]
"""Result of a tool: a JSON object."""

File: TypeAlias = Annotated[str, Field(description="A prompt file, relative to the served folder")]
UnsavedText: TypeAlias = Annotated[
    str | None, Field(description="Unsaved text to use instead of the file's")
]
Inputs: TypeAlias = Annotated[
    dict[str, Any] | None, Field(description="Values of the prompt's inputs, by name")
]
BodyForm: TypeAlias = Annotated[
    Provider | None,
    Field(description="Provider whose request body is built; by default, the prompt's"),
]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""Annotations of tools that change nothing and access nothing outside the folder."""

WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
"""Annotations of tools that may write a file in the folder."""


OUTWARD = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
"""Annotations of tools that may send a request to a model or call a tool."""

RunName: TypeAlias = Annotated[str, Field(description="Id of a run, or its beginning")]
ConnectionName: TypeAlias = Annotated[
    str, Field(description="Name of a connection that overrides the prompt's")
]
Model: TypeAlias = Annotated[str, Field(description="Id of a model that overrides the prompt's")]
Wait: TypeAlias = Annotated[
    float, Field(description="Seconds to wait until it pauses or ends", ge=0, le=3600)
]


class Break(BaseModel, extra="forbid"):
    """A breakpoint or log point."""

    at: str = Field(description="A pause point, or the name of a tool")
    condition: str = Field("", description="Only if this expression is true")
    hits: str = Field(
        "", description="Only the third time (3), from then on (>=3), every second (%2)"
    )
    log: str = Field(
        "", description="Write this to `console` and continue: {tool} took {call.elapsed}"
    )


Breaks: TypeAlias = Annotated[
    list[str | Break] | None,
    Field(
        description="Where to pause: 'PLACE' or 'TOOL', with ':CONDITION' if wanted, such as "
        "'tool_call', 'search:args.n > 3'; or an object, for a hit count or a log point. Places: "
        + ", ".join(each.word for each in PausePoint),
        max_length=50,
    ),
]
EditedThing: TypeAlias = Literal[
    "reply",
    "arguments",
    "observation",
    "answer",
    "message",
    "refuse",
    "skip",
    "result",
    "repair",
    "outcome_ran",
    "outcome_did_not_run",
]

_WORDS: dict[EditedThing, str] = {
    "reply": "reply",
    "arguments": "args",
    "observation": "obs",
    "answer": "final",
    "message": "say",
    "refuse": "no",
    "skip": "skip",
    "result": "as",
    "repair": "repair",
    "outcome_ran": "ran",
    "outcome_did_not_run": "not-run",
}


def add_debug_tools(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    """Add the tools for runs to a server."""
    _add_start(server, folder, runs)
    _add_moves(server, runs)
    _add_decisions(server, folder, runs)
    _add_fork(server, folder, runs)


def _add_start(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    async def may_send(
        ctx: Context, file: str, connection: str, model: str
    ) -> Elicit[UserConsent] | UserConsent:
        return ask_to_send(folder, ctx, file, connection, model)

    @server.tool(annotations=OUTWARD)
    async def run(
        file: File,
        consent: Annotated[UserConsent, Resolve(may_send)],
        inputs: Inputs = None,
        connection: ConnectionName = "",
        model: Model = "",
        max_steps: Annotated[
            int | None, Field(description="Maximum number of model calls", ge=1)
        ] = None,
        wait: Wait = 300,
    ) -> Answer:
        """Run a prompt or agent until it ends, or pauses because a decision is needed."""
        needs(consent)
        wish = wish_for(folder, file, inputs, connection, model)
        live = await runs.begin(replace(wish, most_steps=max_steps))
        await live.settle(wait)
        return runs.described(live)

    @server.tool(annotations=OUTWARD)
    async def start(
        file: File,
        consent: Annotated[UserConsent, Resolve(may_send)],
        inputs: Inputs = None,
        connection: ConnectionName = "",
        model: Model = "",
        breakpoints: Breaks = None,
        wait: Wait = 60,
    ) -> Answer:
        """Start a run in the debugger; it pauses before its first request."""
        needs(consent)
        wish = wish_for(folder, file, inputs, connection, model)
        made = breakpoints_of(breakpoints or [])
        live = await runs.begin(replace(wish, breakpoints=made, stops_first=True))
        await live.settle(wait)
        wrong = _problems(live.run.state, made)
        return runs.described(live) | ({"problems": wrong} if wrong else {})


def ask_to_send(
    folder: ServedFolder, context: Context, file: str, connection: str, model: str
) -> Elicit[UserConsent] | UserConsent:
    """Ask whether a prompt may be sent; a model on this machine needs no consent."""
    choice = folder.choice(folder.document(file), connection, model)
    if not choice.connection.is_remote:
        return UserConsent(allow=True)
    named = choice.declaration.id or choice.connection.model or "its model"
    question = (
        f"May {file!r} be run with {named} at {choice.connection.name!r}? It will be sent there."
    )
    return ask(folder, context, question)


def breakpoints_of(wanted: list[str | Break]) -> tuple[Breakpoint, ...]:
    """Return the breakpoints that a tool's caller wants.

    Raises:
        ToolError: one of them cannot be read.
    """
    try:
        return tuple(_breakpoint(each, number) for number, each in enumerate(wanted, 1))
    except CommandError as error:
        raise ToolError(str(error)) from None


def _breakpoint(wanted: str | Break, number: int) -> Breakpoint:
    if isinstance(wanted, str):
        return breakpoint_of(wanted, number)
    made = breakpoint_of(f"{wanted.at}:{wanted.condition}", number)
    return replace(made, hits=wanted.hits, log=wanted.log)


def _problems(state: RunState, breakpoints: Iterable[Breakpoint]) -> list[str]:
    """Return reasons why breakpoints can never be hit in a run."""
    tools = [tool.name for tool in state.setup.tools]
    found = ((each, problem_of(each, tools)) for each in breakpoints)
    return [
        f"{each.id}: {problem}; tools are {', '.join(tools) or 'none'}, places are "
        + ", ".join(place.word for place in PausePoint)
        for each, problem in found
        if problem
    ]


def _add_moves(server: MCPServer, runs: LiveRuns) -> None:
    @server.tool(annotations=OUTWARD)
    async def step(
        run: RunName,
        how: Annotated[
            Literal["into", "over", "out"],
            Field(
                description="into: the next place; over: past a model call or tool; out: the "
                "end of this step"
            ),
        ] = "into",
        wait: Wait = 60,
    ) -> Answer:
        """Step to the next stop in a run and return its state there."""
        return await _send(runs, run, commands.StepOn(how), wait)

    @server.tool(name="continue", annotations=OUTWARD)
    async def go_on(run: RunName, wait: Wait = 300) -> Answer:
        """Continue to the next breakpoint, problem or end of a run."""
        return await _send(runs, run, commands.Continue(), wait)

    @server.tool(annotations=OUTWARD)
    async def stop(run: RunName) -> Answer:
        """End a run now; work in progress is canceled."""
        return await _send(runs, run, commands.StopRun(), 30)

    @server.tool(annotations=OUTWARD)
    async def edit(
        run: RunName,
        what: Annotated[EditedThing, Field(description="What to replace in the run")],
        text: Annotated[
            str, Field(description="The new text; arguments as a JSON object; the name of a repair")
        ] = "",
    ) -> Answer:
        """Edit a paused run before it continues with `continue` or `step`."""
        live = runs.own(run)
        try:
            command = command_of(f"{_WORDS[what]} {text}".rstrip(), live.run.state, live.run.tree)
        except CommandError as error:
            raise ToolError(str(error)) from None
        if isinstance(command, str):
            raise ToolError(f"{what!r} needs `text`.")
        return await _send(runs, run, command, 10)

    @server.tool(annotations=READS)
    def breakpoints(run: RunName, set: Breaks = None) -> Answer:  # noqa: A002 - reads as an ask
        """Return the breakpoints of a run, or replace them."""
        live = runs.get(run)
        gate = live.run.gate
        if set is not None:
            made = breakpoints_of(set)
            if wrong := _problems(live.run.state, made):
                raise ToolError(" ".join(wrong))
            gate.options = replace(gate.options, breakpoints=made)
        return {
            "run": live.run.state.setup.run,
            "breakpoints": [
                {
                    "id": each.id,
                    "places": sorted(place.word for place in each.places),
                    "tool": each.tool,
                    "condition": each.condition,
                    "hits": each.hits,
                    "log": each.log,
                    "met": gate.counter.counts.get(each.id, 0),
                }
                for each in gate.options.breakpoints
            ],
        }


async def _send(runs: LiveRuns, name: str, command: Command, wait: float) -> Answer:
    live = runs.own(name)
    if live.program is not None and (why := refusal_for(live.program, (command,))):
        raise ToolError(why)
    try:
        live.run.send(command)
    except NotAllowedError as error:
        raise ToolError(f"{error} The run: {_place_of(live.run.state)}.") from None
    await live.settle(wait)
    return runs.described(live)


def _place_of(state: RunState) -> str:
    if state.is_over:
        return f"it is over ({state.status})"
    return f"step {state.iteration}, {state.place.word}" if state.place else "it is working"


def _add_decisions(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    async def may_decide(ctx: Context, run: str) -> Elicit[UserConsent] | UserConsent:
        return ask(folder, ctx, _question(runs.get(run)))

    @server.tool(annotations=OUTWARD)
    async def allow(
        run: RunName, consent: Annotated[UserConsent, Resolve(may_decide)], wait: Wait = 60
    ) -> Answer:
        """Ask the user to allow what a run waits for: a tool call or more steps."""
        live = runs.get(run)
        state = live.run.state
        if not consent.allow:
            raise ToolError(
                "The user did not allow it. `edit` can reject the call or give its result."
            )
        if choice_at(state) == "approval":
            return await _send(runs, run, commands.Approve(state.call or 0), wait)
        if state.error is None or state.error.code != "iterations":
            raise ToolError(
                "This limit can be raised in Prompt Studio: open the run in its history."
            )
        more = (state.limits.iterations or state.iteration) + 5
        await _send(runs, run, events.LimitRaised("iterations", more), 1)
        return await _send(runs, run, commands.Continue(), wait)


def _question(live: LiveRun) -> str:
    state = live.run.state
    match choice_at(state):
        case "approval":
            call = state.step.calls[state.call or 0]
            why = f" ({call.why.splitlines()[0]})" if call.why else ""
            return f"May the agent call {call.tool} with {call.text}?{why}"
        case "limit":
            return (
                f"The run reached a limit: {state.error.message if state.error else ''} Continue?"
            )
        case _:
            raise ToolError("The run is not waiting for a decision of the user.")


_KEPT_MESSAGES = (
    "The file has another text by now, but the messages of this step stay as they are: only a fork "
    "at `before_request` makes its request with the present text."
)


def _add_fork(server: MCPServer, folder: ServedFolder, runs: LiveRuns) -> None:
    async def may_fork(
        ctx: Context, run: str, file: str, connection: str, model: str
    ) -> Elicit[UserConsent] | UserConsent:
        if not file:
            return UserConsent(allow=True)
        return ask_to_send(folder, ctx, file, connection, model)

    @server.tool(annotations=OUTWARD)
    async def fork(
        run: RunName,
        step: Annotated[int, Field(description="The step to go back to", ge=1)],
        consent: Annotated[UserConsent, Resolve(may_fork)],
        place: Annotated[str, Field(description="A pause point of the step")] = "before_request",
        file: Annotated[
            str,
            Field(
                description="Prompt file with the text to continue with; for runs of the history"
            ),
        ] = "",
        connection: ConnectionName = "",
        model: Model = "",
    ) -> Answer:
        """Go back to a step of a run and pause there on a new branch; the old branch is kept."""
        needs(consent)
        at = PausePoint.of(place)
        if at is None:
            raise ToolError(f"{place!r} is not a pause point.")
        if runs.holds(run) and runs.get(run).program is not None:
            raise ToolError("A program has this run: stop the recording, then fork it with `file`.")
        if file:
            wish = wish_for(folder, file, None, connection, model)
            live = await runs.fork(run, step, at, wish)
        elif not runs.holds(run):
            raise ToolError("A run of the history needs `file`, the prompt to continue with.")
        elif connection or model:
            raise ToolError("`connection` and `model` need `file`, the prompt to continue with.")
        else:
            live = runs.own(run)
            found = live.run.tree.find(step, at)
            if found is None:
                raise ToolError(f"The run has no step {step} {at.word}.")
            command = commands.ForkFrom(found.id)
            if live.run.state.is_over:
                live.go(command)
            else:
                live.run.send(command)
        await live.settle(30)
        described = runs.described(live)
        is_other = bool(file) and wish.document.source.text != live.run.state.setup.source
        if is_other and at is not PausePoint.BEFORE_REQUEST:
            described["note"] = _KEPT_MESSAGES
        return described
