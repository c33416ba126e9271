"""Which connection a document gets, and that nothing about it is silent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from studio.core.models.choice import choose_connection, needs_address
from studio.core.models.connections import (
    EMBEDDED,
    Connection,
    Connections,
    address_of,
    provider_at,
)
from studio.core.prompty.document import ModelDeclaration

OFFICE = Connection("office", "compatible", model="m-1", base_url="http://10.0.0.7/v1")
OPENAI = Connection("My OpenAI", "openai", model="gpt-4o-mini", key="${env:OPENAI_API_KEY}")
ALL = Connections((EMBEDDED, OFFICE, OPENAI))


def test_a_document_without_wishes_gets_the_default() -> None:
    choice = choose_connection(ModelDeclaration(), ALL, environment={})
    assert (choice.connection, choice.declaration.id) == (EMBEDDED, "")
    assert (choice.warning, choice.untrusted) == ("", "")


def test_a_named_connection() -> None:
    wish = ModelDeclaration(id="m-2", connection={"kind": "reference", "name": "office"})
    choice = choose_connection(wish, ALL, environment={})
    assert (choice.connection, choice.declaration.id) == (OFFICE, "m-2")
    assert "office" in choice.reason


def test_a_picked_connection_gets_the_model_that_the_document_has_for_it() -> None:
    wish = ModelDeclaration(id="m-2", connection={"kind": "reference", "name": "office"})
    own = choose_connection(wish, ALL, chosen="office", environment={})
    other = choose_connection(wish, ALL, chosen="My OpenAI", environment={})
    assert (own.declaration.id, other.declaration.id) == ("m-2", "gpt-4o-mini")


PAID = Connections((EMBEDDED, OFFICE), default="office")


@pytest.mark.parametrize("provider", ["foundry", "azure", "azure_openai"])
def test_an_endpoint_of_azure_is_asked_as_azure(provider: str) -> None:
    block = {"kind": "key", "endpoint": "https://x.openai.azure.com"}
    wish = ModelDeclaration(id="dep", provider=provider, connection=block)
    made = choose_connection(wish, Connections(), environment={}).connection
    assert address_of(made) == "https://x.openai.azure.com/openai/v1/"


def test_the_responses_api_is_asked_where_the_prompt_says_so() -> None:
    wish = ModelDeclaration(id="m", provider="openai", api_type="responses")
    own = replace(wish, connection={"kind": "key", "endpoint": "http://127.0.0.1:9/v1"})
    for each in (wish, own):
        made = choose_connection(each, Connections(), environment={"OPENAI_API_KEY": "k"})
        assert provider_at(made.connection) == "openai-responses"
    office = replace(wish, connection={"kind": "reference", "name": "office"})
    assert choose_connection(office, PAID, environment={}).connection == OFFICE
    assert choose_connection(wish, PAID, chosen="office", environment={}).connection == OFFICE


@pytest.mark.parametrize(
    "wish",
    [
        ModelDeclaration(connection={"kind": "reference", "name": "lab"}),
        ModelDeclaration(id="gpt-5-mini", provider="openai"),
        ModelDeclaration(id="large", provider="mistral"),
        ModelDeclaration(id="x", provider="foundry"),
        ModelDeclaration(id="x", provider="somebody"),
        ModelDeclaration(id="x", connection={"kind": "key", "endpoint": "${env:URL}"}),
    ],
)
def test_what_is_not_set_up_is_never_replaced_by_the_default(
    wish: ModelDeclaration, tmp_path: Path
) -> None:
    choice = choose_connection(wish, PAID, environment={})
    assert choice.refusal
    assert choice.connection not in PAID.connections
    assert needs_address(choice.connection) or choice.connection.key
    file = tmp_path / "deep" / "a.prompty"
    chosen = replace(PAID, folders={str(tmp_path): "office"})
    own = choose_connection(wish, chosen, environment={}, file=file)
    assert (own.connection, own.declaration.id, own.refusal) == (OFFICE, "m-1", "")
    assert (own.missing, own.folder) == (choice.missing, str(tmp_path))
    elsewhere = choose_connection(wish, chosen, environment={}, file=tmp_path.parent / "b.prompty")
    assert elsewhere.refusal


def test_the_nearest_folder_decides_over_the_file(tmp_path: Path) -> None:
    chosen = {str(tmp_path): "office", str(tmp_path / "near"): EMBEDDED.name, "/gone": "x"}
    known = replace(ALL, folders=chosen)
    near, far = tmp_path / "near" / "a.prompty", tmp_path / "far" / "a.prompty"
    assert choose_connection(ModelDeclaration(), known, file=near).connection == EMBEDDED
    assert choose_connection(ModelDeclaration(), known, file=far).connection == OFFICE
    wish = ModelDeclaration(connection={"kind": "reference", "name": "My OpenAI"})
    here = choose_connection(wish, known, file=far)
    assert (here.connection, here.instead_of) == (OFFICE, "My OpenAI")
    own = ModelDeclaration(id="m-2", connection={"kind": "reference", "name": "office"})
    asked = choose_connection(own, known, file=far)
    assert (asked.declaration.id, asked.instead_of) == ("m-2", "")
    other = replace(known, folder_models={str(tmp_path): "m-3"})
    asked = choose_connection(own, other, file=far)
    assert (asked.declaration.id, asked.instead_of) == ("m-3", "m-2")
    removed = replace(known, folders={str(tmp_path): "removed since"})
    assert choose_connection(ModelDeclaration(), removed, file=far).connection == EMBEDDED


def test_a_provider_gets_its_connection() -> None:
    choice = choose_connection(ModelDeclaration(provider="OpenAI"), ALL, environment={})
    assert (choice.connection, choice.declaration.id) == (OPENAI, "gpt-4o-mini")


def test_a_provider_is_found_in_the_environment() -> None:
    wish = ModelDeclaration(id="claude-sonnet-4", provider="anthropic")
    choice = choose_connection(wish, ALL, environment={"ANTHROPIC_API_KEY": "k"})
    assert choice.connection.kind == "anthropic"
    assert "ANTHROPIC_API_KEY" in choice.reason
    without = choose_connection(wish, ALL, environment={})
    assert "ANTHROPIC_API_KEY" in without.refusal


def test_a_provider_that_speaks_openais_api_is_known_by_its_name() -> None:
    wish = ModelDeclaration(id="large", provider="mistral")
    choice = choose_connection(wish, ALL, environment={"MISTRAL_API_KEY": "k"})
    made = choice.connection
    assert (made.kind, made.base_url) == ("compatible", "https://api.mistral.ai/v1")
    assert (made.key, choice.declaration.id) == ("${env:MISTRAL_API_KEY}", "large")
    without = choose_connection(wish, ALL, environment={})
    assert "set MISTRAL_API_KEY" in without.refusal
    mine = Connection("mine", "compatible", base_url="https://api.mistral.ai/v1/", key="keyring:")
    own = choose_connection(wish, Connections((EMBEDDED, mine)), environment={})
    assert (own.connection, own.declaration.id, own.warning) == (mine, "large", "")


def test_a_server_of_this_machine_needs_no_key() -> None:
    wish = ModelDeclaration(id="llama3", provider="ollama")
    choice = choose_connection(wish, ALL, environment={})
    assert (choice.connection.kind, choice.warning, choice.untrusted) == ("ollama", "", "")
    there = choose_connection(wish, ALL, environment={"OLLAMA_BASE_URL": "http://127.0.0.1:9"})
    assert there.connection.base_url == "http://127.0.0.1:9"


def test_an_openai_address_from_the_environment() -> None:
    wish = ModelDeclaration(id="gpt-4o", provider="openai")
    variables = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://proxy/v1"}
    choice = choose_connection(wish, Connections(), environment=variables)
    assert choice.connection.base_url == "http://proxy/v1"


def test_an_endpoint_of_the_file_is_asked_about_first() -> None:
    block = {"kind": "key", "endpoint": "https://evil.example/v1", "apiKey": "${env:K}"}
    wish = ModelDeclaration(id="m", connection=block)
    choice = choose_connection(wish, ALL, environment={})
    assert choice.connection.base_url == "https://evil.example/v1"
    assert choice.connection.key == "${env:K}"
    assert choice.untrusted == "https://evil.example"
    allowed = Connections(ALL.connections, trusted=("https://evil.example",))
    assert choose_connection(wish, allowed, environment={}).untrusted == ""


def test_an_address_of_the_users_own_connections_is_not_asked_about() -> None:
    block = {"kind": "key", "endpoint": "http://10.0.0.7/other"}
    wish = ModelDeclaration(id="m", connection=block)
    assert choose_connection(wish, ALL, environment={}).untrusted == ""
    assert choose_connection(wish, Connections(), environment={}).untrusted == "http://10.0.0.7"


def test_an_endpoint_of_the_environment_is_the_persons_own() -> None:
    block = {"kind": "key", "endpoint": "${env:URL}"}
    wish = ModelDeclaration(id="m", connection=block)
    choice = choose_connection(wish, ALL, environment={"URL": "https://own.example/v1"})
    assert (choice.connection.base_url, choice.untrusted) == ("https://own.example/v1", "")
    missing = choose_connection(wish, ALL, environment={})
    assert "URL" in missing.refusal


@pytest.mark.parametrize("host", ["https://own.example", "https://own.example/"])
def test_a_path_may_follow_the_variable_of_an_endpoint(host: str) -> None:
    block = {"kind": "key", "endpoint": "${env:URL}/openai/v1"}
    wish = ModelDeclaration(id="m", connection=block)
    choice = choose_connection(wish, ALL, environment={"URL": host})
    assert choice.connection.base_url == "https://own.example/openai/v1"
    assert choice.untrusted == ""
    assert "URL" in choose_connection(wish, ALL, environment={}).refusal


@pytest.mark.parametrize(
    "endpoint", ["${env:URL}.evil.example/v1", "https://evil.example/${env:URL}"]
)
def test_no_variable_becomes_a_part_of_a_host(endpoint: str) -> None:
    wish = ModelDeclaration(id="m", connection={"kind": "key", "endpoint": endpoint})
    choice = choose_connection(wish, ALL, environment={"URL": "https://own.example"})
    assert "own.example" not in choice.connection.base_url
    assert choice.untrusted


def test_the_default_of_a_variable_is_an_address_of_the_file() -> None:
    block = {"kind": "key", "endpoint": "${env:URL:https://evil.example/v1}"}
    wish = ModelDeclaration(id="m", connection=block)
    choice = choose_connection(wish, ALL, environment={})
    assert choice.connection.base_url == "https://evil.example/v1"
    assert choice.untrusted == "https://evil.example"
    own = choose_connection(wish, ALL, environment={"URL": "https://own.example/v1"})
    assert (own.connection.base_url, own.untrusted) == ("https://own.example/v1", "")
    hidden = choose_connection(wish, ALL, environment={"URL": "https://x.example"}, trusted=False)
    assert hidden.connection.base_url == "https://evil.example/v1"
    assert hidden.untrusted == "https://evil.example"


def test_a_key_in_the_file_is_not_used() -> None:
    block = {"kind": "key", "endpoint": "http://localhost:1/v1", "apiKey": "sk-in-the-file"}
    choice = choose_connection(ModelDeclaration(connection=block), ALL, environment={})
    assert choice.connection.key == ""
    assert choice.warning
    assert "sk-in-the-file" not in repr(choice.connection) + choice.warning


def test_the_person_is_over_all() -> None:
    wish = ModelDeclaration(id="gpt-4o", provider="openai")
    choice = choose_connection(wish, ALL, chosen="office", environment={})
    assert (choice.connection, choice.declaration.id) == (OFFICE, "m-1")
    assert choose_connection(wish, ALL, chosen="gone", environment={}).connection == OPENAI


def test_a_model_that_the_default_does_not_have_is_said() -> None:
    choice = choose_connection(ModelDeclaration(id="gpt-4o"), ALL, environment={})
    assert choice.connection == EMBEDDED
    assert "gpt-4o" in choice.warning


@pytest.mark.parametrize("block", [{"kind": "oauth"}, {"endpoint": 3}, {"endpoint": " "}])
def test_other_blocks_lead_to_the_default(block: dict[str, object]) -> None:
    wish = ModelDeclaration(connection=block)  # type: ignore[arg-type]
    assert choose_connection(wish, ALL, environment={}).connection == EMBEDDED


def test_of_an_untrusted_folder_no_variable_is_read() -> None:
    class Canary(dict[str, str]):
        def get(self, key: str, default: object = None) -> object:  # type: ignore[override]
            raise AssertionError(f"{key} was looked up")

    hidden = ModelDeclaration(connection={"kind": "key", "endpoint": "${env:URL}"})
    choice = choose_connection(hidden, ALL, environment=Canary(), trusted=False)
    assert "not trusted, so the variable URL is not read" in choice.refusal
    block = {"kind": "key", "endpoint": "http://localhost:1/v1", "apiKey": "${env:AWS_KEY}"}
    keyed = ModelDeclaration(connection=block)
    choice = choose_connection(keyed, ALL, environment=Canary(), trusted=False)
    assert choice.connection.key == ""
    assert "not trusted, so the key" in choice.warning
    trusted = choose_connection(keyed, ALL, environment={})
    assert (trusted.connection.key, trusted.warning) == ("${env:AWS_KEY}", "")


@pytest.mark.parametrize(
    ("written", "trusted", "model"),
    [
        ("${env:DEPLOYMENT}", True, "m-9"),
        ("${env:DEPLOYMENT}", False, "${env:DEPLOYMENT}"),
        ("${env:NONE:m-3}", True, "m-3"),
        ("${env:NONE}", True, "${env:NONE}"),
    ],
)
def test_a_model_may_be_named_by_a_variable(written: str, trusted: bool, model: str) -> None:
    wish = ModelDeclaration(id=written, connection={"kind": "reference", "name": "office"})
    choice = choose_connection(wish, ALL, environment={"DEPLOYMENT": "m-9"}, trusted=trusted)
    assert choice.declaration.id == model
