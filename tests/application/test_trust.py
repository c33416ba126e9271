"""One rule for what an untrusted folder's prompt may read, whoever asks."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from studio.application.connections.model import asked_by, choice_of, media_of
from studio.application.trust import (
    FolderTrust,
    folder_trust,
    is_trusted,
    references_of,
    shown_before_trust,
)
from studio.core.models.connections import Connections
from studio.core.paths import resource
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


def test_trust_is_asked_once_for_the_opened_folder(trust: TrustStore, tmp_path: Path) -> None:
    """One project with seven folders of prompts asked seven times (author 20)."""
    opened, one = tmp_path / "project", tmp_path / "project" / "agents" / "writer"
    one.mkdir(parents=True)
    assert folder_trust(one, trust, opened) == FolderTrust(opened, is_trusted=False)
    assert folder_trust(one, trust) == FolderTrust(one, is_trusted=False)
    trust.trust(opened)
    held = FolderTrust(opened, is_trusted=True, is_given=True)
    assert folder_trust(one, trust, opened) == folder_trust(opened / "x", trust) == held


def test_a_repository_inside_of_the_opened_folder_is_asked_about_by_itself(
    trust: TrustStore, tmp_path: Path
) -> None:
    nested = tmp_path / "project" / "theirs"
    (nested / ".git").mkdir(parents=True)
    (nested / "prompts").mkdir()
    (tmp_path / "project" / ".git").mkdir()
    trust.trust(tmp_path / "project")
    held = folder_trust(nested / "prompts", trust, tmp_path / "project")
    assert held == FolderTrust(nested, is_trusted=False)


def test_of_an_opened_folder_that_is_too_wide_only_the_prompts_own_is_asked_about(
    trust: TrustStore, tmp_path: Path
) -> None:
    wide = Path(tempfile.gettempdir())
    assert folder_trust(tmp_path, trust, wide) == FolderTrust(tmp_path, is_trusted=False)
    assert folder_trust(wide, trust, wide) == FolderTrust(None, is_trusted=False)
    assert shown_before_trust(wide) is None
    assert shown_before_trust(tmp_path) == tmp_path


def test_no_trust_is_asked_for_where_none_is_needed(trust: TrustStore) -> None:
    own = FolderTrust(None, is_trusted=True)
    assert folder_trust(None, trust) == folder_trust(resource("examples"), trust) == own
