from __future__ import annotations

from pathlib import Path

import pytest

from studio.core import paths
from studio.core.paths import resource, resource_root, resource_table


def test_checkout_has_its_resources_beside_the_package(checkout: Path) -> None:
    assert resource_root() == checkout / "resources"
    assert resource("examples", "chat.prompty").is_file()


def test_a_table_has_its_rows_by_section_and_first_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "resource_root", lambda: tmp_path)
    (tmp_path / "a.txt").write_text("# why\n\n[one]\nx    two words\n\n[two]\ny  z\n", "utf-8")
    assert resource_table("a.txt") == {"one": {"x": "two words"}, "two": {"y": "z"}}
    for wrong in ("[one]\nx y\n", "x  y\n"):
        (tmp_path / "a.txt").write_text(wrong, "utf-8")
        with pytest.raises(ValueError, match="is no row of a section"):
            resource_table("a.txt")
