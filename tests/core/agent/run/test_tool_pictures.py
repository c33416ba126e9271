"""What a tool answers beside text reaches the model with the result of its call."""

from __future__ import annotations

import pytest

from studio.core.agent.values.events import ToolEnded
from studio.core.prompty.document import MediaPart
from studio.core.runs.codec import decode_event, encode_event
from studio.core.tools.source import MOST_PICTURES, ToolOutcome, ToolPicture
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of

PICTURE = ToolPicture("image/png", "UE5H")


async def media_after(*pictures: ToolPicture) -> list[str]:
    """Return the media of the second request of a run whose tool answers pictures."""

    def draw(query: str) -> ToolOutcome:
        return ToolOutcome("[image image/png, 3 bytes]", "ok", pictures=pictures)

    replies = [calling(call("draw")), "Seen."]
    run, model = run_of(NATIVE, replies, tools=Functions(draw))
    await run.go()
    assert run.state.answer == "Seen."
    messages = model.requests[-1].messages
    return [part.source for each in messages for part in each.parts if isinstance(part, MediaPart)]


@pytest.mark.parametrize("kind", ["image/png", "audio/wav", "application/pdf"])
async def test_what_models_take_is_a_part_of_the_result(kind: str) -> None:
    assert await media_after(ToolPicture(kind, "UE5H")) == [f"data:{kind};base64,UE5H"]


async def test_what_no_model_takes_stays_in_words() -> None:
    assert await media_after(ToolPicture("image/svg+xml", "UE5H")) == []


async def test_no_answer_adds_more_than_its_bound() -> None:
    large = ToolPicture("image/png", "A" * (MOST_PICTURES - 4))
    assert len(await media_after(PICTURE, large, PICTURE)) == 2


def test_the_journal_keeps_them() -> None:
    ended = ToolEnded(0, ToolOutcome("a picture", "ok", pictures=(PICTURE,)))
    assert decode_event(encode_event(ended)) == ended
