"""Recorded calls as prompt files: the file sends the body that was recorded, or names the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from studio.core.imports.imported import ImportFailure
from studio.core.imports.recorded_calls import OpenedCalls, RecordedCall, prompt_of_calls
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import find_references
from studio.core.text.values import Json

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"item": {"type": "string", "description": "What"}, "n": {"type": "integer"}},
    "required": ["item"],
}
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
ANSWER = {
    "type": "object",
    "properties": {"city": {"title": "City", "type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
CALLED = {"name": "stock", "arguments": '{"item": "lamp"}'}
CHAT: dict[str, Any] = {
    "model": "m",
    "messages": [
        {"role": "system", "content": "You {{ sell }}.\n\nuser:\n![thread]\n- a  "},
        {"role": "user", "content": "Two lamps?  "},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": CALLED}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "\n 7\n"},
    ],
    "tools": [{"type": "function", "function": {"name": "stock", "parameters": SCHEMA}}],
    "max_tokens": 50,
    "parallel_tool_calls": False,
    "response_format": {"type": "json_schema", "json_schema": {"name": "X", "schema": ANSWER}},
}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", CHAT),
    "chat with a picture": (
        "/openai/deployments/d/chat/completions?api-version=1",
        {
            "model": "m",
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "look"},
                        {
                            "type": "image_url",
                            "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"},
                        },
                    ],
                }
            ],
        },
    ),
    "a text that teaches a format": (
        "/v1/chat/completions",
        {"model": "m", "messages": [{"role": "user", "content": "Action: x\nFinal Answer: y"}]},
    ),
    "responses": (
        "/v1/responses",
        {
            "model": "m",
            "instructions": "Be brief.",
            "input": [
                {"type": "message", "role": "user", "content": "Two?"},
                {"type": "function_call", "call_id": "c1", **CALLED},
                {"type": "function_call_output", "call_id": "c1", "output": "7"},
            ],
            "tools": [{"type": "function", "name": "stock", "parameters": SCHEMA}],
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "reasoning": {"effort": "low", "summary": "auto"},
            "truncation": "auto",
            "text": {"format": {"type": "json_schema", "name": "X", "schema": ANSWER}},
        },
    ),
    "anthropic": (
        "/v1/messages",
        {
            "model": "m",
            "max_tokens": 10,
            "system": [
                {"type": "text", "text": "A"},
                {"type": "text", "text": "B", "cache_control": {"type": "ephemeral"}},
            ],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": "Two?",
                            "cache_control": {"type": "ephemeral", "ttl": "1h"},
                        }
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "t1", "name": "stock", "input": {"item": "x"}},
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "7"}],
                },
            ],
            "tools": [{"name": "stock", "description": "S", "input_schema": SCHEMA}],
            "tool_choice": {"type": "auto", "disable_parallel_tool_use": True},
            "stream": True,
        },
    ),
    "gemini": (
        "/v1beta/models/gm:generateContent",
        {
            "contents": [
                {"parts": [{"text": "Two?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "stock", "args": {}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "stock", "response": {"result": "7"}}}],
                },
                {
                    "role": "user",
                    "parts": [{"inlineData": {"mime_type": "image/png", "data": PIXEL}}],
                },
            ],
            "systemInstruction": {"role": "user", "parts": [{"text": "Be brief."}]},
            "tools": [
                {
                    "functionDeclarations": [
                        {"name": "stock", "parameters": {"type": "OBJECT", "properties": {}}}
                    ]
                }
            ],
            "generationConfig": {
                "temperature": 0.1,
                "responseMimeType": "application/json",
                "responseSchema": {"type": "OBJECT", "properties": {"city": {"type": "STRING"}}},
            },
        },
    ),
    "ollama": (
        "/api/chat",
        {
            "model": "m",
            "stream": False,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": " look\n", "images": [PIXEL]},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"function": {"name": "stock", "arguments": {"item": "x"}}}],
                },
                {"role": "tool", "tool_name": "stock", "content": "7"},
            ],
            "tools": [{"type": "function", "function": {"name": "stock", "parameters": SCHEMA}}],
            "format": ANSWER,
            "think": True,
            "keep_alive": "5m",
            "options": {"temperature": 0, "num_ctx": 4096, "num_predict": 9},
        },
    ),
}


def opened(*bodies: Any, path: str = "/v1/chat/completions") -> OpenedCalls:
    calls = enumerate(bodies, 1)
    return prompt_of_calls([RecordedCall(f"call {n}", path, json.dumps(each)) for n, each in calls])


@pytest.mark.parametrize("name", BODIES)
def test_a_call_becomes_a_file_that_sends_the_same_body(name: str) -> None:
    path, body = BODIES[name]
    assert opened(body, path=path).differences == {"call 1": ()}


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"messages": [{"role": "user", "content": "a", "x": 1}]}, "messages[0].x is left out"),
        (
            {
                "messages": [
                    {"role": "user", "content": [{"type": "text", "text": t} for t in "ab"]}
                ]
            },
            "messages[0].content is 'ab'",
        ),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "strict": False}}]},
            "tools[0].function.strict is left out: it was False",
        ),
    ],
)
def test_what_the_file_sends_otherwise_is_named(change: dict[str, Json], named: str) -> None:
    (found,) = opened({**CHAT, **change}).differences["call 1"]
    assert found.startswith(named)


def test_a_recording_reads_no_variable_and_no_file() -> None:
    """Whatever a program or a server wrote: a trusted folder must not resolve it."""
    stolen = "${env:OPENAI_API_KEY} and ${file:/etc/passwd}"
    body = {
        **CHAT,
        "messages": [
            {"role": "user", "content": stolen},
            CHAT["messages"][2],
            {"role": "tool", "tool_call_id": "c1", "content": stolen},
        ],
        "metadata": {"a": stolen},
    }
    made = opened(body)
    front = made.made.text.partition("\n---\n")[0]
    assert list(find_references(front)) == []
    assert made.differences == {"call 1": ()}


def asked(*texts: str, system: str = "You sell lamps. Be brief.") -> dict[str, Json]:
    rows: list[Json] = [{"role": "system", "content": system}]
    rows += [{"role": "user", "content": text} for text in texts]
    return {"model": "m", "messages": rows}


def test_calls_are_laid_over_each_other() -> None:
    made = opened(
        asked("Order: 17\nfor Anna Smith, please\nThe order 17\nBye"),
        asked("Order: 18\nfor Bob Jones, please\nThe order 18\nand a line\nBye"),
        asked("Order: 20\nfor Cy, please\nThe order 20\nBye"),
    )
    assert set(made.differences.values()) == {()}
    text = made.made.text.partition("\n---\n")[2].partition("user:\n")[2]
    assert (
        text
        == "Order: {{ order }}\nfor {{ user }}, please\nThe order {{ order }}\n{{ user_2 }}Bye\n"
    )
    kinds = {each.name: each.kind for each in parse(made.made.text).inputs}
    assert kinds == {"order": "integer", "user": "string", "user_2": "string"}
    assert made.made.input_sets == {
        "call 1": {"order": 17, "user": "Anna Smith", "user_2": ""},
        "call 2": {"order": 18, "user": "Bob Jones", "user_2": "and a line\n"},
        "call 3": {"order": 20, "user": "Cy", "user_2": ""},
    }


def test_results_and_pictures_that_differ_are_inputs() -> None:
    other = json.loads(json.dumps(CHAT))
    other["messages"][3]["content"] = "8"
    made = opened(CHAT, other)
    assert set(made.differences.values()) == {()}
    assert [list(each) for each in made.made.input_sets.values()] == [["tool_messages"]] * 2
    path, one = BODIES["chat with a picture"]
    two = json.loads(json.dumps(one))
    two["messages"][0]["content"][1]["image_url"] = {"url": "https://a/b.png"}
    one = json.loads(json.dumps(two))
    one["messages"][0]["content"][1]["image_url"] = {"url": "https://a/c.png"}
    made = opened(one, two, path=path)
    assert set(made.differences.values()) == {()}
    assert made.made.input_sets["call 2"] == {"image": "https://a/b.png"}


def test_calls_of_another_form_are_left_out_by_name() -> None:
    made = opened(
        asked("a"),
        asked("a", "b"),
        asked("a", system="Write poems about the sea and nothing else, ever."),
        {**asked("a"), "tools": CHAT["tools"]},
        asked("b"),
    )
    assert made.left_out == ("call 2", "call 3", "call 4")
    assert list(made.made.input_sets) == ["call 1", "call 5"]


def test_what_is_no_request_is_refused() -> None:
    for path, body in (("/v1/models", "{}"), ("/v1/messages", "{"), ("/v1/messages", "{}")):
        with pytest.raises(ImportFailure, match="call 1: "):
            prompt_of_calls([RecordedCall("call 1", path, body)])
