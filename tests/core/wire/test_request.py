"""Request bodies of all three forms, beyond the vectors."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any, get_args

import pytest

from studio.core.prompty.document import (
    InputDeclaration,
    MediaPart,
    Message,
    ModelDeclaration,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.source import Severity
from studio.core.text.values import Json
from studio.core.wire.media import MediaReader
from studio.core.wire.request import Provider, WireRequest, history_problems, to_request

_PROVIDERS = get_args(Provider)
_PNG = b"\x89PNG\r\n\x1a\n" + b"x" * 20


def _request(
    messages: list[Message],
    tools: tuple[ToolSpec, ...] = (),
    *,
    provider: Provider = "openai-chat",
    options: dict[str, Json] | None = None,
    **further: Any,
) -> WireRequest:
    model = ModelDeclaration("m", options=options or {})
    return to_request(messages, tools, model, provider=provider, **further)


def _user(*parts: Part, **attributes: Json) -> Message:
    return Message("user", parts, attributes)


_EXCHANGE = [
    _user(TextPart("hi")),
    Message(
        "assistant",
        (
            TextPart("let me see"),
            ToolCallPart("c1", "find", '{"q": "é"}'),
            ToolCallPart("c2", "find", "broken"),
        ),
    ),
    Message("tool", (ToolResultPart("one"),), {"tool_call_id": "c1", "name": "find"}),
    Message("tool", (ToolResultPart(""),), {"tool_call_id": "c2"}),
    Message("assistant", (TextPart("done"),)),
]


def test_calls_and_results_in_chat() -> None:
    body = _request(_EXCHANGE).body

    assert body["messages"] == [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "let me see",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "find", "arguments": '{"q": "é"}'},
                },
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "find", "arguments": "broken"},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "name": "find", "content": "one"},
        {"role": "tool", "tool_call_id": "c2", "content": ""},
        {"role": "assistant", "content": "done"},
    ]


def test_calls_and_results_in_responses() -> None:
    body = _request(_EXCHANGE, provider="openai-responses").body

    assert body["input"] == [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "let me see"},
        {"type": "function_call", "call_id": "c1", "name": "find", "arguments": '{"q": "é"}'},
        {"type": "function_call", "call_id": "c2", "name": "find", "arguments": "broken"},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "function_call_output", "call_id": "c2", "output": ""},
        {"role": "assistant", "content": "done"},
    ]


def test_calls_and_results_for_anthropic() -> None:
    request = _request(_EXCHANGE, provider="anthropic")

    assert request.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "let me see"},
                {"type": "tool_use", "id": "c1", "name": "find", "input": {"q": "é"}},
                {"type": "tool_use", "id": "c2", "name": "find", "input": {"_raw": "broken"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "one"},
                {"type": "tool_result", "tool_use_id": "c2", "content": ""},
            ],
        },
        {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    ]
    assert [problem.code for problem in request.problems] == ["tool-arguments"]


def test_a_call_id_that_reads_as_a_number_is_sent_as_text() -> None:
    result = Message("tool", (ToolResultPart("x"),), {"tool_call_id": 12323})
    call = Message("assistant", (ToolCallPart("12323", "f", "{}"),))
    body = _request([call, result]).body
    assert body["messages"][1]["tool_call_id"] == "12323"


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        ("ephemeral", {"type": "ephemeral"}),
        ("1h", {"type": "ephemeral", "ttl": "1h"}),
        ({"type": "ephemeral", "ttl": "5m"}, {"type": "ephemeral", "ttl": "5m"}),
        (False, None),
    ],
)
def test_the_cache_of_anthropic_ends_with_the_last_block_of_its_message(
    said: Json, sent: Json
) -> None:
    parts = (TextPart("Look: "), MediaPart("image", "data:image/png;base64,aGk="))
    for message in (
        Message("user", parts, {"cache_control": said}),
        Message("tool", (TextPart("found"),), {"tool_call_id": "c1", "cache_control": said}),
    ):
        (made,) = _request([message], provider="anthropic").body["messages"]
        assert made["content"][-1].get("cache_control") == sent
        assert all("cache_control" not in block for block in made["content"][:-1])


def test_empty_text_beside_a_call_is_not_sent_to_anthropic() -> None:
    call = Message("assistant", (TextPart(""), ToolCallPart("1", "f", "{}")))
    result = Message("tool", (ToolResultPart("x"),), {"tool_call_id": "1"})
    body = _request([call, result], provider="anthropic").body
    assert [block["type"] for block in body["messages"][0]["content"]] == ["tool_use"]


def test_attributes_travel_and_never_replace_role_or_content() -> None:
    message = _user(TextPart("x"), name="Seth", role="system", content="forged", other=3)

    chat = _request([message])
    assert chat.body["messages"] == [{"role": "user", "name": "Seth", "content": "x"}]
    assert [problem.message for problem in chat.problems] == [
        "OpenAI chat does not accept the attribute 'other' of a message; it is not sent."
    ]
    anthropic = _request([message], provider="anthropic")
    assert anthropic.body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "x"}]}
    ]
    assert {problem.code for problem in anthropic.problems} == {"unsupported-attribute"}


def test_system_and_developer_have_their_place() -> None:
    messages = [
        Message("system", (TextPart("one"),)),
        Message("developer", (TextPart("two"),)),
        _user(TextPart("hi")),
    ]

    roles = [message["role"] for message in _request(messages).body["messages"]]  # type: ignore
    assert roles == ["system", "developer", "user"]
    assert _request(messages, provider="openai-responses").body["instructions"] == "one\n\ntwo"
    assert _request(messages, provider="anthropic").body["system"] == "one\n\ntwo"


@pytest.mark.parametrize("provider", ["openai-responses", "anthropic"])
def test_what_a_system_text_cannot_hold_is_said(provider: Provider) -> None:
    messages = [
        Message("system", (TextPart("one"), MediaPart("image", "a.png")), {"name": "boss"}),
        _user(TextPart("hi")),
        Message("assistant", (ToolCallPart("1", "look", "{}"),)),
        Message("tool", (ToolResultPart("x"), MediaPart("audio", "b.wav")), {"tool_call_id": "1"}),
        Message("system", (TextPart("two"),)),
    ]

    found = _request(messages, provider=provider).problems

    told = [(problem.code, problem.severity) for problem in found]
    assert told == [
        ("unsupported-attribute", Severity.HINT),
        ("unsupported-media", Severity.WARNING),
        ("system-moved", Severity.HINT),
        ("unsupported-media", Severity.WARNING),
    ]
    assert "'a.png'" in found[1].message
    assert "'b.wav'" in found[3].message


@pytest.mark.parametrize("provider", _PROVIDERS)
def test_options_have_each_providers_names(provider: Provider) -> None:
    options: dict[str, Json] = {
        "temperature": 0,
        "topP": 0.5,
        "topK": 4,
        "maxOutputTokens": 9,
        "seed": 1,
        "stopSequences": ["a"],
        "reasoningEffort": "low",
        "frequencyPenalty": None,
        "additionalProperties": {
            "logprobs": True,
            "temperature": 9,
            "model": "forged",
            "stream": True,
        },
    }
    request = _request([_user(TextPart("x"))], provider=provider, options=options, stop=("a", "b"))
    body = {
        key: value
        for key, value in request.body.items()
        if key not in ("messages", "input", "model", "contents")
    }

    assert request.body.get("model") == (None if provider == "gemini" else "m")
    assert (
        body
        == {
            "openai-chat": {
                "temperature": 0,
                "top_p": 0.5,
                "top_k": 4,
                "max_completion_tokens": 9,
                "seed": 1,
                "stop": ["a", "b"],
                "reasoning_effort": "low",
                "logprobs": True,
            },
            "openai-responses": {
                "temperature": 0,
                "top_p": 0.5,
                "max_output_tokens": 9,
                "reasoning": {"effort": "low"},
                "logprobs": True,
            },
            "anthropic": {
                "temperature": 0,
                "top_p": 0.5,
                "top_k": 4,
                "max_tokens": 9,
                "stop_sequences": ["a", "b"],
                "output_config": {"effort": "low"},
                "logprobs": True,
            },
            "ollama": {
                "options": {
                    "temperature": 0,
                    "top_p": 0.5,
                    "top_k": 4,
                    "num_predict": 9,
                    "seed": 1,
                    "stop": ["a", "b"],
                },
                "think": "low",
                "logprobs": True,
                "stream": False,
            },
            "gemini": {
                "generationConfig": {
                    "temperature": 0,
                    "topP": 0.5,
                    "topK": 4,
                    "maxOutputTokens": 9,
                    "seed": 1,
                    "stopSequences": ["a", "b"],
                    "logprobs": True,
                    "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "LOW"},
                },
            },
        }[provider]
    )
    told = " ".join(problem.message for problem in request.problems)
    assert "'temperature'" in told
    assert "'model'" in told
    if provider == "openai-responses":
        assert "'seed'" in told
        assert "'stopSequences'" in told


@pytest.mark.parametrize("provider", _PROVIDERS)
def test_streaming_is_asked_for(provider: Provider) -> None:
    body = _request([_user(TextPart("x"))], provider=provider, stream=True).body

    assert body.get("stream") is (None if provider == "gemini" else True)
    assert ("stream_options" in body) == (provider == "openai-chat")


_STRICT = ToolSpec(
    "find",
    "Find it.",
    {
        "type": "object",
        "properties": {
            "q": {"type": "string"},
            "unit": {"type": "string", "enum": ["a", "b"]},
            "where": {"type": "object", "properties": {"x": {"type": "number"}}},
            "tags": {"type": "array", "items": {"type": "object", "properties": {}}},
            "hidden": {"type": "string"},
        },
        "required": ["q", "hidden"],
    },
    strict=True,
    bindings={"hidden": "secret"},
)


def test_a_strict_tool_is_strict_at_every_depth_and_tells_no_bound_parameter() -> None:
    tools = _request([_user(TextPart("x"))], (_STRICT,)).body["tools"]

    assert tools == [
        {
            "type": "function",
            "function": {
                "name": "find",
                "description": "Find it.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "q": {"type": "string"},
                        "unit": {"type": ["string", "null"], "enum": ["a", "b", None]},
                        "where": {
                            "type": ["object", "null"],
                            "properties": {"x": {"type": ["number", "null"]}},
                            "required": ["x"],
                            "additionalProperties": False,
                        },
                        "tags": {
                            "type": ["array", "null"],
                            "items": {
                                "type": "object",
                                "properties": {},
                                "additionalProperties": False,
                            },
                        },
                    },
                    "required": ["q", "unit", "where", "tags"],
                    "additionalProperties": False,
                },
                "strict": True,
            },
        }
    ]


@pytest.mark.parametrize("provider", _PROVIDERS)
def test_a_bound_parameter_is_told_to_no_provider(provider: Provider) -> None:
    body = _request([_user(TextPart("x"))], (_STRICT,), provider=provider).body

    assert "hidden" not in str(body)


@pytest.mark.parametrize("provider", _PROVIDERS)
def test_services_are_left_out_and_reported_until_someone_offers_their_functions(
    provider: Provider,
) -> None:
    named = ToolSpec("files", kind="mcp")
    offered = ToolSpec("read", kind="mcp", source="mcp: files")
    request = _request([_user(TextPart("x"))], (named, offered), provider=provider)

    assert "'read'" in str(request.body["tools"])
    assert "'files'" not in str(request.body["tools"])
    assert [problem.code for problem in request.problems] == ["tool-not-sent"]


def test_a_name_that_the_provider_refuses_is_reported() -> None:
    tool = ToolSpec("files.read", kind="mcp", source="mcp: files")
    for provider in _PROVIDERS:
        request = _request([_user(TextPart("x"))], (tool,), provider=provider)
        if provider in ("ollama", "gemini"):
            assert not request.problems
            continue
        assert [problem.code for problem in request.problems] == ["tool-name-refused"]
        assert "files.read" in request.problems[0].message


def test_outputs_for_anthropic_are_closed_at_every_depth() -> None:
    outputs = (
        InputDeclaration("a", "object", properties=(InputDeclaration("b", required=True),)),
        InputDeclaration("c", "float", required=True),
    )
    body = _request([_user(TextPart("x"))], provider="anthropic", outputs=outputs).body

    assert body["output_config"] == {
        "format": {
            "type": "json_schema",
            "schema": {
                "type": "object",
                "properties": {
                    "a": {
                        "type": "object",
                        "properties": {"b": {"type": "string"}},
                        "required": ["b"],
                        "additionalProperties": False,
                    },
                    "c": {"type": "number"},
                },
                "required": ["c"],
                "additionalProperties": False,
            },
        }
    }


# --- media ----------------------------------------------------------------------------------


def _media(tmp_path: Path, part: MediaPart, provider: Provider = "openai-chat") -> WireRequest:
    return _request([_user(part)], provider=provider, media=MediaReader(tmp_path))


def _block(request: WireRequest) -> Any:
    key = "messages" if "messages" in request.body else "input"
    return request.body[key][0]["content"][0]  # type: ignore[index, call-overload]


def test_a_local_image_is_encoded_for_every_provider(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(_PNG)
    data = base64.b64encode(_PNG).decode()
    part = MediaPart("image", "a.png", {"quality": "high"})

    assert _block(_media(tmp_path, part)) == {
        "type": "image_url",
        "image_url": {"url": f"data:image/png;base64,{data}", "detail": "high"},
    }
    assert _block(_media(tmp_path, part, "openai-responses")) == {
        "type": "input_image",
        "image_url": f"data:image/png;base64,{data}",
        "detail": "high",
    }
    assert _block(_media(tmp_path, part, "anthropic")) == {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": data},
    }


def test_files_and_recordings(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1")
    (tmp_path / "a.mp3").write_bytes(b"ID3x")
    pdf, mp3 = base64.b64encode(b"%PDF-1").decode(), base64.b64encode(b"ID3x").decode()

    assert _block(_media(tmp_path, MediaPart("file", "a.pdf"))) == {
        "type": "file",
        "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{pdf}"},
    }
    assert _block(_media(tmp_path, MediaPart("file", "https://x.org/a.pdf"))) == {
        "type": "file",
        "file": {"url": "https://x.org/a.pdf"},
    }
    assert _block(_media(tmp_path, MediaPart("audio", "a.mp3"))) == {
        "type": "input_audio",
        "input_audio": {"data": mp3, "format": "mp3"},
    }
    assert _block(_media(tmp_path, MediaPart("file", "a.pdf"), "anthropic")) == {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": pdf},
    }
    assert _block(_media(tmp_path, MediaPart("file", "a.pdf"), "openai-responses")) == {
        "type": "input_file",
        "filename": "a.pdf",
        "file_data": f"data:application/pdf;base64,{pdf}",
    }


def test_media_that_cannot_be_read_is_an_error_with_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "prompt"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(_PNG)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "large.png").write_bytes(b"x" * 101)
    os.mkfifo(folder / "pipe.png")
    reader = MediaReader(folder, limit=100)
    expected = {
        "gone.png": "media-missing",
        "../secret.png": "media-outside",
        "link.png": "media-outside",
        "/etc/hostname": "media-outside",
        "large.png": "media-too-large",
        "pipe.png": "media-unreadable",
        ".": "media-unreadable",
        "a\0b": "media-unreadable",
    }

    for source, code in expected.items():
        request = _request([_user(MediaPart("image", source))], media=reader)
        assert [problem.code for problem in request.problems] == [code], source
        assert request.problems[0].severity == "error"
    assert "media-missing" in {
        problem.code
        for problem in _request(
            [_user(MediaPart("image", "a.png"))], media=MediaReader(None)
        ).problems
    }


def test_a_granted_root_is_read_and_a_description_is_short(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.png").write_bytes(_PNG)
    folder = tmp_path / "prompt"
    folder.mkdir()
    reader = MediaReader(folder, (other,), describe_only=True)

    request = _request([_user(MediaPart("image", "../other/a.png"))], media=reader)

    assert request.problems == ()
    assert _block(request)["image_url"]["url"] == "data:image/png;base64,… 28 bytes …"


@pytest.mark.parametrize(
    ("provider", "kind"),
    [("anthropic", "audio"), ("anthropic", "video"), ("openai-responses", "audio")],
)
def test_media_a_provider_does_not_take_is_left_out_and_reported(
    provider: Provider, kind: Any
) -> None:
    request = _request(
        [_user(TextPart("x"), MediaPart(kind, "https://x.org/a"))], provider=provider
    )

    assert "x.org" not in str(request.body)
    assert [problem.code for problem in request.problems] == ["unsupported-media"]


def test_an_unknown_quality_is_reported_and_not_sent() -> None:
    request = _request([_user(MediaPart("image", "https://x.org/a", {"quality": "superb"}))])

    assert _block(request)["image_url"] == {"url": "https://x.org/a"}
    assert [problem.code for problem in request.problems] == ["unsupported-attribute"]


# --- legal histories ------------------------------------------------------------------------


def test_what_a_provider_would_refuse_in_a_history_is_told() -> None:
    call = ToolCallPart("c1", "find", "{}")
    messages = [
        Message("tool", (ToolResultPart("orphan"),), {"tool_call_id": "c0"}),
        Message("assistant", (call, ToolCallPart("c2", "find", "{}"))),
        Message("tool", (ToolResultPart("two"),), {"tool_call_id": "c2"}),
        _user(TextPart("and?")),
        Message("assistant", (ToolCallPart("c3", "find", "{}"),)),
    ]

    assert [problem.code for problem in history_problems(messages)] == [
        "orphan-tool-result",
        "unanswered-tool-call",
        "unanswered-tool-call",
    ]
    results = [
        Message("tool", (ToolResultPart(call_id),), {"tool_call_id": call_id})
        for call_id in ("c2", "c1")
    ]
    assert history_problems([messages[1], *results, messages[3]]) == ()


def test_calls_that_a_thread_gave_in_chat_form_reach_every_provider() -> None:
    calls: list[Json] = [
        {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
    ]
    message = Message("assistant", (TextPart("x"),), {"tool_calls": calls})

    assert _request([message]).body["messages"][0]["tool_calls"] == calls  # type: ignore
    items = _request([message], provider="openai-responses").body["input"]
    assert items[1]["type"] == "function_call"  # type: ignore[index, call-overload]
    blocks = _request([message], provider="anthropic").body["messages"][0]["content"]  # type: ignore
    assert blocks[1]["type"] == "tool_use"


@pytest.mark.parametrize("provider", ["openai-responses", "anthropic"])
def test_a_system_text_alone_is_no_request(provider: Provider) -> None:
    alone = Message("system", (TextPart("Question: why?"),))
    request = to_request([alone], (), ModelDeclaration(id="m"), provider=provider)
    assert [(item.code, item.severity) for item in request.problems] == [
        ("no-message", Severity.ERROR)
    ]
    asked = Message("user", (TextPart("Why?"),))
    request = to_request([alone, asked], (), ModelDeclaration(id="m"), provider=provider)
    assert request.problems == ()


_DRAWN = [
    _user(TextPart("draw")),
    Message("assistant", (ToolCallPart("c1", "draw", "{}"),)),
    Message(
        "tool",
        (ToolResultPart("drawn"), MediaPart("image", "data:image/png;base64,UE5H")),
        {"tool_call_id": "c1", "name": "draw"},
    ),
]


def test_pictures_of_a_result_are_sent_in_it_where_the_api_takes_them() -> None:
    sent = _request(_DRAWN, provider="anthropic").body["messages"][-1]["content"][0]
    source = {"type": "base64", "media_type": "image/png", "data": "UE5H"}
    assert sent["content"] == [
        {"type": "text", "text": "drawn"},
        {"type": "image", "source": source},
    ]
    sent = _request(_DRAWN, provider="openai-responses").body["input"][-1]
    assert sent["output"] == [
        {"type": "input_text", "text": "drawn"},
        {"type": "input_image", "image_url": "data:image/png;base64,UE5H"},
    ]
    sent = _request(_DRAWN, provider="gemini").body["contents"][-1]["parts"][0]
    data = {"inlineData": {"mimeType": "image/png", "data": "UE5H"}}
    assert sent["functionResponse"]["parts"] == [data]


def test_pictures_of_a_result_follow_it_where_results_are_text() -> None:
    request = _request([*_DRAWN, Message("assistant", (TextPart("done"),))])
    result, picture, answer = request.body["messages"][2:]
    assert (result["role"], result["content"]) == ("tool", "drawn")
    assert picture["role"] == "user"
    assert picture["content"][0] == {"type": "text", "text": "From the result of draw:"}
    assert picture["content"][1]["image_url"]["url"] == "data:image/png;base64,UE5H"
    assert answer["role"] == "assistant"
    [said] = [each for each in request.problems if "follow as a user message" in each.message]
    assert said.severity == Severity.HINT
