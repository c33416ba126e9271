"""Request bodies, curl commands and lines of data sets: the prompt with its values in it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from studio.core.export.request_script import (
    ApiEndpoint,
    curl_command,
    endpoint_of,
    json_text,
    sendable,
)
from studio.core.export.sent import (
    body_rounds,
    key_variable,
    lost,
    named_connection,
    request_losses,
    request_of,
)
from studio.core.export.target import ExportResult, ExportSource, result
from studio.core.export.unresolved import unlisted_tools, unresolved_references
from studio.core.models.connections import address_of
from studio.core.prompty.reference_values import whole_reference
from studio.core.text.source import Problem
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider

LABELS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}


def request_body(provider: Provider, source: ExportSource) -> ExportResult:
    """Return the exact body of a request, as JSON, with media read from the prompt's folder."""
    request = request_of(source, provider)

    def write(each: ExportSource) -> str:
        return json_text(request_of(each, provider).body)

    return result(
        json_text(request.body),
        (*source.problems, *request.problems),
        request_losses(source, request),
        body_rounds(source, provider, write),
    )


def messages_jsonl(source: ExportSource) -> ExportResult:
    """Return a line in the form of chat completions for each set."""
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


# A shell command that sends the request to where the prompt says.

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IN_QUOTES = re.compile(r"[$`\"\\]")


@dataclass(frozen=True, slots=True)
class CurlCommand:
    """A shell command that sends the request; the key comes from the environment."""

    provider: Provider

    def make(self, source: ExportSource) -> ExportResult:
        """Write the command; its body is in a here-document, so nothing in it needs quotes."""
        request = request_of(source, self.provider)
        round_trips = body_rounds(
            source,
            self.provider,
            lambda each: self._script(source, request_of(each, self.provider).body),
        )
        return result(
            self._script(source, request.body),
            (*source.problems, *request.problems),
            (*self._losses(source), *request_losses(source, request)),
            round_trips,
        )

    def _losses(self, source: ExportSource) -> Iterator[str]:
        connection = source.document.model.connection
        if connection.get("endpoint") and not self._speaks_to_the_document(source):
            yield (
                f"The prompt names {connection['endpoint']}, which does not speak "
                f"{LABELS[self.provider]}: the command goes to "
                f"{endpoint_of(self.provider).address}."
            )

    def _speaks_to_the_document(self, source: ExportSource) -> bool:
        """Return whether the server that the prompt names speaks this provider's form."""
        is_anthropic = source.document.model.provider == "anthropic"
        return is_anthropic == (self.provider == "anthropic")

    def _script(self, source: ExportSource, body: JsonObject) -> str:
        endpoint, given = self._endpoint(source)
        reference = whole_reference(given)
        if reference is None or reference.protocol != "env":
            return "#!/bin/sh\n" + curl_command(body, endpoint, given)
        default = _IN_QUOTES.sub(r"\\\g<0>", reference.default or "")
        rest = f":-{default}" if default else f":?set {reference.argument}"
        first = f'endpoint="${{{reference.argument}{rest}}}"\n'
        address = f'"${{endpoint%/}}{endpoint.path}"'
        return "#!/bin/sh\n" + first + curl_command(body, endpoint, in_shell=address)

    def _endpoint(self, source: ExportSource) -> tuple[ApiEndpoint, str]:
        """Return the address and key of the request, and the address as the prompt writes it."""
        model = source.document.model
        usual = endpoint_of(self.provider, model.api_type)
        connection = named_connection(source, self.provider)
        given = connection.base_url
        key = key_variable(connection)
        if not _VARIABLE.fullmatch(key):
            key = "ANTHROPIC_API_KEY" if self.provider == "anthropic" else "OPENAI_API_KEY"
        # What comes between the address that the prompt names and the path of the API.
        path = address_of(connection).rstrip("/").removeprefix(given.rstrip("/")) + usual.path
        headers = [f"Authorization: Bearer ${key}"]
        if self.provider == "anthropic":
            headers = [f"x-api-key: ${key}", "anthropic-version: 2023-06-01"]
        elif connection.kind == "azure":
            headers = [f"api-key: ${key}"]
        path = path if given else usual.path
        return replace(usual, path=path, headers=tuple(headers)), given
