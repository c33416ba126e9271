"""The user guide in the window, with the same pages as `docs/`; and the dialog *About*."""

import re
from dataclasses import dataclass
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QFont, QTextCursor, QTextDocument, QTextFormat

from studio import __version__
from studio.application.words import tr
from studio.core.paths import docs_root
from studio.core.text.files import read_text
from studio.ui.parts.kit import ClosingDialog, column_of, named, search_line, split_of
from studio.ui.style.theme import FollowsTheme, theme_in_use

FIRST = tuple(
    """
    guide authoring tools connections stepping history experiments export format problems keys
    security
""".split()
)
LAST = ("extending", "architecture", "glossary", "seeds")
"""Pages for developers, which come last; the others are sorted by name."""

_HEADING = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)
_PAGE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class HelpPage:
    """A page of the guide."""

    name: str
    """File name without the ending."""

    title: str
    """First heading."""

    text: str
    """Text in Markdown."""


def help_pages(folder: Path) -> list[HelpPage]:
    """Return the pages of a folder in reading order."""
    pages = []
    for path in folder.glob("*.md"):
        text = read_text(path)
        heading = _HEADING.search(text)
        pages.append(HelpPage(path.stem, heading[1] if heading else path.stem, text))
    return sorted(pages, key=_rank)


def _rank(page: HelpPage) -> tuple[int, str]:
    if page.name in FIRST:
        return FIRST.index(page.name) - len(FIRST), page.name
    return (LAST.index(page.name) + 1 if page.name in LAST else 0), page.name


class HelpDialog(FollowsTheme, ClosingDialog):
    """List of pages, search over all of them, and the selected page."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("User guide"), (940, 660))
        self._folder = docs_root()
        self._pages = {page.name: page for page in help_pages(self._folder)}
        self.search = search_line(tr("Search the guide"))
        self.list = named(QtWidgets.QListWidget(), tr("Pages of the guide"))
        self.list.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.page = QtWidgets.QTextBrowser(openLinks=False, searchPaths=[str(self._folder)])
        self.page.setAccessibleName(tr("Page"))
        self.page.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.page.document().setDocumentMargin(20)
        left = QtWidgets.QWidget()
        column_of(self.search, (self.list, 1), on=left, margins=(12, 12, 8, 12), spacing=8)
        split = split_of(left, self.page, stretch=(0, 1), sizes=(230, 710))
        column_of(split, on=self, margins=0)
        self._fill()
        self.search.textChanged.connect(self._on_search)
        self.list.currentItemChanged.connect(self._on_item)
        self.page.anchorClicked.connect(self._follow)
        self.list.setCurrentRow(0)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        bar = self.page.verticalScrollBar()
        at = bar.value()
        self.page.document().setDefaultStyleSheet(
            f"a {{ color: {theme_in_use().accent}; }}"
            " code, pre { font-family: 'JetBrains Mono'; }"
        )
        self._on_item(self.list.currentItem())
        bar.setValue(at)

    def show_page(self, name: str, anchor: str = "") -> None:
        """Show a page by name; links to missing pages do not occur."""
        for row in range(self.list.count()):
            if self.list.item(row).data(_PAGE) == name:
                self.list.setCurrentRow(row)
        if anchor:
            self._go_to(anchor)

    @property
    def shown(self) -> str:
        """Name of the shown page."""
        item = self.list.currentItem()
        return str(item.data(_PAGE)) if item is not None else ""

    def _fill(self) -> None:
        for page in self._pages.values():
            item = QtWidgets.QListWidgetItem(page.title)
            item.setData(_PAGE, page.name)
            self.list.addItem(item)

    def _on_item(self, item: QtWidgets.QListWidgetItem | None) -> None:
        if item is None:
            return
        text = self._pages[item.data(_PAGE)].text
        document = self.page.document()
        document.setMarkdown(text, QTextDocument.MarkdownFeature.MarkdownDialectGitHub)
        _give_air(document)
        self.page.moveCursor(QTextCursor.MoveOperation.Start)
        if self.search.text().strip():
            self.page.find(self.search.text().strip())

    def _on_search(self, query: str) -> None:
        wanted = query.casefold().strip()
        first = None
        for row in range(self.list.count()):
            item = self.list.item(row)
            fits = wanted in self._pages[item.data(_PAGE)].text.casefold()
            item.setHidden(not fits)
            if fits and first is None:
                first = row
        current = self.list.currentItem()
        if first is not None and (current is None or current.isHidden()):
            self.list.setCurrentRow(first)
        elif current is not None:
            self._on_item(current)

    def _follow(self, url: QUrl) -> None:
        if url.scheme() in {"http", "https"}:
            QDesktopServices.openUrl(url)
            return
        name = Path(url.path()).stem
        if name in self._pages:
            self.show_page(name, url.fragment())
        elif url.fragment() and not url.path():
            self._go_to(url.fragment())
        elif (self._folder / url.path()).exists():
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder / url.path())))

    def _go_to(self, anchor: str) -> None:
        """Scroll to the heading of an anchor, which is formed as on Markdown sites."""
        block = self.page.document().firstBlock()
        while block.isValid():
            if block.blockFormat().headingLevel() and _anchor(block.text()) == anchor:
                self.page.setTextCursor(QTextCursor(block))
                self.page.ensureCursorVisible()
                return
            block = block.next()


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.casefold()).strip().replace(" ", "-")


def _give_air(document: QTextDocument) -> None:
    """Add space around headings and set the font of code: Qt does neither for Markdown."""
    block = document.firstBlock()
    cursor = QTextCursor(document)
    while block.isValid():
        form = block.blockFormat()
        level = form.headingLevel()
        if level:
            form.setTopMargin(0 if block == document.firstBlock() else 18)
            form.setBottomMargin(8)
        elif not block.textList() and not form.hasProperty(QTextFormat.Property.BlockCodeFence):
            form.setBottomMargin(max(form.bottomMargin(), 6))
        cursor.setPosition(block.position())
        cursor.setBlockFormat(form)
        if level:
            cursor.movePosition(
                QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor
            )
            chars = cursor.charFormat()
            chars.setFontWeight(QFont.Weight.DemiBold)
            cursor.mergeCharFormat(chars)
        block = block.next()


class AboutDialog(ClosingDialog):
    """A few lines about the program."""

    def __init__(self, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("About Prompt Studio"))
        title = QtWidgets.QLabel(tr("Prompt Studio {version}").format(version=__version__))
        title.setProperty("scale", "heading")
        text = QtWidgets.QLabel(
            tr(
                "Prompts and agents as files: edit, preview, step, export.<br><br>"
                "Made with Qt {qversion} and Python. Icons by Lucide (ISC). Fonts: Inter and "
                "JetBrains Mono (SIL Open Font License).<br>License: MIT."
            ).format(qversion=qVersion()),
            wordWrap=True,
        )
        text.setMinimumWidth(380)
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column_of(title, text, buttons, on=self, margins=(20, 20, 20, 16), spacing=12)
