"""Pure functions from a user's command at a pause to its events, and the commands allowed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeAlias, assert_never

from studio.core.agent.loop.steps import ending_error, used_up
from studio.core.agent.values import commands, events
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import CallStatus, PausePoint, Repair
from studio.core.wire.reply import Reply


class NotAllowedError(ValueError):
    """A command that is not possible at the current pause point; the text says why."""


_POINTS: dict[type, tuple[PausePoint, ...]] = {
    events.MessagesEdited: (PausePoint.BEFORE_REQUEST,),
    commands.SetOptions: (PausePoint.BEFORE_REQUEST,),
    commands.EditReply: (PausePoint.BEFORE_REQUEST, PausePoint.REPLY, PausePoint.ERROR),
    events.CallEdited: (PausePoint.TOOL_CALL, PausePoint.ERROR),
    events.ObservationEdited: (PausePoint.OBSERVATION,),
    events.ErrorObservationEdited: (PausePoint.ERROR,),
    events.AnswerEdited: (PausePoint.ANSWER, PausePoint.ERROR),
    commands.Approve: (PausePoint.TOOL_CALL,),
    commands.Reject: (PausePoint.TOOL_CALL,),
    commands.AnswerCall: (PausePoint.TOOL_CALL,),
    commands.SkipCall: (PausePoint.TOOL_CALL,),
    commands.TakeRepair: (PausePoint.ERROR,),
    commands.TreatAsFinal: (PausePoint.REPLY, PausePoint.ERROR),
    events.OutcomeTold: (PausePoint.ERROR,),
}


_WORDS: dict[type, str] = {
    events.MessagesEdited: "editing the messages",
    commands.SetOptions: "setting options of a request",
    commands.EditReply: "another reply",
    events.CallEdited: "editing a call",
    events.ObservationEdited: "another observation",
    events.ErrorObservationEdited: "another word on the error",
    events.AnswerEdited: "another answer",
    commands.Approve: "allowing a call",
    commands.Reject: "refusing a call",
    commands.AnswerCall: "a result in the tool's place",
    commands.SkipCall: "skipping a call",
    commands.TakeRepair: "a repair",
    commands.TreatAsFinal: "taking what came as the answer",
    events.OutcomeTold: "telling what became of a call",
    commands.SendBack: "a message after the answer",
    commands.ForkFrom: "going back",
    commands.Continue: "going on",
    commands.StepOn: "a step",
    commands.RunTo: "running to a place",
    commands.PauseRun: "a pause",
    commands.StopRun: "stopping",
    commands.StopCall: "stopping a call",
    commands.Steer: "a message before the next step",
    events.LimitRaised: "raising a limit",
    commands.ChooseModel: "another model",
}
"""Description of each command, for the sentence that refuses it."""


_MOVES: frozenset[type] = frozenset({commands.Continue, commands.StepOn, commands.RunTo})
"""Commands that continue the run: the usual keys of a debugger."""

Choice: TypeAlias = Literal["", "approval", "limit"]
"""Decision that only the user can make: whether a tool call runs, whether a limit is raised."""

_CHOICES: Mapping[Choice, str] = {
    "approval": "the call waits for approval: approve it, reject it, or answer in its place",
    "limit": "a limit is reached: raise it, or stop the run",
}


def choice_at(state: RunState) -> Choice:
    """Return the decision that the user must make before the run can continue.

    Continuing decides nothing: a key that means "next" must not send a mail or end a run.
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
        return frozenset(
            {commands.ForkFrom, commands.SendBack, commands.ChooseModel}
            if has_answer
            else {commands.ForkFrom}
        )
    always: set[type] = {
        commands.PauseRun,
        commands.StopRun,
        commands.Steer,
        events.LimitRaised,
        commands.ChooseModel,
    }
    if state.pause is None:
        if any(call.status == "running" for call in state.step.calls):
            always.add(commands.StopCall)
        return frozenset(always)
    found = {kind for kind, points in _POINTS.items() if state.place in points}
    found -= set() if state.setup.program else {commands.SetOptions}
    error = state.error
    if state.place == PausePoint.ERROR and error is not None:
        if error.kind == "outcome_unknown":
            return frozenset(always | {events.OutcomeTold, commands.ForkFrom})
        found.discard(events.OutcomeTold)
        if not error.repairs:
            found.discard(commands.TakeRepair)
        if not error.answer:
            found.discard(commands.TreatAsFinal)
        if error.kind not in ("unknown_tool", "schema", "format", "guardrail"):
            found.discard(events.CallEdited)
        if not error.observation:
            found.discard(events.ErrorObservationEdited)
        if error.kind == "output":
            found.add(commands.SendBack)
        else:
            found.discard(events.AnswerEdited)
    if state.place == PausePoint.ANSWER:
        found.add(commands.SendBack)
    moves: frozenset[type] = frozenset() if choice_at(state) else _MOVES
    return moves | always | found | {commands.ForkFrom}


def facts_of(state: RunState, command: commands.Command) -> tuple[events.Event, ...]:  # noqa: C901, PLR0912 - arms
    """Return the events of a command; empty for commands that only move the run.

    Raises:
        NotAllowedError: the command is not possible at the current pause point.
    """
    if type(command) not in allowed(state):
        choice = choice_at(state) if type(command) in _MOVES else ""
        if choice:
            raise NotAllowedError(_CHOICES[choice])
        where = state.place or ("after its end" if state.is_over else "while it works")
        raise NotAllowedError(f"{_WORDS[type(command)]} is not possible here ({where})")
    match command:
        case (
            commands.Continue()
            | commands.StepOn()
            | commands.RunTo()
            | commands.PauseRun()
            | commands.StopRun()
            | commands.SetOptions()
        ):
            return ()
        case commands.StopCall(call=call):
            _row(state, call, "running")
            return ()
        case (
            events.MessagesEdited()
            | events.ErrorObservationEdited()
            | events.AnswerEdited()
            | events.LimitRaised()
        ):
            return (command,)
        case commands.EditReply(reply=reply):
            return (events.ReplyEdited(reply, given=state.place == PausePoint.BEFORE_REQUEST),)
        case events.CallEdited(call=call):
            _row(state, call, "asked")
            return (command,)
        case events.ObservationEdited(call=call):
            _row(state, call)
            return (command,)
        case commands.Approve(call=call, others=others):
            rows = [_row(state, call, "asked")]
            if others:
                rows += _asked_after(state, call)
            return tuple(events.CallDecided(row, "approve", by="person") for row in rows)
        case commands.Reject(call=call, reason=reason):
            return (events.CallDecided(_row(state, call, "asked"), "reject", reason, by="person"),)
        case commands.AnswerCall(call=call, text=text):
            return (events.CallDecided(_row(state, call, "asked"), "answer", text, by="person"),)
        case commands.SkipCall(call=call):
            return (events.CallDecided(_row(state, call, "asked"), "skip", by="person"),)
        case commands.TakeRepair():
            return (_repair(state, command),)
        case commands.TreatAsFinal(text=answer, always=always):
            offered = state.error.answer if state.error is not None else ""
            words = state.step.reply.text if state.step.reply is not None else ""
            return (
                events.TreatedAsFinal(answer if answer is not None else offered or words, always),
            )
        case events.OutcomeTold(call=call):
            _row(state, call, "unknown")
            return (command,)
        case commands.Steer(text=text):
            is_ready = state.pause is not None and state.place == PausePoint.BEFORE_REQUEST
            return (events.Steered(text, is_ready),)
        case commands.SendBack(text=text, continues=continues):
            return (events.AnswerReturned(text, continues),)
        case commands.ChooseModel(model=model, over=over):
            return (events.ModelChosen(model, over),)
        case commands.ForkFrom(checkpoint=checkpoint):
            return (events.Forked(checkpoint),)
        case _:
            assert_never(command)


def _row(state: RunState, call: int, status: CallStatus | None = None) -> int:
    """Return the row of a call if it has the status that the command needs."""
    if not 0 <= call < len(state.step.calls):
        raise NotAllowedError(f"there is no call {call}")
    held = state.step.calls[call]
    if status is not None and held.status != status:
        raise NotAllowedError(f"the call of {held.tool!r} is {held.status}, not {status}")
    if status is None and held.observation is None:
        raise NotAllowedError(f"the call of {held.tool!r} has no result yet")
    return call


def _asked_after(state: RunState, call: int) -> list[int]:
    """Return the rows after a call that may be approved with it: they run at the same time."""
    if not state.runs_at_once:
        raise NotAllowedError("the calls of this reply run one after another")
    rows = enumerate(state.step.calls)
    return [row for row, each in rows if row > call and each.status == "asked"]


def _repair(state: RunState, command: commands.TakeRepair) -> events.ReplyEdited:
    offered = state.error.repairs if state.error is not None else ()
    for call in state.step.calls:
        offered += call.repairs
    for repair in offered:
        if repair.name == command.name and (repair.span is not None or repair.call == command.call):
            reply = state.step.reply or Reply()
            return events.ReplyEdited(repaired(reply, repair), repair.name, always=command.always)
    raise NotAllowedError(f"no repair {command.name!r} is offered")


def repaired(reply: Reply, repair: Repair) -> Reply:
    """Return the reply after a repair."""
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
"""Maximum number of automatic repairs of one reply; after that it is reported unrepaired."""


def repair_switched_on(state: RunState) -> events.ReplyEdited | None:
    """Return the first offered repair that this run makes without asking; None if there is none."""
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
            return events.ReplyEdited(repaired(state.step.reply, repair), repair.name)
    return None


def passing(state: RunState, place: PausePoint, *, headless: bool, accepted: bool) -> events.Event:
    """Return the event of passing a pause point; only a user can accept a flawed answer."""
    is_answer = state.error is not None and state.error.kind == "output"
    error = None if is_answer and accepted else ending_error(state, headless=headless)
    if error is None and place == PausePoint.ERROR and is_answer and not accepted:
        error = state.error
    if error is not None:
        return events.Failed(error)
    if place == PausePoint.ERROR and is_answer:
        return events.AnswerChecked(state.answer_value, state.answer_problems, accepted=True)
    return events.Passed(place)
