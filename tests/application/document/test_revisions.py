"""Earlier texts: of a real git repository, and those that were saved over."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from studio.application.document.revisions import (
    EarlierTexts,
    line_changes,
    refused_repository,
    revisions,
    text_at,
)
from tests.support.no_files import needs_posix


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    subprocess.run(("git", *identity, *words), cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_texts_of_commits_the_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "in" / "ä b.prompty"
    path.parent.mkdir()
    git(tmp_path, "init", "-q")
    for text in ("user:\nOne\n", "user:\nTwo\n"):
        path.write_text(text, encoding="utf-8")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", f"It says {text.split()[1]}")
    path.write_text("user:\nThree\n", encoding="utf-8")
    found = revisions(path)
    assert [each.title for each in found] == ["It says Two", "It says One"]
    assert text_at(path) == "user:\nTwo\n"
    assert text_at(path, found[1].name) == "user:\nOne\n"
    assert text_at(path, "--help") is None
    assert text_at(tmp_path / "other.prompty") is None


@needs_posix
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_that_hangs_has_no_earlier_texts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\nOne\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    assert text_at(path) == "user:\nOne\n"
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / ".git" / "config").open("a", encoding="utf-8") as config:
        config.write(f"[include]\n\tpath = {tmp_path / 'pipe'}\n")
    monkeypatch.setattr("studio.application.document.revisions._SECONDS", 0.5)
    assert text_at(path) is None
    assert revisions(path) == ()
    assert refused_repository(tmp_path) == ""


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_file_that_was_renamed_keeps_its_earlier_texts(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    folder = tmp_path / "in"
    folder.mkdir()
    old, new = folder / "a[1] \u00fc.prompty", tmp_path / "b*.prompty"
    old.write_text("user:\nOne\nand more\nof it\n", encoding="utf-8")
    (tmp_path / "bx.prompty").write_text("user:\nAnother\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "First")
    git(tmp_path, "mv", str(old), str(new))
    new.write_text("user:\nTwo\nand more\nof it\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "Second")
    git(tmp_path, "checkout", "-q", "--detach")
    found = revisions(new)
    assert [each.title for each in found] == ["Second", "First"]
    texts = [text_at(new, each.name, each.path) for each in found]
    assert [text and text.split("\n")[1] for text in texts] == ["Two", "One"]


def test_without_a_repository_there_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\n", encoding="utf-8")
    assert revisions(path) == ()
    assert text_at(path) is None


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("a\nb\nc", "a\nb\nc", {}),
        ("a\nb\nc", "a\nx\nc", {1: "changed"}),
        ("a\nc", "a\nb\nc", {1: "added"}),
        ("a\nb\nc", "a\nc", {1: "removed"}),
        ("a\nb", "a", {0: "removed"}),
        ("", "a", {0: "changed"}),
    ],
)
def test_what_became_of_lines(before: str, after: str, found: dict[int, str]) -> None:
    assert line_changes(before, after) == found


def test_texts_that_were_saved_over_are_kept_thirty_times(tmp_path: Path) -> None:
    kept, path = EarlierTexts(tmp_path / "earlier"), tmp_path / "a.prompty"
    for number in range(40):
        kept.keep(path, f"text {number}\n")
    kept.keep(path, "text 39\n")
    found = kept.of(path)
    assert len(found) == 30
    assert kept.text(found[0]) is not None
    assert "text 39" in (kept.text(found[0]) or "")
    assert "text 10" in (kept.text(found[-1]) or "")
    assert kept.of(tmp_path / "b.prompty") == ()


def test_kept_texts_follow_a_file_and_a_folder_to_their_new_names(tmp_path: Path) -> None:
    kept = EarlierTexts(tmp_path / "earlier")
    old, new = tmp_path / "in", tmp_path / "out"
    (new / "deep").mkdir(parents=True)
    for name in ("a.prompty", "deep/b.prompty"):
        kept.keep(old / name, f"{name}\n")
        (new / name).write_text("now", encoding="utf-8")
    kept.follow(old, new)
    assert [kept.text(each) for each in kept.of(new / "deep/b.prompty")] == ["deep/b.prompty\n"]
    kept.follow(new / "a.prompty", new / "c.prompty")
    assert [kept.text(each) for each in kept.of(new / "c.prompty")] == ["a.prompty\n"]
    assert kept.of(old / "a.prompty") == ()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_of_another_user_is_not_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused_repository(tmp_path) == ""
    git(tmp_path, "init", "-q")
    assert refused_repository(tmp_path) == ""
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own switch
    assert Path(refused_repository(tmp_path)).resolve() == tmp_path.resolve()
