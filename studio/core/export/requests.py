"""Request bodies, curl commands and lines of data sets: the prompt with its values in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from studio.core.export.request_script import json_text, sendable
from studio.core.export.sent import body_rounds, lost, request_losses, request_of
from studio.core.export.target import ExportResult, ExportSource, TargetGroup, result
from studio.core.export.unresolved import unlisted_tools, unresolved_references
from studio.core.text.problem import Problem
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider

LABELS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The exact body of a request, as JSON."""

    provider: Provider
    group: TargetGroup = "Requests"
    suffix: str = ".json"
    needs_values: bool = True

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider

    @property
    def label(self) -> str:
        """Name for people."""
        return f"Request body: {LABELS[self.provider]}"

    @property
    def about(self) -> str:
        """What it is."""
        return (
            f"The body that {LABELS[self.provider]} gets, as JSON, with the values of the inputs "
            "and the pictures in it."
        )

    def make(self, source: ExportSource) -> ExportResult:
        """The body with media read from the prompt's folder."""
        request = request_of(source, self.provider)

        def write(each: ExportSource) -> str:
            return json_text(request_of(each, self.provider).body)

        return result(
            json_text(request.body),
            (*source.problems, *request.problems),
            request_losses(source, request),
            body_rounds(source, self.provider, write),
        )


@dataclass(frozen=True, slots=True)
class MessagesJsonl:
    """Conversations as lines of a data set: `{"messages": […], "tools": […]}`."""

    name: str = "messages-jsonl"
    label: str = "Messages (JSONL)"
    group: TargetGroup = "Documents"
    suffix: str = ".jsonl"
    needs_values: bool = True
    about: str = (
        "One line per saved input set (without sets, one for the values of now), in the form that "
        "evaluation and training sets take."
    )

    def make(self, source: ExportSource) -> ExportResult:
        """A line in the form of chat completions for each set."""
        chosen = source.set_rounds or source.rounds
        problems: list[Problem] = [*source.document.problems]
        lines: list[str] = []
        for each in chosen.values():
            problems += each.prepared.problems
            request = request_of(each, "openai-chat")
            problems += request.problems
            lines.append(_line(request.body))
        round_trips = body_rounds(
            source, "openai-chat", lambda each: _line(request_of(each, "openai-chat").body)
        )
        losses = (*lost(problems), *unlisted_tools(source), *unresolved_references(source))
        used = round_trips if not source.sets else round_trips[1:]
        return result("\n".join(lines) + "\n", problems, losses, used)


def _line(body: JsonObject) -> str:
    kept = {key: body[key] for key in ("messages", "tools") if key in body}
    return sendable(json.dumps(kept, ensure_ascii=False))
