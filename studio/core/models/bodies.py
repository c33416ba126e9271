"""Build the HTTP body of a model request, within the abilities of the model."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from studio.core.masking.walk import changed
from studio.core.models.base import Capabilities, ModelRequest, Reveal
from studio.core.prompty.document import Message, ModelDeclaration, ToolCallPart, ToolSpec
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
    """Return the body of a streaming request.

    Only `native` sends tools beside the messages: text protocols have them in the prompt. Options
    that the model is known to reject are removed here, so that the shown body is the sent one.

    Args:
        request: the model request.
        model_id: model id on the server.
        capabilities: abilities of the model.
        provider: form of the body.
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
    """Return the options that can be sent; the one for parallel calls is sent only with tools."""
    if options is None or (tools and capabilities.parallel):
        return options or {}
    return {name: value for name, value in options.items() if name != "allowMultipleToolCalls"}


def sendable(value: Json) -> Json:
    """Return the value with lone surrogates replaced, which UTF-8 cannot encode.

    A model, a tool or the clipboard can put one into a text.
    """
    if isinstance(value, str):
        made = value if value.isascii() else value.encode("utf-8", "replace").decode("utf-8")
        return value if made == value else made
    if isinstance(value, Mapping):
        return {str(sendable(key)): sendable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [sendable(each) for each in value]
    return value


# A request as sent: references are replaced by the values of secrets.


def as_sent(request: ModelRequest) -> ModelRequest:
    """Return the request with the values of its secrets.

    Raises:
        MissingValueError: a secret has no value here.
    """
    if request.resolve_option is not None:
        options = changed(request.options, request.resolve_option)
        request = replace(request, options=options, resolve_option=None)
    reveal = request.reveal
    if reveal is None:
        return request

    def text(value: str) -> str:
        return reveal(value, None)

    return replace(
        request,
        messages=tuple(_message(message, reveal) for message in request.messages),
        tools=changed(request.tools, text),
        options=changed(request.options, text),
        stop=changed(request.stop, text),
        response_schema=changed(request.response_schema, text),
        past_calls=tuple((tool, reveal(each, _in_json)) for tool, each in request.past_calls),
        observations=tuple(map(text, request.observations)),
        question=text(request.question),
        reveal=None,
    )


def _message(message: Message, reveal: Reveal) -> Message:
    """Return a message with values; in a call's arguments they are written as JSON."""
    parts = tuple(
        replace(part, arguments=reveal(part.arguments, _in_json))
        if isinstance(part, ToolCallPart)
        else changed(part, lambda text: reveal(text, None))
        for part in message.parts
    )
    carried = changed(message.carried, lambda text: reveal(text, None))
    is_same = all(one is other for one, other in zip(parts, message.parts, strict=True))
    if is_same and carried is message.carried:
        return message
    return replace(message, parts=parts, carried=carried)


def _in_json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
