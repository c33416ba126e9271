from __future__ import annotations

from datetime import datetime

from studio.application.run.cards.timeline import cards_of_step
from studio.core.agent.values.events import CallDecided, CallEdited
from tests.application.run import examples as run


def test_a_card_says_who_touched_it_and_when() -> None:
    fold = run.TimedFold()
    fold.ask()
    fold.reply(run.FIRST)
    fold.read()
    fold.check()
    fold.pause()
    fold.wait(5)
    fold.take(CallEdited(call=0, tool="lookup", arguments={"fact": "capital of Italy"}))
    fold.check()
    fold.wait(5)
    fold.take(CallDecided(call=0, decision="approve", by="person"))

    cards = {card.kind: card for card in cards_of_step(fold.state.step, fold.state)}
    first, second = (f"{datetime.fromtimestamp(at).astimezone():%H:%M:%S}" for at in (1005, 1010))
    assert cards["action"].touched == f"edited by you, {first}\napproved by you, {second}"
    assert cards["action"].badges == ("edited", "approved")
    assert cards["prompt"].touched == ""
    assert "approved by you" in cards["action"].spoken
