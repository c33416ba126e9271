"""What a run is started with."""

from __future__ import annotations

from studio.core.agent.loop.setup import make_setup, with_inputs
from studio.core.agent.values.options import RunOptions
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.parse import parse


def test_a_setup_for_other_values_is_the_one_that_would_be_made_of_them() -> None:
    document = parse(
        "---\nname: ask\ninputs:\n  question: {type: string}\n  days: {type: integer, default: 3}\n"
        "---\nsystem:\nBe brief.\nuser:\n{{question}} {{days}}\n"
    )
    model, options = ScriptedModel([]), RunOptions(protocol="react")
    first = make_setup(document, {"question": "Oslo?"}, (), model, options, run="r")
    values = {"question": "Rome?", "days": 5}
    again = with_inputs(first, document, values)
    assert again == make_setup(document, values, (), model, options, run="r")
    assert again.question == "Rome?"
    assert again != first
