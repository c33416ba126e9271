"""From a user's command at a pause to the facts that it makes; pure, with what is allowed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, assert_never

from studio.core.agent.loop.steps import ending_error, used_up
from studio.core.agent.values.commands import (
    AnswerCall,
    Approve,
    ChooseModel,
    Command,
    Continue,
    EditReply,
    ForkFrom,
    PauseRun,
    Reject,
    RunTo,
    SendBack,
    SkipCall,
    Steer,
    StepOn,
    StopCall,
    StopRun,
    TakeRepair,
    TreatAsFinal,
)
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerEdited,
    AnswerReturned,
    CallDecided,
    CallEdited,
    ErrorObservationEdited,
    Event,
    Failed,
    Forked,
    LimitRaised,
    MessagesEdited,
    ModelChosen,
    ObservationEdited,
    OutcomeTold,
    Passed,
    ReplyEdited,
    Steered,
    TreatedAsFinal,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import CallStatus, PausePoint, Repair
from studio.core.wire.reply import Reply


class NotAllowedError(ValueError):
    """A command that is not possible at the current place; the text says why."""


_POINTS: dict[type, tuple[PausePoint, ...]] = {
    MessagesEdited: (PausePoint.BEFORE_REQUEST,),
    EditReply: (PausePoint.BEFORE_REQUEST, PausePoint.REPLY, PausePoint.ERROR),
    CallEdited: (PausePoint.TOOL_CALL, PausePoint.ERROR),
    ObservationEdited: (PausePoint.OBSERVATION,),
    ErrorObservationEdited: (PausePoint.ERROR,),
    AnswerEdited: (PausePoint.ANSWER, PausePoint.ERROR),
    Approve: (PausePoint.TOOL_CALL,),
    Reject: (PausePoint.TOOL_CALL,),
    AnswerCall: (PausePoint.TOOL_CALL,),
    SkipCall: (PausePoint.TOOL_CALL,),
    TakeRepair: (PausePoint.ERROR,),
    TreatAsFinal: (PausePoint.REPLY, PausePoint.ERROR),
    OutcomeTold: (PausePoint.ERROR,),
}


_WORDS: dict[type, str] = {
    MessagesEdited: "editing the messages",
    EditReply: "another reply",
    CallEdited: "editing a call",
    ObservationEdited: "another observation",
    ErrorObservationEdited: "another word on the error",
    AnswerEdited: "another answer",
    Approve: "allowing a call",
    Reject: "refusing a call",
    AnswerCall: "a result in the tool's place",
    SkipCall: "skipping a call",
    TakeRepair: "a repair",
    TreatAsFinal: "taking what came as the answer",
    OutcomeTold: "telling what became of a call",
    SendBack: "a message after the answer",
    ForkFrom: "going back",
    Continue: "going on",
    StepOn: "a step",
    RunTo: "running to a place",
    PauseRun: "a pause",
    StopRun: "stopping",
    StopCall: "stopping a call",
    Steer: "a message before the next step",
    LimitRaised: "raising a limit",
    ChooseModel: "another model",
}
"""Verb of each command, for the sentence that refuses it."""


_MOVES: frozenset[type] = frozenset({Continue, StepOn, RunTo})
"""Going on: what the reflex keys of a debugger do."""

Choice: TypeAlias = Literal["", "approval", "limit"]
"""Decision that only the user can make: whether a tool call runs, whether a limit is raised."""

_CHOICES: Mapping[Choice, str] = {
    "approval": "the call waits for approval: approve it, reject it, or answer in its place",
    "limit": "a limit is reached: raise it, or stop the run",
}


def choice_at(state: RunState) -> Choice:
    """Return the decision that the user must make before the run can continue.

    Going on decides nothing: a key that means "next" must not send a mail or end a run.
    """
    if state.pause is None:
        return ""
    error = state.error
    if state.place == PausePoint.ERROR and error is not None and error.kind == "limit":
        return "limit" if used_up(state) is not None else ""
    if state.place == PausePoint.TOOL_CALL and state.call is not None:
        call = state.step.calls[state.call]
        return "approval" if call.status == "asked" and call.needs_approval else ""
    return ""


def allowed(state: RunState) -> frozenset[type]:
    """Return the commands that are possible now; for enabling buttons."""
    if state.is_over:
        has_answer = state.status in ("done", "incomplete")
        return frozenset({ForkFrom, SendBack, ChooseModel} if has_answer else {ForkFrom})
    always: set[type] = {PauseRun, StopRun, Steer, LimitRaised, ChooseModel}
    if state.pause is None:
        if any(call.status == "running" for call in state.step.calls):
            always.add(StopCall)
        return frozenset(always)
    found = {kind for kind, points in _POINTS.items() if state.place in points}
    error = state.error
    if state.place == PausePoint.ERROR and error is not None:
        if error.kind == "outcome_unknown":
            return frozenset(always | {OutcomeTold, ForkFrom})
        found.discard(OutcomeTold)
        if not error.repairs:
            found.discard(TakeRepair)
        if not error.answer:
            found.discard(TreatAsFinal)
        if error.kind not in ("unknown_tool", "schema", "format", "guardrail"):
            found.discard(CallEdited)
        if not error.observation:
            found.discard(ErrorObservationEdited)
        if error.kind == "output":
            found.add(SendBack)
        else:
            found.discard(AnswerEdited)
    if state.place == PausePoint.ANSWER:
        found.add(SendBack)
    moves: frozenset[type] = frozenset() if choice_at(state) else _MOVES
    return moves | always | found | {ForkFrom}


def facts_of(state: RunState, command: Command) -> tuple[Event, ...]:  # noqa: C901, PLR0912 - arms
    """Return the events of a command; empty for commands that only move the run.

    Raises:
        NotAllowedError: it makes no sense where the run stands.
    """
    if type(command) not in allowed(state):
        choice = choice_at(state) if type(command) in _MOVES else ""
        if choice:
            raise NotAllowedError(_CHOICES[choice])
        where = state.place or ("after its end" if state.is_over else "while it works")
        raise NotAllowedError(f"{_WORDS[type(command)]} is not possible here ({where})")
    match command:
        case Continue() | StepOn() | RunTo() | PauseRun() | StopRun():
            return ()
        case StopCall(call=call):
            _row(state, call, "running")
            return ()
        case MessagesEdited() | ErrorObservationEdited() | AnswerEdited() | LimitRaised():
            return (command,)
        case EditReply(reply=reply):
            return (ReplyEdited(reply, given=state.place == PausePoint.BEFORE_REQUEST),)
        case CallEdited(call=call):
            _row(state, call, "asked")
            return (command,)
        case ObservationEdited(call=call):
            _row(state, call)
            return (command,)
        case Approve(call=call, others=others):
            rows = [_row(state, call, "asked")]
            if others:
                rows += _asked_after(state, call)
            return tuple(CallDecided(row, "approve", by="person") for row in rows)
        case Reject(call=call, reason=reason):
            return (CallDecided(_row(state, call, "asked"), "reject", reason, by="person"),)
        case AnswerCall(call=call, text=text):
            return (CallDecided(_row(state, call, "asked"), "answer", text, by="person"),)
        case SkipCall(call=call):
            return (CallDecided(_row(state, call, "asked"), "skip", by="person"),)
        case TakeRepair():
            return (_repair(state, command),)
        case TreatAsFinal(text=answer, always=always):
            offered = state.error.answer if state.error is not None else ""
            words = state.step.reply.text if state.step.reply is not None else ""
            return (TreatedAsFinal(answer if answer is not None else offered or words, always),)
        case OutcomeTold(call=call):
            _row(state, call, "unknown")
            return (command,)
        case Steer(text=text):
            is_ready = state.pause is not None and state.place == PausePoint.BEFORE_REQUEST
            return (Steered(text, is_ready),)
        case SendBack(text=text, continues=continues):
            return (AnswerReturned(text, continues),)
        case ChooseModel(model=model, over=over):
            return (ModelChosen(model, over),)
        case ForkFrom(checkpoint=checkpoint):
            return (Forked(checkpoint),)
        case _:
            assert_never(command)


def _row(state: RunState, call: int, status: CallStatus | None = None) -> int:
    """Return the row, if it has reached the state that the command needs."""
    if not 0 <= call < len(state.step.calls):
        raise NotAllowedError(f"there is no call {call}")
    held = state.step.calls[call]
    if status is not None and held.status != status:
        raise NotAllowedError(f"the call of {held.tool!r} is {held.status}, not {status}")
    if status is None and held.observation is None:
        raise NotAllowedError(f"the call of {held.tool!r} has no result yet")
    return call


def _asked_after(state: RunState, call: int) -> list[int]:
    """Return the rows below a call that may be approved with it: they run at the same time."""
    if not state.runs_at_once:
        raise NotAllowedError("the calls of this reply run one after the other")
    rows = enumerate(state.step.calls)
    return [row for row, each in rows if row > call and each.status == "asked"]


def _repair(state: RunState, command: TakeRepair) -> ReplyEdited:
    offered = state.error.repairs if state.error is not None else ()
    for call in state.step.calls:
        offered += call.repairs
    for repair in offered:
        if repair.name == command.name and (repair.span is not None or repair.call == command.call):
            reply = state.step.reply or Reply()
            return ReplyEdited(repaired(reply, repair), repair.name, always=command.always)
    raise NotAllowedError(f"no repair {command.name!r} is offered")


def repaired(reply: Reply, repair: Repair) -> Reply:
    """Return the reply with a repair made."""
    if repair.span is not None:
        text = reply.text[: repair.span.start] + repair.after + reply.text[repair.span.end :]
        return replace(reply, text=text, tool_calls=(*reply.tool_calls, *repair.calls))
    calls = list(reply.tool_calls)
    if repair.tool:
        calls[repair.call] = replace(calls[repair.call], name=repair.tool)
    else:
        calls[repair.call] = replace(calls[repair.call], arguments=repair.after)
    return replace(reply, tool_calls=tuple(calls))


_MOST_REPAIRS = 20
"""Limit of automatic repairs of one reply; a reply that needs more is reported unrepaired."""


def repair_switched_on(state: RunState) -> ReplyEdited | None:
    """Return the first offered repair that this run makes without asking."""
    if state.place != PausePoint.ERROR or state.error is None or state.step.reply is None:
        return None
    if len(state.step.repairs) >= _MOST_REPAIRS:
        return None
    for repair in state.error.repairs:
        is_on = (
            state.setup.repair == "always"
            or repair.name in state.repairs
            or set(repair.name.split("+")) <= state.repairs
        )
        if is_on:
            return ReplyEdited(repaired(state.step.reply, repair), repair.name)
    return None


def passing(state: RunState, place: PausePoint, *, headless: bool, accepted: bool) -> Event:
    """Return the fact of passing a place; only a user can accept a flawed answer."""
    is_answer = state.error is not None and state.error.kind == "output"
    error = None if is_answer and accepted else ending_error(state, headless=headless)
    if error is None and place == PausePoint.ERROR and is_answer and not accepted:
        error = state.error
    if error is not None:
        return Failed(error)
    if place == PausePoint.ERROR and is_answer:
        return AnswerChecked(state.answer_value, state.answer_problems, accepted=True)
    return Passed(place)
