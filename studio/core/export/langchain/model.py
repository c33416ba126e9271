"""The model of a LangChain file: its class, and the arguments that make the studio's request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.core.export.chat_items import chat_messages
from studio.core.export.python_literal import python_expression
from studio.core.export.request_script import endpoint_of
from studio.core.export.requests import request_of
from studio.core.export.sent import (
    SentRequest,
    key_variable,
    named_connection,
    openai_connection,
    sent_by_studio,
)
from studio.core.export.target import ExportSource
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.prompty.messages import Message
from studio.core.text.values import Json, JsonObject, object_of

_OPENAI = (
    "temperature",
    "top_p",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "stop",
    "reasoning_effort",
)
_ANTHROPIC = ("temperature", "top_p", "top_k", "max_tokens", "stop_sequences")
_OF_THE_PROMPT = ("model", "messages", "input", "system", "instructions", "tools")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """What a LangChain file says of the model."""

    connection: Connection
    """Where its requests go, references as written."""

    arguments: JsonObject
    """Arguments of the class."""

    @property
    def is_anthropic(self) -> bool:
        """Whether the class is that of Anthropic's API."""
        return self.connection.kind == "anthropic"

    @property
    def package(self) -> str:
        """Package with the class."""
        return "langchain-anthropic" if self.is_anthropic else "langchain-openai"

    def lines(self, *, has_tools: bool) -> Iterator[str]:
        """Yield the lines of the file that make the model."""
        name = "ChatAnthropic" if self.is_anthropic else "ChatOpenAI"
        tools = ".bind_tools(TOOLS)" if has_tools else ""
        yield f"OPTIONS = {python_expression(self.arguments)}"
        yield ""
        yield ""
        yield "def make_model():"
        yield '    """Return the model, with its tools; the key is in the environment."""'
        yield f"    from {self.package.replace('-', '_')} import {name}"
        yield ""
        yield f"    return {name}(**OPTIONS){tools}"

    def request(self, source: ExportSource, messages: Sequence[Message]) -> SentRequest:
        """Return the request that the class makes of messages."""
        provider = provider_at(self.connection)
        usual = request_of(source, provider, messages).body
        own = {key: usual[key] for key in _OF_THE_PROMPT if key in usual}
        if provider == "openai-responses":  # it sends system messages as the others
            own.pop("instructions", None)
            own["input"] = list(chat_messages(messages)[0])
        options = {key: self.arguments[key] for key in self.arguments if key in usual}
        further = object_of(self.arguments.get("extra_body", self.arguments.get("model_kwargs")))
        address = address_of(self.connection).rstrip("/") + endpoint_of(provider).path
        expected = sent_by_studio(source)
        headers = dict(expected.headers)
        if self.is_anthropic:  # Anthropic's package names the version that it was made for
            headers["anthropic-version"] = "that of the package anthropic"
        body = {**own, **options, **further}
        return replace(expected, address=address, body=body, headers=headers)


def model_settings(source: ExportSource) -> ModelSettings:
    """Return the class and arguments for the model that a prompt names."""
    connection = named_connection(source)
    if provider_at(connection) in ("ollama", "gemini"):
        connection = openai_connection(connection)
    provider = provider_at(connection)
    is_anthropic = provider == "anthropic"
    body = request_of(source, provider).body
    known = _ANTHROPIC if is_anthropic else _OPENAI
    made: dict[str, Json] = {"model": body.get("model", "")}
    if provider == "openai-responses":
        made["use_responses_api"] = True
    if connection.base_url:
        address = address_of(connection).rstrip("/")
        made["base_url"] = address.removesuffix("/v1") if is_anthropic else address
    key = key_variable(connection)
    if key != ("ANTHROPIC_API_KEY" if is_anthropic else "OPENAI_API_KEY"):
        made["api_key"] = f"${{env:{key}}}"
    made |= {key: body[key] for key in known if key in body}
    left: Mapping[str, Json] = {
        key: value
        for key, value in body.items()
        if key not in (*_OF_THE_PROMPT, *known, "stream", "stream_options")
    }
    if left:
        made["model_kwargs" if is_anthropic else "extra_body"] = dict(left)
    return ModelSettings(connection, made)
