"""What the way to a first provider asks for, and what it says where something is missing."""

from __future__ import annotations

import pytest

from studio.application.connections.model import (
    ProviderAnswers,
    ProviderStart,
    connection_of,
    missing,
    next_step,
    offered_models,
    provider_starts,
    tidied_key,
    with_provider,
)
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.probe import Probe
from studio.core.models.secrets import KEYRING


def start(
    identifier: str, environment: dict[str, str] | None = None, held: tuple[Connection, ...] = ()
) -> ProviderStart:
    starts = provider_starts(environment or {}, Connections((EMBEDDED, *held)))
    return next(each for each in starts if each.id == identifier)


def test_every_provider_is_offered_in_order() -> None:
    starts = provider_starts({}, Connections())
    assert [each.id for each in starts] == [
        "openai",
        "anthropic",
        "gemini",
        "azure",
        "ollama",
        "lm-studio",
        "compatible",
    ]


@pytest.mark.parametrize(
    ("identifier", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("azure", "AZURE_OPENAI_API_KEY"),
    ],
)
def test_a_key_in_the_environment_is_used_and_never_copied(identifier: str, variable: str) -> None:
    found = start(identifier, {variable: "sk-not-to-be-seen"})
    assert found.variable == variable
    assert found.connection.key == f"${{env:{variable}}}"
    assert "sk-not" not in repr(found)


def test_an_empty_variable_is_none() -> None:
    found = start("openai", {"OPENAI_API_KEY": "  "})
    assert (found.variable, found.connection.key) == ("", KEYRING)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:5000", "http://127.0.0.1:5000"),
        ("gpu-box", "http://gpu-box:11434"),
        ("http://gpu-box:80/", "http://gpu-box:80"),
        ("https://models.example.org", "https://models.example.org"),
    ],
)
def test_ollamas_address_is_read_as_ollama_reads_it(written: str, address: str) -> None:
    assert start("ollama", {"OLLAMA_HOST": written}).connection.base_url == address


def test_what_is_missing_is_said_one_after_the_other() -> None:
    azure = start("azure")
    assert missing(azure, ProviderAnswers()) == (
        "address",
        "Enter the address first.",
    )
    wrong = missing(azure, ProviderAnswers("my resource"))
    assert wrong is not None
    assert wrong[1].startswith("Write the full address")
    place = "https://me.openai.azure.com"
    without_key = missing(azure, ProviderAnswers(place))
    assert without_key is not None
    assert without_key[0] == "key"
    without_model = missing(azure, ProviderAnswers(place, "k"))
    assert without_model is not None
    assert without_model[0] == "deployment"
    assert missing(azure, ProviderAnswers(place, "k", "mine")) is None
    assert missing(start("compatible"), ProviderAnswers("http://localhost:8000/v1")) is None
    assert missing(start("openai", {"OPENAI_API_KEY": "k"}), ProviderAnswers()) is None


def test_a_pasted_key_wins_over_the_environment() -> None:
    found = start("openai", {"OPENAI_API_KEY": "old"})
    assert connection_of(found, ProviderAnswers(key="new")).key == KEYRING
    assert connection_of(found, ProviderAnswers()).key == "${env:OPENAI_API_KEY}"
    own = start("compatible")
    assert connection_of(own, ProviderAnswers("http://localhost:1/v1")).key == ""


def test_a_provider_that_is_connected_already_is_changed_and_not_doubled() -> None:
    held = Connection("Work", "openai", model="gpt-4o", key=KEYRING)
    found = start("openai", {"OPENAI_API_KEY": "k"}, (held,))
    assert (found.connection.name, found.connection.key) == ("Work", KEYRING)
    connections = Connections((EMBEDDED, held))
    changed = with_provider(connections, connection_of(found, ProviderAnswers(model="gpt-5")))
    assert [(each.name, each.model) for each in changed.connections[1:]] == [("Work", "gpt-5")]
    assert changed.default == "Work"
    other = start("anthropic", {}, (Connection("Anthropic", "openai"),))
    assert other.connection.name == "Anthropic 2"
    again = with_provider(connections, connection_of(other, ProviderAnswers(key="k", model="m")))
    assert again.default == "Anthropic 2"


def test_models_that_chat_come_first_and_the_newest_of_them() -> None:
    listed = (
        {"id": "text-embedding-3", "created": 9},
        {"id": "old", "created": 1},
        {"id": "new", "created": 5},
        {"id": "whisper-1", "created": 8},
    )
    probe = Probe(True, "", "", ("new", "old", "text-embedding-3", "whisper-1"), listed)
    assert offered_models(probe) == ("new", "old", "text-embedding-3", "whisper-1")
    said = (
        {"id": "a", "capabilities": ["embedding"]},
        {"id": "b", "capabilities": ["completion"]},
        {"id": "c", "supportedGenerationMethods": ["generateContent"]},
    )
    assert offered_models(Probe(True, "", "", ("a", "b", "c"), said)) == ("b", "c", "a")


def test_each_dead_end_has_its_next_step() -> None:
    assert "ollama pull" in next_step(start("ollama"), Probe(True, "answers"))
    assert "type a model id" in next_step(start("openai"), Probe(True, "answers"))
    assert next_step(start("openai"), Probe(True, "answers", "", ("m",))) == ""
    assert next_step(start("openai"), Probe(False, "refused", "Check the key.")) == ""


@pytest.mark.parametrize(
    "pasted",
    [
        "sk-abc_12=",
        "  sk-abc_12=\n",
        '"sk-abc_12="',
        "„sk-abc_12=“",
        "Bearer sk-abc_12=",
        "OPENAI_API_KEY=sk-abc_12=",
        'export OPENAI_API_KEY="sk-abc_12="',
        "api_key: sk-abc_12=,",
        "$env:OPENAI_API_KEY = 'sk-abc_12='",
    ],
)
def test_a_key_is_taken_out_of_what_was_pasted_with_it(pasted: str) -> None:
    assert tidied_key(pasted) == "sk-abc_12="


@pytest.mark.parametrize("key", ["id:secret", "c2VjcmV0LWtleQ==", "my-key=", "c2VjcmVtoken=="])
def test_a_key_with_signs_in_it_stays(key: str) -> None:
    assert tidied_key(key) == key


@pytest.mark.parametrize("key", ["two words", "schl\u00fcssel", "sk-\u200babc"])
def test_what_is_no_key_is_not_tried(key: str) -> None:
    found = missing(start("openai"), ProviderAnswers("", key, ""))
    assert found is not None
    assert found[0] == "key"
    assert "not a key" in found[1]
