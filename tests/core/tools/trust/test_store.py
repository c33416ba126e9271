"""The person's word about folders, and nobody else's."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from studio.core.paths import resource
from studio.core.prompty.document import ToolId
from studio.core.tools.trust.store import TooWideError, TrustStore


@pytest.fixture
def store(tmp_path: Path) -> TrustStore:
    return TrustStore(tmp_path / "data" / "trust.json")


def test_a_folder_is_untrusted_until_told(store: TrustStore, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    assert not store.is_trusted(folder)
    store.trust(folder)
    assert store.is_trusted(folder)
    assert store.is_trusted(folder / "deep" / "tools.py")
    assert not store.is_trusted(tmp_path)
    assert not store.is_trusted(tmp_path / "workshop")
    store.forget(folder)
    assert not store.is_trusted(folder)


def test_a_link_out_of_a_trusted_folder_is_not_trusted(store: TrustStore, tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "tools.py").write_text("", encoding="utf-8")
    (inside / "tools.py").symlink_to(outside / "tools.py")
    store.trust(inside)
    assert not store.is_trusted(inside / "tools.py")
    assert not store.is_trusted(inside / ".." / "outside" / "tools.py")


def test_a_repository_in_a_trusted_folder_is_trusted_by_itself_only(
    store: TrustStore, tmp_path: Path
) -> None:
    work, nested = tmp_path / "work", tmp_path / "work" / "vendor" / "theirs"
    (nested / ".git").mkdir(parents=True)
    (work / ".git").mkdir()
    module = work / "module"
    module.mkdir()
    (module / ".git").write_text("gitdir: ../.git/modules/module\n", encoding="utf-8")
    store.trust(work)
    assert store.is_trusted(work / "vendor")
    assert not store.is_trusted(nested / "prompts")
    assert not store.is_trusted(module)
    store.trust(nested)
    assert store.is_trusted(nested / "prompts")


@pytest.mark.parametrize("folder", [Path.home(), Path.home().parent, Path(tempfile.gettempdir())])
def test_what_everything_lies_in_is_never_trusted_as_a_whole(
    store: TrustStore, tmp_path: Path, folder: Path
) -> None:
    with pytest.raises(TooWideError, match="never be trusted as a whole"):
        store.trust(folder)
    store.trust(tmp_path / "a")
    kept = tmp_path / "data" / "trust.json"
    kept.write_text(json.dumps({"folders": [str(folder), str(tmp_path / "a")]}), encoding="utf-8")
    assert not TrustStore(kept).is_trusted(folder / "prompts")
    assert TrustStore(kept).is_trusted(tmp_path / "a")


def test_the_bundled_examples_are_trusted(store: TrustStore) -> None:
    assert store.is_trusted(resource("examples", "tools.py"))
    assert not store.is_trusted(resource("examples").parent)


def test_two_stores_agree(store: TrustStore, tmp_path: Path) -> None:
    other = TrustStore(tmp_path / "data" / "trust.json")
    store.trust(tmp_path / "a")
    other.trust(tmp_path / "b")
    assert store.is_trusted(tmp_path / "a")
    assert store.is_trusted(tmp_path / "b")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"folders": [5], "approvals": [1]}', "\x00"])
def test_a_broken_file_allows_nothing(store: TrustStore, tmp_path: Path, text: str) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "trust.json").write_text(text, encoding="utf-8")
    assert not store.is_trusted(tmp_path)
    store.trust(tmp_path)
    assert store.is_trusted(tmp_path)


def test_a_damaged_file_is_kept_beside_the_next_one(store: TrustStore, tmp_path: Path) -> None:
    store.trust(tmp_path / "before")
    path = tmp_path / "data" / "trust.json"
    damaged = path.read_bytes()[:-20]
    path.write_bytes(damaged)
    assert "is damaged: no folder counts as trusted" in store.fault
    store.trust(tmp_path / "after")
    assert store.current.folders == {tmp_path / "after"}
    assert (tmp_path / "data" / "trust.broken.json").read_bytes() == damaged
    assert not store.fault


def test_what_cannot_be_read_is_not_written_over(store: TrustStore, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "trust.json"
    (folder / "inside").mkdir(parents=True)
    assert "cannot be read" in store.fault
    with pytest.raises(OSError, match=r"Is a directory|Permission denied"):
        store.trust(tmp_path)
    assert (folder / "inside").is_dir()


def test_approvals_are_kept_by_folder_and_tool(store: TrustStore, tmp_path: Path) -> None:
    send, read = ToolId("mcp:a", "send"), ToolId("mcp:a", "read")
    store.remember_approval(tmp_path, send, "always")
    store.remember_approval(tmp_path, read, "allow")
    assert store.current.approval(tmp_path, send) == "always"
    assert store.current.approval(tmp_path, read) == "allow"
    assert store.current.approval(tmp_path, ToolId("mcp:b", "read"), "read") is None
    assert store.current.approval(tmp_path / "other", send) is None
    assert not store.is_trusted(tmp_path)
