"""Documents that the code and other documents name are in the project."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NAMED = re.compile(r"(?<![\w./-])[\w/-][\w./-]*\.md\b")
LINKED = re.compile(r"\]\((?!\w+:)([^()#\s]+)")
ANCHORED = re.compile(r"\]\((?!\w+:)([^()#\s]*)#([^()\s]+)\)")
SOURCE = re.compile(r"`((?:[\w-]+/)*[\w-]+\.py)`")
MADE_BY_USERS = {"agent.py", "checks.py", "tools.py"}
"""Names that examples give to files of the reader's own."""
IN_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CODE = sorted([*(ROOT / "studio").rglob("*.py"), *(ROOT / "packaging").rglob("*.py")])


OF_AGENTS = {"SKILL.md", "skill.md", "AGENTS.md"}
"""Names that programs look for, in anyone's folder."""


def named_in(text: str) -> list[str]:
    return [name for name in NAMED.findall(text) if name not in OF_AGENTS]


def test_a_document_is_found_in_a_comment_and_in_a_string() -> None:
    assert named_in('# see docs/none.md, "x"\ny = "OTHER.md (§2)"') == ["docs/none.md", "OTHER.md"]
    assert named_in('path.suffix == ".md" and f"{name}.md"') == []


def test_every_document_named_in_code_exists() -> None:
    missing = [
        f"{path.relative_to(ROOT).as_posix()}: {name}"
        for path in CODE
        for name in named_in(path.read_text(encoding="utf-8"))
        if not any((folder / name).is_file() for folder in (ROOT, ROOT / "docs"))
    ]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_of_a_document_leads_to_a_file(page: Path) -> None:
    links = LINKED.findall(IN_CODE.sub("", page.read_text(encoding="utf-8")))
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_into_a_document_leads_to_a_heading(page: Path) -> None:
    for name, anchor in ANCHORED.findall(IN_CODE.sub("", page.read_text(encoding="utf-8"))):
        text = (page.parent / name if name else page).read_text(encoding="utf-8")
        heads = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_a_document_names_exists(page: Path) -> None:
    named = set(SOURCE.findall(page.read_text(encoding="utf-8"))) - MADE_BY_USERS
    modules = [
        path.as_posix() for room in ("studio", "tests") for path in (ROOT / room).rglob("*.py")
    ]
    modules += [path.as_posix() for path in (ROOT / "packaging").glob("*.py")]
    assert [name for name in named if not any(path.endswith(f"/{name}") for path in modules)] == []
