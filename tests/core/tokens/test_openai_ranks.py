from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
import tiktoken.model

from studio.core.tokens.tokenizers import (
    OpenAITokens,
    RanksError,
    encoding_of,
    load_encoding,
    ranks_path,
)

# Published by OpenAI in the cookbook ("How to count tokens with tiktoken") for both encodings.
KNOWN = [
    ("o200k_base", "antidisestablishmentarianism", 6),
    ("cl100k_base", "antidisestablishmentarianism", 6),
    ("o200k_base", "2 + 2 = 4", 7),
    ("cl100k_base", "2 + 2 = 4", 7),
    ("o200k_base", "お誕生日おめでとう", 8),
    ("cl100k_base", "お誕生日おめでとう", 9),
]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tokenizers")


@pytest.fixture
def o200k(folder: Path) -> OpenAITokens:
    return load_encoding("o200k_base", folder)


@pytest.mark.parametrize(("name", "text", "tokens"), KNOWN)
def test_texts_are_as_many_tokens_as_openai_says(
    folder: Path, name: str, text: str, tokens: int
) -> None:
    assert load_encoding(name, folder).count(text) == tokens  # type: ignore[arg-type]


def test_nothing_is_downloaded_and_the_environment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "elsewhere")
    assert load_encoding("cl100k_base", tmp_path).count("hello world") == 2
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "elsewhere"
    assert [path.name for path in tmp_path.iterdir()] == [ranks_path("cl100k_base", tmp_path).name]


def test_a_damaged_file_is_unpacked_again(tmp_path: Path) -> None:
    path = ranks_path("cl100k_base", tmp_path)
    load_encoding("cl100k_base", tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-100] + b"x" * 100)
    load_encoding("cl100k_base", tmp_path)
    assert path.read_bytes() == whole


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder", encoding="utf-8")
    with pytest.raises(RanksError, match="cannot be unpacked"):
        load_encoding("o200k_base", blocked / "below")


def test_special_tokens_and_hostile_texts_are_plain_text(o200k: OpenAITokens) -> None:
    assert o200k.count("<|endoftext|>") > 1
    assert o200k.count("\ud800 lone") > 0
    assert o200k.count(" " * 1_000_000) > 1_000
    assert o200k.count("") == 0


@pytest.mark.parametrize(
    "model",
    [
        *("gpt-4o", "gpt-4o-mini", "gpt-4.1-nano", "gpt-5", "gpt-5-mini", "o1", "o3-mini"),
        *("o4-mini", "gpt-4", "gpt-4-turbo", "gpt-3.5-turbo", "gpt-35-turbo"),
        *("ft:gpt-4o-mini:org::id", "ft:gpt-3.5-turbo:org::id", "text-embedding-3-small"),
    ],
)
def test_models_have_the_encoding_that_tiktoken_gives_them(model: str) -> None:
    assert encoding_of(model) == tiktoken.model.encoding_name_for_model(model)


@pytest.mark.parametrize("model", ["", "claude-sonnet-4", "llama3.2", "gpt-40", "o12", "gemini-2"])
def test_other_models_have_none(model: str) -> None:
    assert encoding_of(model) is None


def test_a_makers_name_is_left_out() -> None:
    assert encoding_of("openai/gpt-4o") == "o200k_base"
