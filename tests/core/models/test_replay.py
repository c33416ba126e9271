"""What was recorded comes again; what was not stops the run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.models.base import ChatModel, ModelError, ModelRequest
from studio.core.models.scripted import (
    RecordingModel,
    ReplayModel,
    ScriptedModel,
    ScriptedTurn,
    read_recording,
)
from studio.core.prompty.document import Message, TextPart
from studio.core.wire.reply import Reply, ReplyDelta, ToolCall, Usage

RICH = Reply(
    "Text", "thought", "", (ToolCall("a", "b", "{}"),), Usage(3, 4, 1, 0.5), "tool_calls", ("note",)
)


def asking(*texts: str) -> ModelRequest:
    return ModelRequest(tuple(Message("user", (TextPart(text),)) for text in texts))


async def deltas_of(model: ChatModel, request: ModelRequest) -> list[ReplyDelta]:
    return [delta async for delta in model.stream(request)]


async def test_the_same_pieces_come_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "recording.jsonl"
    model = RecordingModel(ScriptedModel([RICH, "second", "again"], chunk=2), path)
    first = await deltas_of(model, asking("one"))
    second = await deltas_of(model, asking("two"))
    third = await deltas_of(model, asking("one"))
    await model.close()
    replay = ReplayModel(path)
    assert await deltas_of(replay, asking("two")) == second
    assert await deltas_of(replay, asking("one")) == first
    assert await deltas_of(replay, asking("one")) == third
    assert await deltas_of(replay, asking("one")) == third


async def test_a_reply_that_cannot_be_recorded_is_told_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    path = tmp_path / "file" / "recording.jsonl"
    with pytest.raises(ModelError, match="could not be recorded") as caught:
        await deltas_of(RecordingModel(ScriptedModel(["one"]), path), asking("one"))
    assert str(path) in caught.value.message


async def test_a_recorded_error_comes_again(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    broken = ScriptedTurn(Reply(text="half"), error=ModelError("cut-off", "It broke.", "Again."))
    seen: list[ReplyDelta] = []

    async def listen(model: ChatModel) -> None:
        async for delta in model.stream(asking("one")):
            seen.append(delta)

    for model in (RecordingModel(ScriptedModel([broken]), path), ReplayModel(path)):
        with pytest.raises(ModelError) as caught:
            await listen(model)
        assert (caught.value.kind, caught.value.hint) == ("cut-off", "Again.")
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


async def test_a_miss_stops_loudly_and_names_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    model = RecordingModel(ScriptedModel(["a", "b"]), path)
    await deltas_of(model, asking("something else entirely"))
    await deltas_of(model, asking("What is the capital of Kenya?", "And now?"))
    with pytest.raises(ModelError) as caught:
        await deltas_of(ReplayModel(path), asking("What is the capital of Peru?", "And now?"))
    assert caught.value.kind == "no-recording"
    assert "number 2 of 2" in caught.value.message
    assert "messages[0].content" in caught.value.message
    options = replace(asking("something else entirely"), options={"temperature": 1})
    with pytest.raises(ModelError, match="temperature"):
        await deltas_of(ReplayModel(path), options)


@pytest.mark.parametrize("content", [None, b"\xff", b"{}", b'{"request": {}, "deltas": 3}', b"[]"])
def test_a_file_that_is_no_recording(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelError) as caught:
        read_recording(path)
    assert caught.value.kind == "no-recording"


async def test_an_empty_recording(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("\n")
    with pytest.raises(ModelError, match="contains no calls"):
        await deltas_of(ReplayModel(tmp_path / "r"), asking("one"))
