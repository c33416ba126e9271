"""Which model a run goes on with, where its prompt asks for another one by now: the user's word."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from studio.application.run.offers.offer import Offer, Offers
from studio.application.words import translate
from studio.core.agent.values.commands import ChooseModel, StopRun
from studio.core.agent.values.state import RunModel, RunState

_tr = partial(translate, "RunOffers")


def model_to_ask_about(
    state: RunState | None, now: RunModel | None, *, can_keep: bool = True
) -> RunModel | None:
    """The model that the prompt asks for, where the run has another and the user did not say so.

    Args:
        state: the run.
        now: the model that a run of the prompt would begin with now; None where nobody knows.
        can_keep: whether the run's own is to be had here; else an earlier no is no answer.
    """
    if state is None or now is None or now.is_same(state.answered_by):
        return None
    return None if can_keep and state.declined is not None and now.is_same(state.declined) else now


def with_model_asked(offers: Offers, state: RunState, now: RunModel, *, can_keep: bool) -> Offers:
    """What can be done where the model must be chosen first.

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
        _tr("Go on with {model}").format(model=has.name),
        _tr("The run keeps the model that it has."),
        (ChooseModel(has, now),),
        is_primary=True,
    )
    change = Offer(
        _tr("Change to {model}").format(model=other),
        _tr("The requests from here on go to it; what was said so far is sent along."),
        ask="switch",
        is_primary=not can_keep,
    )
    stop = Offer(_tr("Stop"), _tr("End the run here."), (StopRun(),))
    words = _tr("The prompt asks for {other} by now; this run has {model}.")
    if not can_keep:
        words = _tr("The prompt asks for {other} by now; {model} is not set up here.")
    detail = words.format(other=other, model=has.name)
    ways: tuple[Offer, ...] = (keep, change) if can_keep else (change,)
    if state.is_over:
        others = (
            each for each in offers.offers if each.edit is None or each.edit.kind != "send_back"
        )
        ways = tuple(replace(each, is_primary=False) for each in ways)
        return replace(offers, detail=detail, offers=(*ways, *others))
    return Offers(_tr("Which model goes on?"), detail, offers=(*ways, stop))
