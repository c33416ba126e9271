"""What providers take beside the text of a message (`studio/core/wire/message_rules.py`)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from studio.core.prompty.document import (
    MediaPart,
    Message,
    ModelDeclaration,
    Part,
    TextPart,
    ToolCallPart,
)
from studio.core.prompty.document import ToolResultPart as Result
from studio.core.text.source import Severity
from studio.core.text.values import Json
from studio.core.wire.media import MediaReader
from studio.core.wire.request import Provider, WireRequest, to_request

_OPENAI_NAME = re.compile(r"^[^\s<|\\\\/>]+$")
"""The pattern in OpenAI's own error message (langchain#35054)."""


def _request(*messages: Message, provider: Provider = "openai-chat") -> WireRequest:
    return to_request(messages, (), ModelDeclaration("m"), provider=provider)


def _user(*parts: Part, **attributes: Json) -> Message:
    return Message("user", parts or (TextPart("hi"),), attributes)


def _sent(request: WireRequest) -> Any:
    return request.body["messages"][0]  # type: ignore[index, call-overload]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("Ann Lee", "Ann_Lee"),
        ("  Ann\tLee ", "Ann_Lee"),
        ("a<b|c\\\\d/e>f", "a_b_c_d_e_f"),
        ("Zoë", "Zoë"),
        ("x" * 70, "x" * 64),
        (5, "5"),
        (True, "true"),
    ],
)
def test_a_name_is_sent_in_a_form_that_openai_takes(written: Json, sent: str) -> None:
    request = _request(_user(name=written))

    assert _sent(request)["name"] == sent
    assert _OPENAI_NAME.match(sent)
    changed = [item for item in request.problems if item.code == "name-changed"]
    assert len(changed) == (isinstance(written, str) and written != sent)
    assert all(item.severity is Severity.HINT and repr(sent) in item.message for item in changed)


def test_a_name_of_which_nothing_can_be_sent_is_left_out_with_a_warning() -> None:
    request = _request(_user(name=" </> "))

    assert "name" not in _sent(request)
    assert [(item.code, item.severity) for item in request.problems] == [
        ("name-changed", Severity.WARNING)
    ]


@pytest.mark.parametrize("provider", ["openai-responses", "anthropic"])
def test_providers_without_names_say_that_it_is_not_sent(provider: Provider) -> None:
    request = _request(_user(name="Ann Lee"), provider=provider)

    assert "Ann" not in str(request.body)
    assert [item.code for item in request.problems] == ["unsupported-attribute"]


def test_a_thread_item_keeps_what_openai_gave_and_loses_other_keys() -> None:
    call: Json = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = Message("assistant", (), {"tool_calls": [call], "refusal": None, "created_at": 3})
    answered = Message("tool", (Result("x"),), {"tool_call_id": "c1", "id": "m2"})

    request = _request(_user(), asked, answered)

    assert request.body["messages"][1:] == [  # type: ignore[index]
        {"role": "assistant", "refusal": None, "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    told = [item.message for item in request.problems]
    assert len(told) == 2
    assert "'created_at'" in told[0]
    assert "'id'" in told[1]


@pytest.mark.parametrize(
    ("provider", "call", "is_refused"),
    [
        ("openai-chat", "c" * 40, False),
        ("openai-chat", "c" * 41, True),
        ("openai-responses", "c" * 64, False),
        ("openai-responses", "c" * 65, True),
        ("anthropic", "toolu_1-a", False),
        ("anthropic", "call 1", True),
    ],
)
def test_the_id_of_a_call_that_is_refused_is_said_once(
    provider: Provider, call: str, is_refused: bool
) -> None:
    asked = Message("assistant", (ToolCallPart(call, "f", "{}"),))
    answered = Message("tool", (Result("x"),), {"tool_call_id": call})

    found = _request(_user(), asked, answered, provider=provider).problems

    assert [item.code for item in found] == ["call-id-refused"] * is_refused


_DATA = "data:{};base64,AAAA"


@pytest.mark.parametrize(
    ("provider", "kind", "source", "refusal"),
    [
        ("openai-chat", "image", "https://x.org/a", ""),
        ("openai-chat", "image", _DATA.format("image/png"), ""),
        ("openai-chat", "image", _DATA.format("image/tiff"), "image/tiff is refused"),
        ("openai-chat", "audio", _DATA.format("audio/wav"), ""),
        ("openai-chat", "audio", _DATA.format("audio/ogg"), "audio/ogg is refused"),
        ("openai-chat", "audio", "https://x.org/a.mp3", "never downloaded"),
        ("openai-chat", "file", _DATA.format("application/pdf"), ""),
        ("openai-chat", "file", "https://x.org/a.pdf", "never downloaded"),
        ("openai-chat", "video", "https://x.org/a.mp4", "video is refused"),
        ("openai-responses", "file", "https://x.org/a.pdf", ""),
        ("openai-responses", "video", "https://x.org/a.mp4", "accepts no video"),
        ("anthropic", "file", "https://x.org/a.pdf", ""),
        ("anthropic", "file", _DATA.format("text/html"), ""),
        ("anthropic", "file", _DATA.format("application/zip"), "application/zip is refused"),
        ("anthropic", "image", "pictures/a.svg", "image/svg+xml is refused"),
        ("openai-chat", "audio", "a.m4a", "audio/mp4 is refused"),
        ("openai-chat", "audio", "a.wav", ""),
        ("openai-chat", "image", "a.png", ""),
        ("openai-chat", "image", "a", ""),
        ("anthropic", "audio", "https://x.org/a.mp3", "accepts no audio"),
    ],
)
def test_each_provider_says_which_media_it_takes(
    provider: Provider, kind: Any, source: str, refusal: str
) -> None:
    request = _request(_user(TextPart("x"), MediaPart(kind, source)), provider=provider)

    assert [item.code for item in request.problems] == ["unsupported-media"] * bool(refusal)
    assert all(refusal in item.message for item in request.problems)


def test_the_content_of_a_file_says_its_type_not_its_name(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"RIFF\0\0\0\0WAVE")
    (tmp_path / "b.dat").write_bytes(b"\xff\xd8\xff")
    parts = (MediaPart("image", "a.png"), MediaPart("image", "b.dat"))

    found = to_request(
        [_user(*parts)],
        (),
        ModelDeclaration(id="m"),
        provider="openai-chat",
        media=MediaReader(tmp_path),
    ).problems

    assert [("audio/wav is refused" in item.message) for item in found] == [True]


def test_a_text_goes_to_anthropic_as_text(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("Größe: 3", encoding="utf-8")

    request = to_request(
        [_user(MediaPart("file", "notes.md"))],
        (),
        ModelDeclaration(id="m"),
        provider="anthropic",
        media=MediaReader(tmp_path),
    )

    source = {"type": "text", "media_type": "text/plain", "data": "Größe: 3"}
    assert _sent(request)["content"] == [{"type": "document", "source": source}]
    assert request.problems == ()


def test_media_of_the_assistant_are_said() -> None:
    said = Message("assistant", (MediaPart("image", "https://x.org/a"),))
    for provider in ("openai-chat", "openai-responses", "anthropic"):
        found = _request(_user(), said, provider=provider).problems  # type: ignore[arg-type]
        assert ["in user messages" in item.message for item in found] == [True]
