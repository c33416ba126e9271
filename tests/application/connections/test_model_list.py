"""What the model's control lists, and what it says that a model costs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.application.connections.model import provider_starts
from studio.application.connections.model_list import (
    AskFor,
    ModelSources,
    PromptSize,
    RunMeans,
    UseModel,
    model_offers,
    passport,
    price_of,
)
from studio.core.models.capabilities import price_table
from studio.core.models.choice import choose_connection
from studio.core.models.connections import EMBEDDED, Connection, Connections
from studio.core.models.remote.openai_client import FoundServer
from studio.core.prompty.document import ModelDeclaration

LAB = Connection("lab", "compatible", model="lab-1", base_url="http://127.0.0.1:7001/v1")
PAID = Connection("paid", "openai", model="gpt-5-mini", key="keyring")
OLLAMA = Connection("Ollama", "ollama", base_url="http://localhost:11434")


def sources(
    wish: ModelDeclaration | None = None, *own: Connection, **variables: str
) -> ModelSources:
    connections = Connections((EMBEDDED, *own))
    choice = choose_connection(wish or ModelDeclaration(), connections, environment=variables)
    starts = provider_starts(variables, connections)
    return ModelSources(choice, choice, connections, {}, (), starts)


def titles(found: ModelSources, words: str = "") -> list[str]:
    return [each.title for each in model_offers(found, words)]


def test_the_groups_follow_each_other_and_a_found_server_is_only_offered() -> None:
    found = replace(
        sources(None, LAB, PAID, ANTHROPIC_API_KEY="k"),
        listed={"lab": ("lab-1", "lab-2")},
        found=(FoundServer(OLLAMA, ({"id": "qwen3:8b"},)),),
    )
    offers = model_offers(found, "")
    assert [(each.group, each.title) for each in offers] == [
        ("Requested by this file", "Embedded model"),
        ("On this computer", "Embedded model"),
        ("On this computer", "lab-1"),
        ("On this computer", "lab-2"),
        ("On this computer", "qwen3:8b"),
        ("Connected", "gpt-5-mini"),
        ("Keys found", "Anthropic"),
        ("", "Connect a provider or server…"),
        ("", "Connections…"),
    ]
    assert [each.title for each in offers if each.is_used] == ["Embedded model"] * 2
    assert "k" not in offers[6].detail.split()
    for host in ("localhost", "127.0.0.1"):
        mine = replace(OLLAMA, name="mine", base_url=f"http://{host}:11434")
        known = replace(found, connections=Connections((EMBEDDED, mine)))
        assert "qwen3:8b" not in titles(known)  # the user's own connection lists it


def test_what_a_file_asks_for_and_is_not_here_leads_to_its_provider() -> None:
    wish = ModelDeclaration(id="claude-opus-4", provider="anthropic")
    asked = model_offers(sources(wish), "")[0]
    assert (asked.title, asked.is_replaced) == ("claude-opus-4", True)
    assert isinstance(asked.act, AskFor)
    assert asked.act.start.id == "anthropic"


@pytest.mark.parametrize(
    ("typed", "title", "address", "key"),
    [
        ("127.0.0.1:8181", "Connect 127.0.0.1:8181", "http://127.0.0.1:8181/v1", ""),
        ("http://box:1/x", "Connect http://box:1/x", "http://box:1/x", ""),
        ("localhost", "Connect localhost", "http://localhost/v1", ""),
        ("sk-ant-abc", "Connect Anthropic with this key", "", "sk-ant-abc"),
        ("sk-abc", "Connect OpenAI with this key", "", "sk-abc"),
    ],
)
def test_an_address_or_a_key_becomes_a_line(typed: str, title: str, address: str, key: str) -> None:
    first = model_offers(sources(), typed)[0]
    assert isinstance(first.act, AskFor)
    assert (first.title, first.act.answers.address, first.act.answers.key) == (title, address, key)


def test_a_weights_file_and_the_id_of_a_model_are_understood() -> None:
    first = model_offers(sources(), "~/models/mine.gguf")[0]
    assert isinstance(first.act, UseModel)
    assert str(first.act.connection.settings["weights"]).endswith("/models/mine.gguf")
    wish = ModelDeclaration(connection={"kind": "reference", "name": "lab"})
    assert titles(sources(wish, LAB), "lab-7") == ["Ask lab for lab-7"]
    assert titles(sources(wish, LAB), "gpt-5") == ["Ask lab for gpt-5"]
    assert titles(sources(None), "gpt-5") == []  # the embedded model has no other


def test_a_price_says_what_it_is_made_of() -> None:
    price_table()
    size = PromptSize(1000)
    assert price_of(LAB, "lab-1", size)[0] == "free, local"
    far = replace(LAB, base_url="https://models.example.org/v1")
    assert price_of(far, "lab-1", size)[0] == "price unknown"
    words, how = price_of(PAID, "gpt-5-mini", size)
    assert words == "from $0.25 per 1,000"
    assert "no run yet" in how
    known = replace(size, means=RunMeans(4, 900.0, 500.0, 1.0))
    words, how = price_of(PAID, "gpt-5-mini", known)
    assert words == "$1.25 per 1,000"
    assert "1,000 tokens sent as counted now, 500 received on average in the last 4 runs." in how
    agent = replace(size, means=RunMeans(4, 9000.0, 500.0, 3.0))
    words, how = price_of(PAID, "gpt-5-mini", agent)
    assert words == "$3.25 per 1,000"
    assert "9,000 tokens sent, 500 received: averages of the last 4 runs." in how


def test_what_is_not_known_of_a_model_is_said() -> None:
    rows = dict(passport(UseModel(LAB, "never-heard-of"), PromptSize()))
    assert (rows["Context"], rows["Can"], rows["Request"]) == ("not known",) * 3
    rows = dict(passport(UseModel(PAID, "gpt-5-mini"), PromptSize(212, True)))
    assert rows["Request"] == "212 tokens, counted exactly"
    assert rows["Context"] == "400,000 tokens"
    assert "pictures" in rows["Can"]
    assert rows["Key"] == "in the system's key store"
