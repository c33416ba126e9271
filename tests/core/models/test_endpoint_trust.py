"""Endpoints that a file may name unasked."""

from __future__ import annotations

import pytest

from studio.core.models.connections import BUILT_IN, is_trusted, origin


@pytest.mark.parametrize(
    ("address", "trusted"),
    [
        ("https://api.openai.com/v1", True),
        ("HTTPS://API.OPENAI.COM:443/v1", True),
        ("http://api.openai.com/v1", False),
        ("https://api.openai.com:8443/v1", False),
        ("https://api.openai.com.evil.example/v1", False),
        ("https://api.openai.com@evil.example/v1", False),
        ("https://evil.example\\@api.openai.com/v1", False),
        ("https://mine.openai.azure.com/", False),  # anyone can register a name there
        ("https://mine.services.ai.azure.com/", False),
        ("https://mine.cognitiveservices.azure.com/", False),
        ("https://openai.azure.com/", False),
        ("https://evilopenai.azure.com/", False),
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.9:1/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://localhost.evil.example/v1", False),
        ("http://10.0.0.1/v1", False),
        ("ftp://localhost/", False),
        ("https://host:99999/", False),
        ("", False),
    ],
)
def test_built_in_and_this_machine(address: str, trusted: bool) -> None:
    assert is_trusted(address) is trusted


def test_what_is_built_in_names_whole_hosts() -> None:
    assert not [each for each in BUILT_IN if "*" in each]


def test_what_the_person_allowed() -> None:
    allowed = ("https://own.example:8443", "https://*.lab.example")
    assert is_trusted("https://own.example:8443/v1", allowed)
    assert not is_trusted("https://own.example/v1", allowed)
    assert is_trusted("https://a.b.lab.example/v1", allowed)
    assert not is_trusted("https://lab.example/v1", allowed)


def test_origins_are_written_one_way() -> None:
    assert origin("HTTP://Host:80/v1?x") == "http://host"
    assert origin("https://user:pw@host:8443/") == "https://host:8443"
    assert origin("https://[::1]/") == "https://[::1]"
    assert origin("nowhere") == ""
