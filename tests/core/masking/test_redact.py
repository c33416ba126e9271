from __future__ import annotations

import pytest

from studio.core.masking.redact import (
    DOTS,
    is_placeholder,
    looks_like_key,
    names_secret,
    names_secret_field,
    names_secret_variable,
    without_keys,
    without_logins,
)


@pytest.mark.parametrize(
    "name",
    [
        "apiKey",
        "api_key",
        "API-KEY",
        "x-api-key",
        "Authorization",
        "client_secret",
        "password",
        "accessToken",
        "access_token",
        "id_tokens",
        "token",
        "X-Auth",
        "set-cookie",
        "privateKey",
        "connectionString",
        "Ocp-Apim-Subscription-Key",
        "oauth",
        "db.password",
        "APIKEY",
    ],
)
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "maxOutputTokens",
        "authors",
        "author",
        "total_tokens",
        "key",
        "monkey",
        "tokenizer",
        "secretary",
        "authentic",
        "primary_key",
        "keywords",
        "",
        "42",
    ],
)
def test_names_of_nothing_secret(name: str) -> None:
    assert not names_secret(name)


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "AZURE_KEY",
        "GITHUB_TOKEN",
        "DB_PWD",
        "PGPASSWORD",
        "NPM_AUTH",
        "SENTRY_DSN",
        "AWS_SECRET_ACCESS_KEY",
        "MY_SECRET",
        "apiKey",
    ],
)
def test_variables_of_secrets(name: str) -> None:
    assert names_secret_variable(name)


@pytest.mark.parametrize(
    "name",
    [
        "PWD",
        "OLDPWD",
        "SSH_AUTH_SOCK",
        "KEYBOARD",
        "MAX_TOKENS",
        "KEY_FILE",
        "HOME",
        "PATH",
        "GOOGLE_CREDENTIALS_PATH",
        "XDG_SESSION_ID",
        "TOKENIZERS_PARALLELISM",
        "REGION",
        "_",
        "",
        "PYTHON_KEYRING_BACKEND",
    ],
)
def test_variables_of_nothing_secret(name: str) -> None:
    assert not names_secret_variable(name)


def test_fields_that_only_hold_secrets() -> None:
    assert names_secret_field("apiKey")
    assert not names_secret_field("token")


@pytest.mark.parametrize("value", ["none", "EMPTY", "ollama", "lm-studio", "xxxxxxxx", "", "0000"])
def test_placeholders(value: str) -> None:
    assert is_placeholder(value)


def test_forms_of_keys() -> None:
    key = "sk-ant-" + "x1" * 10
    assert looks_like_key(key)
    assert not looks_like_key(f"use {key}")
    assert without_keys(f"use {key} now") == f"use {DOTS} now"
    assert without_keys("sk-short and risk-aware") == "sk-short and risk-aware"


def test_logins_in_addresses() -> None:
    hidden = without_logins("http://ann:pa55@proxy.example:3128/x, mail@example.com", "•")
    assert hidden == "http://•@proxy.example:3128/x, mail@example.com"
