from __future__ import annotations

import ast
import json
import shlex

from studio.bridge.preview_build import PreviewOrder, build_preview
from studio.bridge.preview_copy import (
    messages_as_chat,
    messages_as_json,
    messages_as_markdown,
    request_as_curl,
    request_as_python,
)
from studio.bridge.preview_value import Preview, PreviewTarget
from studio.core.prompty.parse import parse


def preview() -> Preview:
    text = 'system:\nIt\'s "quoted" $HOME\n\nuser[name="Seth"]:\n{{ q }}\n'
    return build_preview(PreviewOrder(parse(text), {"q": "a\nb"}, target=PreviewTarget("m")))


def test_messages_as_text() -> None:
    assert json.loads(messages_as_json(preview()))[1]["content"] == "a\nb"
    assert messages_as_chat(preview()).endswith("user: a\nb")
    assert "## user (name: Seth)\n\na\nb" in messages_as_markdown(preview())


def test_curl_carries_the_body_through_a_shell() -> None:
    for provider in ("openai-chat", "openai-responses", "anthropic"):
        request = preview().requests[provider]
        words = shlex.split(request_as_curl(request).replace("\\\n", " "))
        assert json.loads(words[words.index("--data-binary") + 1]) == json.loads(request.text)
        assert any("_API_KEY" in word for word in words)


def test_python_is_python_and_holds_the_same_body() -> None:
    for provider in ("openai-chat", "openai-responses", "anthropic"):
        request = preview().requests[provider]
        tree = ast.parse(request_as_python(request))
        call = next(
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and node.keywords and node.keywords[0].arg is None
        )
        body = ast.literal_eval(call.keywords[0].value)
        assert json.loads(json.dumps(body)) == json.loads(request.text)
