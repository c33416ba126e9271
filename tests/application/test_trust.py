"""One rule for what an untrusted folder's prompt may read, whoever asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.connections.model import asked_by, choice_of, media_of
from studio.application.trust import is_trusted, references_of
from studio.core.models.connection_file import Connections
from studio.core.prompty.parse import parse
from studio.core.tools.trust.store import TrustStore


@pytest.fixture
def trust(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "data" / "trust.json")


def test_a_text_that_was_never_saved_is_the_users_own(trust: TrustStore) -> None:
    assert is_trusted(None, trust)
    assert references_of(None, trust).trusted


def test_a_folder_is_trusted_when_the_user_says_so(trust: TrustStore, tmp_path: Path) -> None:
    prompt = tmp_path / "work" / "a.prompty"
    assert not is_trusted(prompt, trust)
    trust.trust(prompt.parent)
    assert is_trusted(prompt, trust)


@pytest.mark.parametrize("masked", [True, False])
def test_variables_are_read_of_trusted_folders_and_shown_of_none(
    trust: TrustStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, masked: bool
) -> None:
    monkeypatch.setenv("A_SECRET", "value")
    prompt = tmp_path / "work" / "a.prompty"
    assert references_of(prompt, trust, masked=masked).variable("A_SECRET") is None
    trust.trust(prompt.parent)
    found = references_of(prompt, trust, masked=masked).variable("A_SECRET")
    assert found == ("${env:A_SECRET}" if masked else "value")


def test_neither_key_nor_picture_of_an_untrusted_folder_is_taken(
    trust: TrustStore, tmp_path: Path
) -> None:
    prompt = tmp_path / "work" / "a.prompty"
    block = "{kind: key, endpoint: 'http://localhost:1/v1', apiKey: '${env:A_SECRET}'}"
    document = parse(f"---\nmodel: {{connection: {block}}}\n---\nuser:\nHi\n", prompt)
    asked = asked_by(document, trust)
    assert choice_of(asked, Connections()).connection.key == ""
    assert media_of(prompt, trusted=asked.trusted) is None
    trust.trust(prompt.parent)
    asked = asked_by(document, trust)
    assert choice_of(asked, Connections()).connection.key == "${env:A_SECRET}"
    assert media_of(prompt, trusted=asked.trusted) is not None
