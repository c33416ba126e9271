"""Search in a whole run: which cards say the words, whatever the inspector shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from studio.bridge.run_cards import StepCard
from studio.bridge.run_said import step_at
from studio.core.agent.state import RunState, Step
from studio.core.agent.steps import messages_of
from studio.core.agent.trail import known_same


def rows_with(state: RunState | None, cards: Sequence[StepCard], words: str) -> tuple[int, ...]:
    """The rows of the cards that say the words, in any case of letters.

    A prompt repeats what was said before; only what is new in it counts.
    """
    wanted = " ".join(words.split()).casefold()
    if state is None or not wanted:
        return ()
    found: list[int] = []
    text_of: Callable[[StepCard], str] = _Reader(state).text_of
    for row, card in enumerate(cards):
        if wanted in " ".join(text_of(card).split()).casefold():
            found.append(row)
    return tuple(found)


class _Reader:
    """Gives each card's whole text."""

    def __init__(self, state: RunState) -> None:
        self._state = state

    def text_of(self, card: StepCard) -> str:
        step = step_at(self._state, card.step)
        said = f"{card.title}\n{card.gist}"
        match card.kind:
            case "prompt":
                return f"{said}\n{self._new_in(step)}"
            case "thought" | "reply":
                reply = step.reply or step.partial
                return said if reply is None else f"{said}\n{reply.reasoning}\n{reply.text}"
            case "action" if card.call is not None and card.call < len(step.calls):
                return f"{said}\n{step.calls[card.call].text}"
            case "observation" if card.call is not None and card.call < len(step.calls):
                return f"{said}\n{step.calls[card.call].observation or ''}"
            case "final":
                return f"{said}\n{self._state.answer or ''}"
            case _:
                return said

    def _new_in(self, step: Step) -> str:
        state = self._state
        if not 0 < step.number <= len(state.steps) + 1:
            return ""
        sent = messages_of(state, step.number)
        if step.number == 1:
            return "\n".join(message.text for message in sent)
        before = messages_of(state, step.number - 1)
        same = known_same(before, sent)
        while same < min(len(before), len(sent)) and before[same] == sent[same]:
            same += 1
        new = "\n".join(message.text for message in sent[same:])
        old = "\n".join(message.text for message in before[same:])
        return new[_shared(new, old) :]


def _shared(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
