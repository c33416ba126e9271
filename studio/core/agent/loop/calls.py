"""The calls of a step: reading, checks, decisions and results; the interface of the tools."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, Protocol

from studio.core.agent.protocols.findings import SKIPPED, bad_call, rejected, unknown_tool
from studio.core.agent.values.breakpoints import ExpressionError, environment_of, parse_expression
from studio.core.agent.values.events import CallCheck, CallDecided, CallsChecked, ToolEnded
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, ReadingWarning, RequestedCall, ResultOrigin, replace
from studio.core.prompty.document import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome

# The interface of a run's tools; `studio.core.tools.toolbox.Toolbox` implements it.


class RunToolbox(Protocol):
    """The tools of one run."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is offered."""
        ...

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Return the problems of a call before it is made, one sentence each.

        Args:
            name: the tool.
            arguments: with the references of secrets.
            released: references whose values the tool would get.
        """
        ...

    def needs_approval(self, name: str) -> bool:
        """Return whether the user must be asked before the next call."""
        ...

    def why_approval(self, name: str) -> str:
        """Return why the user must be asked even if the tool's setting allows it; usually empty."""
        ...

    def approve(self, name: str) -> None:
        """Note that the user allowed a call."""
        ...

    def origin(self, name: str) -> ResultOrigin:
        """Return the origin of the tool's last answer, or of its next one."""
        ...

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Call a tool and return its outcome, failures included; cancel the task to stop the tool.

        Args:
            name: the tool.
            arguments: with the references of secrets.
            call_id: the call's identifier.
            released: references whose values the tool gets.
        """
        ...

    def live_output(self, call_id: str) -> str:
        """Return the output and progress of a running call, without secrets."""
        ...


class ToolboxAround:
    """A toolbox that wraps another one and forwards what a subclass does not override."""

    def __init__(self, inner: RunToolbox) -> None:
        """Wrap `inner`."""
        self._inner = inner

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the model is offered."""
        return self._inner.specs

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Check a call before it is made."""
        return self._inner.check(name, arguments, released)

    def why_approval(self, name: str) -> str:
        """Return why the user must be asked before the tool is called."""
        return self._inner.why_approval(name)

    def approve(self, name: str) -> None:
        """Note that a call was allowed."""
        self._inner.approve(name)

    def live_output(self, call_id: str) -> str:
        """Return the output of a running call."""
        return self._inner.live_output(call_id)


class NoTools:
    """The toolbox of a run without tools."""

    specs: tuple[ToolSpec, ...] = ()

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Return the error that no tool exists."""
        return (f"there is no tool {name!r}",)

    def needs_approval(self, name: str) -> bool:
        """Return False: no tool needs approval."""
        return False

    def why_approval(self, name: str) -> str:
        """Return an empty text: no tool needs approval."""
        return ""

    def approve(self, name: str) -> None:
        """Do nothing, since approvals are not recorded here."""

    def origin(self, name: str) -> ResultOrigin:
        """Return "live", as for a real call."""
        return "live"

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Return a failed outcome: no tool exists."""
        return ToolOutcome(f"there is no tool {name!r}", "unknown-tool")

    def live_output(self, call_id: str) -> str:
        """Return an empty text: no tool runs."""
        return ""


_REPEATS = 3
_LOOK_BACK = 20


def call_of(asked: RequestedCall) -> Call:
    """Build the call of the step from a call that a reply requests."""
    return Call(
        asked.id,
        asked.tool,
        asked.arguments,
        asked.text,
        problems=(asked.message,) if asked.error else (),
        error="format" if asked.error else None,
        repairs=asked.repairs,
    )


def call_key(call: Call) -> tuple[str, str]:
    """Return the key of a call: its tool and its arguments as JSON."""
    return call.tool, json_text(call.arguments)


def is_repeated(state: RunState, call: Call) -> bool:
    """Return whether the last steps made the same call at least twice."""
    return state.past_calls[-_LOOK_BACK:].count(call_key(call)) >= _REPEATS - 1


def repetition(call: Call) -> ReadingWarning:
    """Return the warning about a repeated call."""
    message = f"{call.tool!r} was called with the same arguments at least three times."
    return ReadingWarning("repeated_action", message)


def first_call(state: RunState, wanted: Callable[[Call], bool]) -> int | None:
    """Return the index of the first call for which `wanted` is true."""
    return next((at for at, call in enumerate(state.step.calls) if wanted(call)), None)


def with_call(state: RunState, index: int, **changes: Any) -> RunState:  # noqa: ANN401 - as replace
    """Return the state with one call of the step changed."""
    calls = list(state.step.calls)
    calls[index] = replace(calls[index], **changes)
    return replace(state, step=replace(state.step, calls=tuple(calls)))


def with_checks(state: RunState, event: CallsChecked) -> RunState:
    """Return the state with the results of the checks, and the arguments that bindings set."""
    state = replace(state, step=replace(state.step, at_once=event.at_once))
    for index, check in enumerate(event.checks):
        call = state.step.calls[index]
        if call.status != "asked":
            continue
        arguments = call.arguments if check.arguments is None else check.arguments
        state = with_call(
            state,
            index,
            problems=check.problems,
            error=check.kind or None,
            needs_approval=check.needs_approval,
            why=check.why,
            again=check.again,
            arguments=arguments,
            bound=check.bound,
        )
    return state


def call_error_text(state: RunState, call: Call) -> str:
    """Return the message to the model about a call that cannot run."""
    if call.error == "unknown_tool":
        return unknown_tool(call.tool, [tool.name for tool in state.setup.tools])
    if call.error == "guardrail":
        return f"Tool denied by guardrail: {'; '.join(call.problems)}"
    return bad_call(call.problems)


def tell_bad_calls(state: RunState) -> RunState:
    """Set the error of every call that cannot run as its result."""
    for index, call in enumerate(state.step.calls):
        if call.status == "asked" and call.problems:
            is_edited = state.error is not None and state.call == index and state.error.observation
            text = (
                state.error.observation
                if is_edited and state.error
                else call_error_text(state, call)
            )
            state = with_call(
                state, index, status="done", observation=text, is_error=True, origin="studio"
            )
    return state


def decided(state: RunState, event: CallDecided) -> RunState:
    """Return the state after the decision whether a call runs."""
    match event.decision:
        case "approve":
            return with_call(state, event.call, status="approved")
        case "reject":
            text = rejected(event.text)
            return with_call(
                state,
                event.call,
                status="rejected",
                observation=text,
                is_error=True,
                origin="studio",
            )
        case "answer":
            return with_call(
                state, event.call, status="answered", observation=event.text, origin="person"
            )
        case "skip":
            return with_call(
                state, event.call, status="skipped", observation=SKIPPED, origin="studio"
            )


def tool_ended(state: RunState, event: ToolEnded) -> RunState:
    """Return the state after a tool's result; a failed tool does not end the run."""
    outcome = event.outcome
    text = outcome.text
    if outcome.is_error and not text.startswith("Error"):
        text = f"Error: {text}"
    before = state.step.seconds_tools
    state = with_call(
        state,
        event.call,
        status="done",
        outcome=outcome,
        observation=text,
        is_error=outcome.is_error,
        origin=event.origin,
    )
    spent = max(0.0, state.step.seconds_tools - before)
    return replace(
        state,
        call=event.call,
        seconds=state.seconds + spent,
        seconds_tools=state.seconds_tools + spent,
    )


def check_calls(
    state: RunState, toolbox: RunToolbox, options: RunOptions, ran: AbstractSet[tuple[str, str]]
) -> CallsChecked:
    """Check calls: their problems, which need approval, and whether all can run in parallel.

    If one of them waits for approval, none runs in parallel with it: the result of the first call
    may change whether the user allows the next.
    """
    calls = state.step.calls
    checks = tuple(_check(state, index, toolbox, options, ran) for index in range(len(calls)))
    waits = any(
        check.needs_approval or (call.needs_approval and call.status != "asked")
        for call, check in zip(calls, checks, strict=True)
    )
    return CallsChecked(checks, at_once=not waits)


def _check(
    state: RunState,
    index: int,
    toolbox: RunToolbox,
    options: RunOptions,
    ran: AbstractSet[tuple[str, str]],
) -> CallCheck:
    call = state.step.calls[index]
    if call.status != "asked":
        return CallCheck()
    spec = {tool.name: tool for tool in toolbox.specs}.get(call.tool)
    if spec is None:
        return CallCheck((f"There is no tool {call.tool!r}.",), "unknown_tool")
    if call.arguments is None:
        return CallCheck(call.problems or ("The arguments are invalid.",), "format")
    denied = _denied(state, index, options)
    if denied is not None:
        return CallCheck((denied,), "guardrail")
    problems = toolbox.check(call.tool, call.arguments, state.released)
    if problems:
        return CallCheck(problems, "schema")
    # A tool with effects is never run again without a question (docs/design/agent-loop.md).
    again = spec.has_effects and call_key(call) in ran
    needs = options.approve != "always" and (toolbox.needs_approval(call.tool) or spec.dynamic)
    return CallCheck(
        needs_approval=needs or again,
        why=toolbox.why_approval(call.tool) if needs else "",
        again=again,
        bound=tuple(spec.bindings),
    )


def _denied(state: RunState, index: int, options: RunOptions) -> str | None:
    """Return the reason of the first guard that forbids a call."""
    return _forbidden("call", options, replace(state, call=index))


def denied_request(state: RunState, options: RunOptions) -> str | None:
    """Return the reason of the first guard that forbids the next request."""
    return _forbidden("request", options, state)


def denied_reply(state: RunState, options: RunOptions) -> str | None:
    """Return the reason of the first guard that forbids a reply."""
    return _forbidden("reply", options, state)


def _forbidden(on: str, options: RunOptions, state: RunState) -> str | None:
    """Return the reason of the first guard that is true; an unreadable guard forbids, too."""
    environment = environment_of(state)
    for guard in options.guards:
        try:
            if guard.on == on and parse_expression(guard.forbid).holds(environment):
                return guard.reason
        except ExpressionError as error:
            return f"the rule {guard.forbid!r} cannot be read: {error}"
    return None
