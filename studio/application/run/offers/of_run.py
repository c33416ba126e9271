"""Actions for a run: while it goes on, at a pause, or once it is over."""

from __future__ import annotations

from dataclasses import replace

from studio.application.run.offers.at_pause import offers_of
from studio.application.run.offers.at_problem import is_of_model
from studio.application.run.offers.offer import Offer, Offers
from studio.application.words import tr
from studio.core.agent.run.requests import allowed
from studio.core.agent.values.commands import ChooseModel, PauseRun, StopRun
from studio.core.agent.values.run_setup import RunModel
from studio.core.agent.values.state import RunState


def _resume() -> Offer:
    return Offer(
        tr("Go on from here"),
        tr(
            "Run on from this place with the model and the tools, as a new branch. "
            "What was is kept."
        ),
        is_primary=True,
        ask="resume",
    )


def _rerun() -> Offer:
    return Offer(
        tr("Run again with these results"),
        tr(
            "Run the prompt as it is in the editor, with the inputs of this run. A tool call "
            "that it made already gets the same result without running; then both are compared."
        ),
        ask="rerun",
    )


def _replay() -> Offer:
    return Offer(
        tr("Replay exactly"),
        tr(
            "Go through this run again, with its replies, its tools' results and your own edits. "
            "No model is asked and no tool runs; breakpoints stop it."
        ),
        ask="replay",
    )


def offers_for(
    state: RunState,
    *,
    is_record: bool,
    is_pausing: bool = False,
    asked: RunModel | None = None,
    can_keep: bool = True,
) -> Offers:
    """Return the actions of a run at its place, or those of a finished run.

    Args:
        state: the run.
        is_record: whether it was opened from history.
        is_pausing: whether it was told to stand still, and what is under way is waited for.
        asked: the model that must be chosen or turned down first.
        can_keep: whether the model that it has is to be had here.
    """
    if is_pausing:
        return _while_pausing(state)
    made = _without_model_asked(state, is_record=is_record)
    if asked is not None and (state.pause is not None or ChooseModel in allowed(state)):
        return _with_model_asked(made, state, asked, can_keep=can_keep)
    return made


def _without_model_asked(state: RunState, *, is_record: bool) -> Offers:
    if not is_record:
        made = offers_of(state)
        again = (_rerun(), _replay()) if _is_whole(state, made) else ()
        return replace(made, offers=(*made.offers, *again))
    known = offers_of(state, can_reply=False) if state.is_over else Offers()
    title = known.title or tr("A run of the past.")
    return replace(known, title=title, offers=(_resume(), _rerun(), _replay()))


def _while_pausing(state: RunState) -> Offers:
    """Describe the time between a request to pause and the pause."""
    if any(call.status == "running" for call in state.step.calls):
        return Offers(tr("The run pauses once the tool has answered."))
    if state.step.reply is not None:
        return Offers(tr("The run pauses at the next place."))
    cut = Offer(
        tr("Cut the reply off"),
        tr("Wait no longer; what has come of the reply is kept."),
        (PauseRun(abort=True),),
    )
    return Offers(tr("The run pauses once the reply is here."), offers=(cut,))


def _is_whole(state: RunState, made: Offers) -> bool:
    """Whether it is over and anything came of it."""
    return state.is_over and bool(made.title) and bool(state.steps or state.step.reply)


def model_to_ask_about(
    state: RunState | None, now: RunModel | None, *, can_keep: bool = True
) -> RunModel | None:
    """Return the prompt's model if the run uses another one without the user's choice.

    Args:
        state: the run.
        now: the model that a run of the prompt would begin with now; None where nobody knows.
        can_keep: whether the run's own is to be had here; else an earlier no is no answer.
    """
    if state is None or now is None or now.is_same(state.answered_by):
        return None
    return None if can_keep and state.declined is not None and now.is_same(state.declined) else now


def _with_model_asked(offers: Offers, state: RunState, now: RunModel, *, can_keep: bool) -> Offers:
    """Return the offers when a model must be chosen first.

    Args:
        offers: what could be done without that question.
        state: the run.
        now: the model that its prompt asks for.
        can_keep: whether the model that it has is to be had here.
    """
    has, other = state.answered_by, now.name
    same_name = has.name == other
    if same_name:
        other = f"{other}, {now.server}"
    keep = Offer(
        tr("Go on with {model}").format(model=has.name),
        tr("The run keeps the model that it has."),
        (ChooseModel(has, now),),
        is_primary=True,
    )
    is_fault = is_of_model(state)
    change_to = tr("Change to {model} and try again") if is_fault else tr("Change to {model}")
    change = Offer(
        change_to.format(model=other),
        tr("The requests from here on go to it, with the conversation so far."),
        ask="switch",
        is_primary=not can_keep,
    )
    stop = Offer(tr("Stop"), tr("End the run here."), (StopRun(),))
    words = tr("The prompt now asks for {other}; this run has {model}.")
    if not can_keep:
        words = tr("The prompt now asks for {other}; {model} is not set up here.")
    detail = words.format(other=other, model=has.name)
    ways: tuple[Offer, ...] = (keep, change) if can_keep else (change,)
    if can_keep and is_fault:
        ways = (replace(change, is_primary=True), replace(keep, is_primary=False))
    if state.is_over:
        others = (
            each for each in offers.offers if each.edit is None or each.edit.kind != "send_back"
        )
        ways = tuple(replace(each, is_primary=False) for each in ways)
        return replace(offers, detail=detail, offers=(*ways, *others))
    return Offers(tr("Which model continues?"), detail, offers=(*ways, stop))
