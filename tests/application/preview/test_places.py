"""Every value of every shape leads to where it was written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.application.preview.build import build_preview
from studio.application.preview.places import ValueSource, source_of
from studio.application.preview.requests import PROVIDERS, request_of
from studio.application.preview.variables import (
    MASK,
    Preview,
    PreviewJob,
    PreviewTarget,
    unmasked_place,
)
from studio.core.masking.redact import without_keys
from studio.core.prompty.parse import parse
from studio.core.text.values import Json, KeyPath
from studio.core.wire.request import Provider

DOC = """---
model:
  id: gpt-4o
  options: {temperature: 0.5, maxOutputTokens: 99}
template:
  parser: {kind: section}
inputs:
  city: {kind: string}
  thread: {kind: thread}
outputs:
  answer: {kind: string, description: What is said}
tools:
  - name: search
    kind: function
    description: Looks it up
    parameters:
      properties:
        query: {kind: string, description: same}
---
system:
You know "{{ city }}" 🙂 well.

user[name="{{ city }}"]:
same

assistant:
other

![thread]

user:
same

![image](cat.png)

assistant[type="tool_call"]:
id: c1
type: function
function:
  name: search
  arguments: {query: same}

tool[tool_call_id="c1", name=search]:
found {{ city }} and same
"""
TALK: list[Json] = [{"role": "user", "content": "same"}]


def preview_of(text: str, **inputs: Json) -> Preview:
    return build_preview(PreviewJob(parse(text, Path("/x/trip.prompty")), inputs))


def at(preview: Preview, provider: Provider, place: KeyPath, into: int = 0) -> ValueSource | None:
    """The source of the value at a place of the body, by the place of its text."""
    request = request_of(preview, provider)
    text = json.dumps(request.body, ensure_ascii=False, indent=2)
    assert text == request.text
    return source_of(preview.shown, request, _offset(request.body, place) + into)


def _offset(body: Json, place: KeyPath) -> int:
    """Where the value at a place is written in the indented JSON."""
    mark = "\ue000"
    shown = json.dumps(_marked(body, place, mark), ensure_ascii=False, indent=2)
    return shown.index(f'"{mark}')


def _marked(value: Json, place: KeyPath, mark: str) -> Json:
    if not place:
        return mark
    key, rest = place[0], place[1:]
    if isinstance(value, dict):
        return {
            name: _marked(item, rest, mark) if name == key else item for name, item in value.items()
        }
    assert isinstance(value, list)
    return [_marked(item, rest, mark) if index == key else item for index, item in enumerate(value)]


def source_text(found: ValueSource | None) -> str:
    assert found is not None
    assert found.span is not None
    return DOC[found.span.start : found.span.end] or DOC[found.span.start :].partition("\n")[0]


PLACES: dict[Provider, dict[str, KeyPath]] = {
    "openai-chat": {
        "system": ("messages", 0, "content"),
        "first": ("messages", 1, "content"),
        "name": ("messages", 1, "name"),
        "role": ("messages", 1, "role"),
        "thread": ("messages", 3, "content"),
        "second": ("messages", 4, "content", 0, "text"),
        "image": ("messages", 4, "content", 1, "image_url", "url"),
        "call": ("messages", 5, "tool_calls", 0, "function", "arguments"),
        "result": ("messages", 6, "content"),
        "answers": ("messages", 6, "tool_call_id"),
        "tool": ("tools", 0, "function", "name"),
        "says": ("tools", 0, "function", "description"),
        "query": (
            "tools",
            0,
            "function",
            "parameters",
            "properties",
            "query",
            "description",
        ),
        "output": (
            "response_format",
            "json_schema",
            "schema",
            "properties",
            "answer",
            "description",
        ),
        "temperature": ("temperature",),
        "most": ("max_completion_tokens",),
    },
    "openai-responses": {
        "system": ("instructions",),
        "first": ("input", 0, "content"),
        "role": ("input", 0, "role"),
        "thread": ("input", 2, "content"),
        "second": ("input", 3, "content", 0, "text"),
        "image": ("input", 3, "content", 1, "image_url"),
        "call": ("input", 4, "arguments"),
        "result": ("input", 5, "output"),
        "answers": ("input", 5, "call_id"),
        "tool": ("tools", 0, "name"),
        "says": ("tools", 0, "description"),
        "query": ("tools", 0, "parameters", "properties", "query", "description"),
        "output": ("text", "format", "schema", "properties", "answer", "description"),
        "temperature": ("temperature",),
        "most": ("max_output_tokens",),
    },
    "anthropic": {
        "system": ("system",),
        "first": ("messages", 0, "content", 0, "text"),
        "role": ("messages", 0, "role"),
        "thread": ("messages", 2, "content", 0, "text"),
        "second": ("messages", 3, "content", 0, "text"),
        "image": ("messages", 3, "content", 1, "source", "url"),
        "call": ("messages", 4, "content", 0, "input", "query"),
        "result": ("messages", 5, "content", 0, "content"),
        "answers": ("messages", 5, "content", 0, "tool_use_id"),
        "tool": ("tools", 0, "name"),
        "says": ("tools", 0, "description"),
        "query": ("tools", 0, "input_schema", "properties", "query", "description"),
        "output": ("output_config", "format", "schema", "properties", "answer", "description"),
        "temperature": ("temperature",),
        "most": ("max_tokens",),
    },
    "ollama": {
        "system": ("messages", 0, "content"),
        "first": ("messages", 1, "content"),
        "role": ("messages", 1, "role"),
        "thread": ("messages", 3, "content"),
        "second": ("messages", 4, "content"),
        "image": ("messages", 4, "images", 0),
        "call": ("messages", 5, "tool_calls", 0, "function", "arguments", "query"),
        "result": ("messages", 6, "content"),
        "tool": ("tools", 0, "function", "name"),
        "says": ("tools", 0, "function", "description"),
        "query": (
            "tools",
            0,
            "function",
            "parameters",
            "properties",
            "query",
            "description",
        ),
        "output": ("format", "properties", "answer", "description"),
        "temperature": ("options", "temperature"),
        "most": ("options", "num_predict"),
    },
    "gemini": {
        "system": ("systemInstruction", "parts", 0, "text"),
        "first": ("contents", 0, "parts", 0, "text"),
        "role": ("contents", 0, "role"),
        "thread": ("contents", 2, "parts", 0, "text"),
        "second": ("contents", 3, "parts", 0, "text"),
        "image": ("contents", 3, "parts", 1, "fileData", "fileUri"),
        "call": ("contents", 4, "parts", 0, "functionCall", "args", "query"),
        "result": ("contents", 5, "parts", 0, "functionResponse", "response", "result"),
        "answers": ("contents", 5, "parts", 0, "functionResponse", "id"),
        "tool": ("tools", 0, "functionDeclarations", 0, "name"),
        "says": ("tools", 0, "functionDeclarations", 0, "description"),
        "query": (
            "tools",
            0,
            "functionDeclarations",
            0,
            "parametersJsonSchema",
            "properties",
            "query",
            "description",
        ),
        "output": (
            "generationConfig",
            "responseJsonSchema",
            "properties",
            "answer",
            "description",
        ),
        "temperature": ("generationConfig", "temperature"),
        "most": ("generationConfig", "maxOutputTokens"),
    },
}
EXPECTED = {
    "first": "same",
    "name": "{{ city }}",
    "role": 'user[name="{{ city }}"]:',
    "thread": "![thread]",
    "second": "same",
    "image": "![image](cat.png)",
    "answers": "c1",
    "tool": "search",
    "says": "Looks it up",
    "query": "same",
    "output": "What is said",
    "temperature": "0.5",
    "most": "99",
}


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_every_value_leads_to_where_it_was_written(provider: Provider) -> None:
    preview = preview_of(DOC, city="Lis\nbon", thread=TALK)
    places = PLACES[provider]
    for name, expected in EXPECTED.items():
        if name in places:
            found = at(preview, provider, places[name], into=0 if name == "role" else 1)
            assert source_text(found) == expected, name
    assert "arguments: {query: same}" in source_text(at(preview, provider, places["call"]))


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_equal_values_lead_each_to_their_own(provider: Provider) -> None:
    preview = preview_of(DOC, city="same", thread=TALK)
    places = PLACES[provider]
    body = [index for index in range(len(DOC)) if DOC.startswith("\nsame\n", index)]
    found = [at(preview, provider, places[name], into=1) for name in ("first", "second")]
    assert [each.span.start for each in found if each and each.span is not None] == [
        place + 1 for place in body
    ]
    thread = at(preview, provider, places["thread"], into=2)
    assert thread is not None
    assert thread.input == "thread"


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_a_place_inside_a_text_leads_to_its_piece(provider: Provider) -> None:
    preview = preview_of(DOC, city="Lis\nbon", thread=TALK)
    place = PLACES[provider]["system"]
    value = at(preview, provider, place, into=len('"You know \\"Lis'))
    assert source_text(value) == "{{ city }}"
    assert value is not None
    assert value.input == "city"
    after = at(preview, provider, place, into=len('"You know \\"Lis\\nbon\\" 🙂 '))
    assert source_text(after) == "well."
    result = at(preview, provider, PLACES[provider]["result"], into=len('"found Lis\\nbon '))
    assert source_text(result).startswith("and same")


def test_what_nobody_wrote_leads_nowhere() -> None:
    preview = preview_of("user:\nhello\n")
    request = request_of(preview, "anthropic")
    assert at(preview, "anthropic", ("max_tokens",)) is None
    assert source_of(preview.shown, request, 0) is None
    assert source_of(preview.shown, request, request.text.index('"messages"') + 2) is None
    order = PreviewJob(parse(DOC), target=PreviewTarget("local-1", "Mine"))
    assert at(build_preview(order), "openai-chat", ("model",)) is None
    assert source_text(at(preview_of(DOC), "openai-chat", ("model",), into=1)) == "gpt-4o"


def test_a_key_leads_where_its_value_does() -> None:
    preview = preview_of(DOC)
    request = request_of(preview, "openai-chat")
    found = source_of(preview.shown, request, request.text.index('"temperature"') + 3)
    assert source_text(found) == "0.5"


def test_prompty_1_options_are_found_under_their_own_names() -> None:
    text = (
        "---\nmodel:\n  api: chat\n  configuration: {type: azure_openai, azure_deployment: g35}\n"
        "  parameters: {temperature: 0.5, max_tokens: 9}\n---\nsystem:\nx\n"
    )
    preview = preview_of(text)
    for place, expected in (("max_completion_tokens", "9"), ("temperature", "0.5")):
        found = at(preview, "openai-chat", (place,))
        assert found is not None
        assert found.span is not None
        assert text[found.span.start : found.span.end] == expected
    found = at(preview, "openai-chat", ("model",), into=1)
    assert found is not None
    assert found.span is not None
    assert text[found.span.start : found.span.end] == "g35"


def test_places_behind_a_masked_secret_are_right() -> None:
    text = "system:\nUse sk-abcdefghijklmnopqrstuvwx now {{ x }}.\n"
    preview = preview_of(text, x="value")
    request = request_of(preview, "openai-chat")
    assert "sk-abc" not in request.text
    found = source_of(preview.shown, request, request.text.index("now"))
    assert found is not None
    assert found.span is not None
    assert found.span.start == text.index("now")
    found = source_of(preview.shown, request, request.text.index("value") + 2)
    assert found is not None
    assert found.input == "x"


def test_unmasked_places() -> None:
    key = "sk-abcdefghijklmnopqrstuvwx"
    text = f"a {key} b {key} c"
    masked = without_keys(text)
    assert masked == f"a {MASK} b {MASK} c"
    for letter in "abc":
        assert unmasked_place(text, masked.index(f"{letter}")) == text.index(
            {"a": "a ", "b": " b ", "c": " c"}[letter]
        ) + (0 if letter == "a" else 1)
    assert unmasked_place(text, masked.index(MASK)) == text.index(key)


@pytest.mark.parametrize(("api", "place"), [("embedding", ("input",)), ("image", ("prompt",))])
def test_other_requests_too(api: str, place: KeyPath) -> None:
    text = f"---\nmodel: {{id: m, apiType: {api}}}\n---\nuser:\nDraw {{{{ x }}}}\n"
    preview = preview_of(text, x="cat")
    found = at(preview, "openai-chat", place, into=7)
    assert found is not None
    assert found.input == "x"
