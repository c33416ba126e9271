from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.patterns import PatternError
from studio.core.search_files import Query, below, innermost, search


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "a.prompty").write_bytes(b"system:\r\nTell the Weather\r\nweather 2\r\n")
    (tmp_path / "sub" / "b.md").write_text("no weather (1)\n", encoding="utf-8")
    (tmp_path / "node_modules" / "c.md").write_text("weather\n", encoding="utf-8")
    (tmp_path / "d.png").write_bytes(b"weather")
    return tmp_path


def places(folder: Path, query: Query) -> list[tuple[str, int]]:
    return [(match.path.name, match.line) for match in search([folder], query)]


def test_words_are_found_in_text_files_only(folder: Path) -> None:
    found = places(folder, Query("weather"))
    assert sorted(found) == [("a.prompty", 2), ("a.prompty", 3), ("b.md", 1)]
    assert places(folder, Query("Weather", case=True)) == [("a.prompty", 2)]


def test_places_count_in_the_text_with_lf(folder: Path) -> None:
    (match,) = search([folder], Query("Weather", case=True))
    assert "system:\nTell the Weather"[match.span.start : match.span.end] == "Weather"


def test_a_pattern_and_a_plain_text_are_two_things(folder: Path) -> None:
    assert places(folder, Query("(1)")) == [("b.md", 1)]
    assert places(folder, Query(r"^weather \d$", regex=True)) == [("a.prompty", 3)]
    with pytest.raises(PatternError):
        search([folder], Query("(", regex=True))


def test_it_ends_at_the_most(folder: Path) -> None:
    assert len(search([folder], Query("weather", most=2))) == 2


def test_folders_that_lie_in_one_another_give_each_file_once(tmp_path: Path) -> None:
    inner, other = tmp_path / "all" / "inner", tmp_path / "other"
    for folder in (inner, other):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("needle", encoding="utf-8")
    roots = [inner.parent, inner, other]
    found = search(roots, Query("needle"))
    assert [match.path for match in found] == [inner / "a.md", other / "a.md"]
    assert innermost(inner / "a.md", roots) == inner
    assert innermost(tmp_path / "a.md", roots) is None
    assert below(inner / "a.md", inner, roots) == "inner/a.md"
    assert below(inner / "a.md", inner, [inner]) == "a.md"


def test_a_link_to_a_file_that_is_searched_is_not_searched_again(folder: Path) -> None:
    before = places(folder, Query("weather"))
    (folder / "0-link.prompty").symlink_to(folder / "a.prompty")
    assert places(folder, Query("weather")) == before
    (folder / "to-skipped.md").symlink_to(folder / "node_modules" / "c.md")
    (folder / "to-skipped-2.md").symlink_to(folder / "node_modules" / "c.md")
    assert len(places(folder, Query("weather"))) == len(before) + 1
