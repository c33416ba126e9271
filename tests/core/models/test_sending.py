from __future__ import annotations

import json

from studio.core.masking.masker import Masker
from studio.core.models.base import ModelRequest
from studio.core.models.bodies import as_sent
from studio.core.prompty.document import Message, TextPart, ToolCallPart, ToolSpec

VALUE = 'a "quoted" \\ value'


def request() -> ModelRequest:
    masker = Masker()
    masker.note("${env:A}", VALUE)
    return ModelRequest(
        (
            Message("user", (TextPart("take ${env:A}"),)),
            Message("assistant", (ToolCallPart("c1", "t", '{"x": "${env:A}"}'),)),
            Message("user", (TextPart("${env:B}"),)),
        ),
        (ToolSpec("t", "for ${env:A}"),),
        {"user": "${env:A}"},
        past_calls=(("t", '{"x": "${env:A}"}'),),
        observations=("${env:A}",),
        question="${env:A}?",
        reveal=lambda text, spell: masker.reveal(text, {"${env:A}"}, spell),
    )


def test_values_are_put_in_wherever_they_are_sent() -> None:
    sent = as_sent(request())
    assert sent.messages[0].text == f"take {VALUE}"
    call = sent.messages[1].parts[0]
    assert isinstance(call, ToolCallPart)
    assert json.loads(call.arguments) == {"x": VALUE}
    assert sent.messages[2] is request().messages[2] or sent.messages[2].text == "${env:B}"
    assert sent.tools[0].description == f"for {VALUE}"
    assert sent.options == {"user": VALUE}
    assert json.loads(sent.past_calls[0][1]) == {"x": VALUE}
    assert (sent.observations, sent.question) == ((VALUE,), f"{VALUE}?")


def test_a_request_without_secrets_is_sent_as_it_is() -> None:
    plain = ModelRequest((Message("user", (TextPart("${env:A}"),)),))
    assert as_sent(plain) is plain


def test_who_prints_a_request_sees_no_way_to_the_values() -> None:
    assert "reveal" not in repr(request())
