"""Files by a pattern: what `Path.glob` finds, and no folder is listed that may not be."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from studio.core.text.files import OutsidePatternError, files_matching

_LISTED: list[str] = []


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("os.scandir", "os.listdir"):
        _LISTED.append(os.path.realpath(str(arguments[0])))


sys.addaudithook(_note)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    for name in ("in/a.txt", "in/b.md", "in/deep/c.txt", "in/deep/er/d.txt", "out/e.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    return tmp_path / "in"


def _within(folder: Path, pattern: str) -> list[str]:
    found = files_matching(folder, pattern, lambda each: each.resolve().is_relative_to(folder))
    return [path.relative_to(folder).as_posix() for path in found]


@pytest.mark.parametrize(
    "pattern",
    ["*.txt", "**/*.txt", "*/*.txt", "deep/*", "**/er/*", "d*/**/d.txt", "no/*", "[ab].*"],
)
def test_a_pattern_finds_what_glob_finds(folder: Path, pattern: str) -> None:
    usual = sorted(path for path in folder.glob(pattern) if path.is_file())
    assert _within(folder, pattern) == [path.relative_to(folder).as_posix() for path in usual]


def test_a_folder_that_is_met_by_many_ways_is_looked_into_once(folder: Path) -> None:
    deep = folder.joinpath(*("d" * 30))
    deep.mkdir(parents=True)
    (deep / "e.txt").write_text("x", encoding="utf-8")
    assert len(_within(folder, "**/" * 20 + "e.txt")) == 1


@pytest.mark.parametrize("pattern", ["../*", "../**/*.txt", "../out/*.txt", "deep/../../*/*.txt"])
def test_a_pattern_that_leads_out_lists_nothing(folder: Path, pattern: str) -> None:
    _LISTED.clear()
    with pytest.raises(OutsidePatternError):
        _within(folder, pattern)
    assert not _LISTED


@pytest.mark.skipif(sys.platform == "win32", reason="links are for administrators there")
def test_a_link_that_leads_out_is_not_followed(folder: Path) -> None:
    (folder / "link").symlink_to(folder.parent / "out")
    _LISTED.clear()
    assert _within(folder, "*/*.txt") == ["deep/c.txt"]
    assert _within(folder, "**/*.txt") == ["a.txt", "deep/c.txt", "deep/er/d.txt"]
    assert _LISTED
    assert os.path.realpath(folder.parent / "out") not in _LISTED
    with pytest.raises(OutsidePatternError):
        _within(folder, "link/*.txt")


def test_what_may_be_listed_is_found_above_the_folder_too(folder: Path) -> None:
    found = files_matching(folder, "../*/*.txt", lambda _: True)
    assert [path.resolve() for path in found] == [folder / "a.txt", folder.parent / "out" / "e.txt"]


@pytest.mark.parametrize("pattern", ["/*", "/in/*", "a**b"])
def test_what_is_no_pattern_is_refused(folder: Path, pattern: str) -> None:
    if pattern == "a**b" and sys.version_info >= (3, 13):
        assert _within(folder, pattern) == []
    else:
        with pytest.raises(ValueError, match="pattern"):
            _within(folder, pattern)
