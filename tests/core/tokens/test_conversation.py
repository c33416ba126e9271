from __future__ import annotations

from pathlib import Path

from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.tokens.conversation import count_conversation
from studio.core.tokens.tokenizers import Estimate, Tokenizers

TEXT = "You are a helpful, pattern-following assistant."


def test_a_conversation_is_counted_as_openai_publishes_it(tmp_path: Path) -> None:
    """The cookbook's way: three and the role for each message, the name and one, three more."""
    tokenizers = Tokenizers(tmp_path)
    assert tokenizers.wants_loading("gpt-4o")
    assert not tokenizers.counter("gpt-4o").is_exact
    assert tokenizers.load("gpt-4o")
    assert not tokenizers.wants_loading("gpt-4o")
    counter = tokenizers.counter("gpt-4o")
    text = counter.count(TEXT)
    messages = (
        Message("system", (TextPart(TEXT),)),
        Message("user", (TextPart("Hi"),), {"name": "Mina"}),
    )
    counted = count_conversation(messages, (), counter)
    assert counted.messages == (3 + 1 + text, 3 + 1 + 1 + counter.count("Mina") + 1)
    assert counted.total == sum(counted.messages) + 3
    assert counted.is_exact
    assert counted.total_is_exact
    assert counted.tokenizer == "o200k_base"


def test_what_is_only_estimated_is_said(tmp_path: Path) -> None:
    tokenizers = Tokenizers(tmp_path)
    tokenizers.load("gpt-4o")
    counter = tokenizers.counter("gpt-4o")
    tool = ToolSpec("search", "Searches", {"type": "object", "properties": {}})
    messages = (
        Message("user", (MediaPart("image", "a.png"),)),
        Message("assistant", (ToolCallPart("1", "search", '{"q": "x"}'),)),
    )
    counted = count_conversation(messages, (tool,), counter)
    assert counted.is_exact
    assert not counted.total_is_exact
    assert len(counted.doubts) == 3
    assert counted.tools > 5


def test_each_input_has_its_part() -> None:
    document = parse("system:\nIn {{ city }}: {{ city }} and {{ day }}.\n")
    prepared = prepare(document, {"city": "Lisbon by night", "day": "May"})
    counted = count_conversation(prepared.messages.messages, (), Estimate())
    assert counted.by_input == {"city": 8, "day": 1}
    assert not counted.is_exact


def test_without_a_folder_or_for_other_models_it_is_an_estimate(tmp_path: Path) -> None:
    assert not Tokenizers().wants_loading("gpt-4o")
    assert not Tokenizers(tmp_path).wants_loading("claude-sonnet-4")
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    tokenizers = Tokenizers(blocked / "below")
    assert not tokenizers.load("gpt-4o")
    assert not tokenizers.wants_loading("gpt-4o")
    assert "unpacked" in tokenizers.failure("gpt-4o")
    assert tokenizers.counter("gpt-4o").count("word") == 1
