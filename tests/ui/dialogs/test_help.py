from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from pytestqt.qtbot import QtBot

from studio.core.paths import docs_root
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.help import HelpDialog, _anchor, help_pages
from studio.ui.style.application import finish_restyling
from studio.ui.style.theme import DARK, LIGHT

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.fixture
def guide(window: MainWindow, qtbot: QtBot) -> HelpDialog:
    window.actions_by_id["help.guide"].trigger()
    (dialog,) = window.findChildren(HelpDialog)
    return dialog


def test_the_guide_shows_each_page_and_follows_links(guide: HelpDialog) -> None:
    for row in range(guide.list.count()):
        guide.list.setCurrentRow(row)
        assert len(guide.page.toPlainText()) > 200, guide.shown
    guide.show_page("format")
    guide.page.anchorClicked.emit(QUrl("problems.md#inputs-variables-and-templates"))
    assert guide.shown == "problems"
    assert guide.page.textCursor().block().text().startswith("Inputs, variables")
    guide.close()


def test_a_search_leaves_the_pages_that_hold_the_words(guide: HelpDialog) -> None:
    guide.search.setText("literal-secret")
    shown = [
        guide.list.item(row).text()
        for row in range(guide.list.count())
        if not guide.list.item(row).isHidden()
    ]
    assert shown
    assert len(shown) < guide.list.count()
    assert guide.page.textCursor().selectedText() == "literal-secret"
    guide.close()


def test_every_link_of_the_guide_leads_somewhere() -> None:
    folder = docs_root()
    pages = {page.name: page.text for page in help_pages(folder)}
    broken = []
    for name, text in pages.items():
        for link in _LINK.findall(_FENCE.sub("", text)):
            path, _, anchor = link.partition("#")
            if link.startswith(("http:", "https:", "mailto:")):
                continue
            if path and not (folder / path).exists():
                broken.append(f"{name}: {link}")
            target = pages.get(Path(path).stem if path else name, "")
            headings = {_anchor(each) for each in re.findall(r"^#+\s+(.+)$", target, re.MULTILINE)}
            if anchor and anchor not in headings:
                broken.append(f"{name}: {link}")
    assert broken == []


def test_other_colours_leave_the_page_at_its_place(guide: HelpDialog, window: MainWindow) -> None:
    guide.show_page("format")
    bar = guide.page.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    at = bar.value()
    assert at > 0
    for theme in (DARK, LIGHT):
        window.set_theme(theme)
        finish_restyling()
        assert theme.accent in guide.page.document().defaultStyleSheet()
        assert bar.value() == at
    guide.close()
