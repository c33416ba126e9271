from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.connections.model import SwitchedModel
from studio.core.models.base import ModelPlace, place_of
from studio.core.models.capabilities import price_source
from studio.core.models.connections import Connection, ConnectionKind
from studio.core.models.remote.model import RemoteModel
from studio.core.models.scripted import RecordingModel, ScriptedModel


@pytest.mark.parametrize(
    ("kind", "address", "provider", "server"),
    [
        ("openai", "", "openai", "https://api.openai.com"),
        ("anthropic", "", "anthropic", "https://api.anthropic.com"),
        ("compatible", "https://api.groq.com/openai/v1", "groq", "https://api.groq.com"),
        ("compatible", "http://ann:secret@box.local:8080/v1", "box.local", "http://box.local:8080"),
        ("openai", "http://127.0.0.1:1234/v1", "openai", "http://127.0.0.1:1234"),
        ("compatible", "http://127.0.0.1:1234/v1", "openai", "http://127.0.0.1:1234"),
        ("compatible", "http://[::1]:1234/v1", "openai", "http://[::1]:1234"),
        ("compatible", "http://localhost:8080/v1", "openai", "http://localhost:8080"),
    ],
)
def test_a_remote_model_is_named_as_tracing_back_ends_know_it(
    kind: ConnectionKind, address: str, provider: str, server: str
) -> None:
    model = RemoteModel(Connection("mine", kind, base_url=address), "gpt-4o", None)

    assert place_of(model) == ModelPlace("gpt-4o", provider, server)


def test_a_model_on_no_server_has_no_place() -> None:
    assert place_of(ScriptedModel(["ok"])) == ModelPlace()


def test_what_answers_in_place_of_another_model_keeps_its_place_and_its_price() -> None:
    model = RemoteModel(Connection("mine", "openai"), "gpt-4o", None)

    for outer in (SwitchedModel(model), RecordingModel(SwitchedModel(model), Path("calls.jsonl"))):
        assert place_of(outer) == model.place
        assert price_source(outer) == "unknown"
    assert price_source(SwitchedModel(ScriptedModel(["ok"]))) == ""
