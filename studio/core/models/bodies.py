"""From a model request to the body that goes over the wire, within what the model can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.core.models.base import Capabilities, ModelRequest
from studio.core.prompty.document import ModelDeclaration
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.wire.media import MediaSource
from studio.core.wire.request import Provider, to_request


def request_body(
    request: ModelRequest,
    *,
    model_id: str,
    capabilities: Capabilities,
    provider: Provider = "openai-chat",
    media: MediaSource | None = None,
) -> JsonObject:
    """The body of a streaming request.

    The text protocols have their tools in the prompt: only `native` sends them beside it. What the
    model is known not to take is left out here, so that what is shown is what is sent.

    Args:
        request: the call.
        model_id: id under which the server knows the model.
        capabilities: what it takes.
        provider: the form of the body.
        media: reads local files.
    """
    with_tools = request.protocol == "native" and capabilities.tools
    tools = request.tools if with_tools else ()
    body = to_request(
        request.messages,
        tools,
        ModelDeclaration(id=model_id, options=fitting(request.options, tools, capabilities)),
        provider=provider,
        response_schema=request.response_schema if capabilities.json_schema else None,
        stop=request.stop if capabilities.stop else (),
        stream=True,
        media=media,
        keeps_nothing=True,
    ).body
    return {key: sendable(value) for key, value in body.items()}


def fitting(
    options: JsonObject | None, tools: Sequence[ToolSpec], capabilities: Capabilities
) -> JsonObject:
    """The options that can be sent: a word on several calls at once goes with tools only."""
    if options is None or (tools and capabilities.parallel):
        return options or {}
    return {name: value for name, value in options.items() if name != "allowMultipleToolCalls"}


def sendable(value: Json) -> Json:
    """The value with each half of a character replaced: UTF-8 has no room for lone surrogates.

    A model, a tool or the clipboard can bring one into a text.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, Mapping):
        return {str(sendable(key)): sendable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(each) for each in value]
    return value
