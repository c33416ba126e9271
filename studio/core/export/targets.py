"""The forms that a prompt can be exported to."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.core.export.proof import prove
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, result, unique
from studio.core.text.values import Json
from studio.core.wire.request import Provider, WireRequest, to_request

_LABELS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat completions",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
}


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The prompt itself: the buffer's text, byte for byte, once it is proven."""

    name: str = "prompty"
    label: str = "Prompt file (checked)"
    suffix: str = ".prompty"

    def make(self, source: ExportSource) -> ExportResult:
        """The text as it is in the editor; an error of the document itself blocks it.

        What these inputs alone give (a missing value) is told, and blocks nothing.
        """
        document = source.prepared.document
        proof = result(
            document.source.text, (*document.problems, *prove(document.source.text, source))
        )
        return replace(proof, problems=unique((*source.problems, *proof.problems)))


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The exact body of a request, as JSON."""

    provider: Provider
    suffix: str = ".json"

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider

    @property
    def label(self) -> str:
        """Name for people."""
        return f"Request body: {_LABELS[self.provider]}"

    def make(self, source: ExportSource) -> ExportResult:
        """The body with media read from the prompt's folder."""
        request = request_of(source, self.provider)
        return result(json_text(request.body), (*source.problems, *request.problems))


@dataclass(frozen=True, slots=True)
class CurlCommand:
    """A shell command that sends the request; the key comes from the environment."""

    provider: Provider
    suffix: str = ".sh"

    @property
    def name(self) -> str:
        """The provider's name behind `curl-`."""
        return f"curl-{self.provider}"

    @property
    def label(self) -> str:
        """Name for people."""
        return f"curl command: {_LABELS[self.provider]}"

    def make(self, source: ExportSource) -> ExportResult:
        """The command; its body stands in a here-document, so nothing in it needs quoting."""
        request = request_of(source, self.provider)
        own, path, headers = _ADDRESSES[self.provider]
        address = (source.base_url or own).rstrip("/") + path
        lines = [
            "#!/bin/sh",
            f"curl --silent --show-error {shlex.quote(address)} \\",
            *(f'  --header "{header}" \\' for header in headers),
            "  --header 'Content-Type: application/json' \\",
            "  --data @- <<'END_OF_BODY'",
            json_text(request.body).rstrip("\n"),
            "END_OF_BODY",
        ]
        return result("\n".join(lines) + "\n", (*source.problems, *request.problems))


_ADDRESSES: Mapping[Provider, tuple[str, str, tuple[str, ...]]] = {
    "openai-chat": (
        "https://api.openai.com/v1",
        "/chat/completions",
        ("Authorization: Bearer $OPENAI_API_KEY",),
    ),
    "openai-responses": (
        "https://api.openai.com/v1",
        "/responses",
        ("Authorization: Bearer $OPENAI_API_KEY",),
    ),
    "anthropic": (
        "https://api.anthropic.com/v1",
        "/messages",
        ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"),
    ),
}


@dataclass(frozen=True, slots=True)
class MessagesJsonl:
    """The conversation as one line of a data set: `{"messages": […], "tools": […]}`."""

    name: str = "messages-jsonl"
    label: str = "Messages (JSONL)"
    suffix: str = ".jsonl"

    def make(self, source: ExportSource) -> ExportResult:
        """One line in the form of chat completions, as evaluation and training sets take it."""
        request = request_of(source, "openai-chat")
        kept = {key: request.body[key] for key in ("messages", "tools") if key in request.body}
        line = json.dumps(kept, ensure_ascii=False)
        return result(_sendable(line) + "\n", (*source.problems, *request.problems))


TARGETS: tuple[ExportTarget, ...] = (
    PromptFile(),
    RequestBody("openai-chat"),
    RequestBody("openai-responses"),
    RequestBody("anthropic"),
    CurlCommand("openai-chat"),
    CurlCommand("openai-responses"),
    CurlCommand("anthropic"),
    MessagesJsonl(),
)
"""Every form, in the order in which a list shows them."""


def find_target(name: str) -> ExportTarget | None:
    """The form of that name."""
    return next((target for target in TARGETS if target.name == name), None)


def request_of(source: ExportSource, provider: Provider) -> WireRequest:
    """The request that the prompt would send."""
    document = source.prepared.document
    model = document.model
    if model.api_type == "responses" and provider == "openai-chat":
        model = replace(model, api_type="chat")
    return to_request(
        source.prepared.messages.messages,
        source.told_tools,
        model,
        provider=provider,
        outputs=document.outputs,
        media=source.media,
    )


def json_text(value: Json) -> str:
    """JSON for people to read, ending in a line end."""
    return _sendable(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def _sendable(text: str) -> str:
    """The same JSON, with characters escaped that no UTF-8 file can hold."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
