from __future__ import annotations

import json

from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.bodies import request_body, sendable
from studio.core.prompty.document import Message, TextPart


def test_half_a_character_does_not_keep_a_request_from_being_sent() -> None:
    request = ModelRequest((Message("user", (TextPart("half \ud800, whole \U0001f600"),)),))
    body = request_body(request, model_id="m", capabilities=Capabilities())

    sent = json.dumps(body, ensure_ascii=False).encode("utf-8").decode("utf-8")
    assert "half ?, whole \U0001f600" in sent


def test_what_can_be_sent_stays_as_it_is() -> None:
    value = {"a": ["ä", 1, None, True, {"b": 1.5}], "c": "plain"}
    assert sendable(value) == value
