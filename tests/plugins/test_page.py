"""`docs/extending.md` names the doors as they are."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from studio.core.export.targets import TARGETS
from studio.core.imports.recognize import IMPORTERS, all_suffixes
from studio.core.plugins import GROUPS
from studio.core.prompty.checks import CHECKS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SAMPLE = tomllib.loads(Path(__file__).with_name("sample").joinpath("pyproject.toml").read_text())


def test_every_door_is_on_the_page_and_in_the_sample() -> None:
    groups = {f"prompt_studio.{group}" for group in GROUPS}
    assert set(re.findall(r"^\| `(prompt_studio\.\w+)` \|", PAGE, re.MULTILINE)) == groups
    assert set(SAMPLE["project"]["entry-points"]) == groups


def test_the_protocols_stand_where_the_page_says() -> None:
    named = re.findall(r"`(\w+)` in `(studio/[\w/]+\.py)`", PAGE)
    assert len(named) == len(GROUPS)
    for name, path in named:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(class {name}\b|{name} = )", text, re.MULTILINE), name


def test_a_check_is_its_module_and_a_row() -> None:
    table = "core/prompty/checks/__init__.py"
    for check in CHECKS:
        assert users_of(check.__name__, check.__module__) == {table}


def test_an_export_form_is_its_module_and_a_row() -> None:
    for form in {type(each) for each in TARGETS}:
        assert users_of(form.__name__, form.__module__) == {"core/export/targets.py"}


def test_an_own_importer_is_a_row_and_its_files_are_offered() -> None:
    assert {ending for each in IMPORTERS for ending in each.suffixes} <= set(all_suffixes())
    assert users_of("IMPORTERS", "studio.core.imports.recognize") == set()


def test_a_tool_source_touches_the_files_of_the_page() -> None:
    row = row_of("tool source")
    users = users_of("PluginTool", "studio.core.tools.document")
    assert set(re.findall(r"`([\w/]+\.py)`", row)) == {"core/tools/document.py", *users}
    assert int(row.split("|")[2]) == len(users) + 2


def test_a_pane_touches_the_files_of_the_page() -> None:
    row = row_of("pane")
    named = set(re.findall(r"`([\w/]+\.py)`", row))
    own = {"ui/app/past_runs.py"}  # the coordinator of its subject
    users = users_of("HistoryPane", "studio.ui.history.pane") - own
    assert users == {"ui/window/parts.py", "ui/app/workbench.py"}
    keyed = {
        path.relative_to(ROOT / "studio").as_posix()
        for folder in ("window", "app")
        for path in (ROOT / "studio" / "ui" / folder).glob("*.py")
        if re.search(r'"history":|\("history", ', path.read_text(encoding="utf-8"))
    }
    assert users | keyed == named
    assert int(row.split("|")[2]) == len(named - {"ui/window/toolbar.py"}) + 1


def row_of(addition: str) -> str:
    """The row of the page's last table for an addition."""
    return next(line for line in PAGE.splitlines() if line.startswith(f"| {addition} |"))


def users_of(name: str, module: str) -> set[str]:
    """Modules that import a name, by their path in `studio/`."""
    line = re.compile(rf"from {re.escape(module)} import (?:\([^)]*|[^\n(]*)\b{name}\b")
    studio = ROOT / "studio"
    return {
        path.relative_to(studio).as_posix()
        for path in studio.rglob("*.py")
        if line.search(path.read_text(encoding="utf-8"))
    }
