"""The whole text of a timeline card, for comparing and searching runs."""

from __future__ import annotations

from collections.abc import Sequence

from studio.application.run.cards.timeline import StepCard, answer_of
from studio.application.run.messages import message_text
from studio.application.run.text import json_text
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Step
from studio.core.prompty.document import Message


def step_at(state: RunState, number: int) -> Step:
    """The step of that number; the current one for 0 and for numbers that are not there."""
    if 0 < number <= len(state.steps):
        return state.steps[number - 1]
    if state.step.number == 0 and state.steps:
        return state.steps[-1]
    return state.step


def sent_in(state: RunState, step: Step) -> Sequence[Message]:
    """The messages that a step sent; of a finished step that keeps none, the conversation's."""
    return step.messages or state.conversation[: step.sent]


def card_text(state: RunState, card: StepCard) -> str:
    """The whole text of a card."""
    step = step_at(state, card.step)
    if card.kind == "prompt":
        return _written(sent_in(state, step))
    return _text_of(state, step, card)


def added_card_text(state: RunState, card: StepCard) -> str:
    """The whole text of a card; of a conversation that only grew, what came to it in this step."""
    step = step_at(state, card.step)
    if card.kind != "prompt":
        return _text_of(state, step, card)
    sent = sent_in(state, step)
    if state.setup.protocol == "native" and step.number > 1:
        before = step_at(state, step.number - 1)
        if before.number == step.number - 1 and before.sent <= len(sent):
            return _written(sent[before.sent :])
    return _written(sent)


def _written(messages: Sequence[Message]) -> str:
    return "\n\n".join(f"{each.role}:\n{message_text(each)}" for each in messages)


def _text_of(state: RunState, step: Step, card: StepCard) -> str:
    row = card.call if card.call is not None and card.call < len(step.calls) else None
    match card.kind:
        case "thought" | "reply":
            reply = step.reply or step.partial
            if reply is None:
                return card.summary
            calls = [f"→ {call.name}({call.arguments})" for call in reply.tool_calls]
            return "\n".join([part for part in (reply.reasoning, reply.text) if part] + calls)
        case "action" if row is not None:
            call = step.calls[row]
            asked = json_text(call.arguments) if call.arguments is not None else call.text
            return f"{call.tool}\n{asked}"
        case "observation" if row is not None:
            return step.calls[row].observation or ""
        case "message" if card.call is not None:
            return (*step.said, *state.steering)[card.call]
        case "note":
            return step.observation
        case "final" if step.number == state.step.number and state.answer is not None:
            return state.answer
        case "final":
            return answer_of(step) or ""
        case _:
            return card.summary
