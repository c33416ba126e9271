"""A request as it leaves: with the values of secrets that stand in it as references.

Everything before this holds the reference (`${env:NAME}`): what is shown, kept, compared and
recorded. Only a model that really sends, or reads, the request asks for the values.
"""

from __future__ import annotations

import json
from dataclasses import replace

from studio.core.masking.walk import changed
from studio.core.models.base import ModelRequest, Reveal
from studio.core.prompty.messages import Message, ToolCallPart


def as_sent(request: ModelRequest) -> ModelRequest:
    """The request with the values of its secrets.

    Raises:
        MissingValueError: one of them has no value here.
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
    """A message; the arguments of a call are JSON, in which a value is written as JSON has it."""
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
