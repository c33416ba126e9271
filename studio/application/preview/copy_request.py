"""A request of the preview as text for other places: JSON, a curl command, a Python script."""

from __future__ import annotations

import json
import shlex

from studio.application.preview.value import RequestPreview
from studio.core.text.values import Json, JsonObject
from studio.core.wire.request import Provider

_ADDRESSES: dict[Provider, str] = {
    "openai-chat": "https://api.openai.com/v1",
    "openai-responses": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
}
_PATHS: dict[Provider, str] = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/messages",
}
_OTHER_PATHS = {"embedding": "/embeddings", "image": "/images/generations"}
_CALLS: dict[str, tuple[str, str]] = {
    "/chat/completions": ("chat.completions.create", "reply.choices[0].message"),
    "/responses": ("responses.create", "reply.output_text"),
    "/embeddings": ("embeddings.create", "reply.data[0].embedding"),
    "/images/generations": ("images.generate", "reply.data[0]"),
}
_STREAMING = ("stream", "stream_options")
_KNOWN = frozenset(
    {
        "model", "messages", "input", "instructions", "prompt", "tools", "response_format", "text",
        "reasoning", "temperature", "top_p", "max_completion_tokens", "max_output_tokens",
        "frequency_penalty", "presence_penalty", "seed", "stop", "parallel_tool_calls",
        "reasoning_effort",
    }
)  # fmt: skip
"""Arguments that openai's package knows; others travel in its `extra_body`."""


def request_as_json(request: RequestPreview) -> str:
    """The body with the content of its files."""
    return json.dumps(_whole(request), ensure_ascii=False, indent=2)


def request_as_curl(request: RequestPreview) -> str:
    """A shell command that sends the body; the key comes from the environment.

    It does not stream: what comes back is to be read by a person.
    """
    anthropic = _shape(request) == "anthropic"
    header = (
        '-H "x-api-key: $ANTHROPIC_API_KEY" -H "anthropic-version: 2023-06-01"'
        if anthropic
        else '-H "Authorization: Bearer $OPENAI_API_KEY"'
    )
    body = json.dumps(_at_once(request), ensure_ascii=False, indent=2)
    return (
        f"curl {shlex.quote(_address(request))} \\\n  -H 'Content-Type: application/json' \\\n"
        f"  {header} \\\n  --data-binary {shlex.quote(body)}\n"
    )


def request_as_python(request: RequestPreview) -> str:
    """A script that sends the body and prints the reply; the key comes from the environment."""
    if _shape(request) == "anthropic":
        return _anthropic_script(request)
    call, reply = _CALLS[_path(request)]
    address = f"base_url={request.base_url!r}" if request.base_url else ""
    body = _at_once(request)
    lines = [f"    {key}={repr_json(body[key], 4)}," for key in body if key in _KNOWN]
    further = {key: value for key, value in body.items() if key not in _KNOWN}
    if further:
        lines.append(f"    extra_body={repr_json(further, 4)},")
    return "\n".join(
        [
            "import openai",
            "",
            f"client = openai.OpenAI({address})  # the key: OPENAI_API_KEY",
            f"reply = client.{call}(",
            *lines,
            ")",
            f"print({reply})",
            "",
        ]
    )


def _anthropic_script(request: RequestPreview) -> str:
    """Without a package: nothing but Python itself is needed to send it."""
    return "\n".join(
        [
            "import json",
            "import os",
            "import urllib.request",
            "",
            f'address = os.environ.get("ANTHROPIC_BASE_URL", {_ADDRESSES["anthropic"][:-3]!r})',
            f"body = {repr_json(_at_once(request))}",
            "request = urllib.request.Request(",
            '    address.rstrip("/") + "/v1/messages",',
            "    data=json.dumps(body).encode(),",
            "    headers={",
            '        "content-type": "application/json",',
            '        "x-api-key": os.environ["ANTHROPIC_API_KEY"],',
            '        "anthropic-version": "2023-06-01",',
            "    },",
            ")",
            "with urllib.request.urlopen(request) as reply:",
            '    print(json.load(reply)["content"])',
            "",
        ]
    )


def repr_json(value: Json, indent: int = 0) -> str:
    """A JSON value as Python source, indented as JSON would be."""
    inner = " " * (indent + 4)
    if isinstance(value, dict) and value:
        rows = [f"{inner}{key!r}: {repr_json(item, indent + 4)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + ",\n" + " " * indent + "}"
    if isinstance(value, list | tuple) and value:
        rows = [f"{inner}{repr_json(item, indent + 4)}" for item in value]
        return "[\n" + ",\n".join(rows) + ",\n" + " " * indent + "]"
    return repr(value)


def _whole(request: RequestPreview) -> JsonObject:
    return request.whole() if request.whole is not None else request.body


def _at_once(request: RequestPreview) -> JsonObject:
    """The body of a request for the whole reply at once."""
    return {key: value for key, value in _whole(request).items() if key not in _STREAMING}


def _shape(request: RequestPreview) -> Provider:
    """Vectors and pictures are only OpenAI's to make."""
    return "openai-chat" if request.api in _OTHER_PATHS else request.provider


def _path(request: RequestPreview) -> str:
    return _OTHER_PATHS.get(request.api, _PATHS[request.provider])


def _address(request: RequestPreview) -> str:
    shape = _shape(request)
    own = _ADDRESSES[shape]
    base = own if shape == "anthropic" else request.base_url or own
    return base.rstrip("/") + _path(request)
