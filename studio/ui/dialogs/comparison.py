"""A prompt beside an earlier text of it: the texts, the messages and the request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QTabWidget,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from studio.application.document.text_diff import DiffPiece, TextRow, compare_texts
from studio.ui.style.colors import blend
from studio.ui.style.in_use import theme_in_use
from studio.ui.style.theme import Theme, mono_font

_NUMBER = "padding:0 8px; white-space:pre"


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two texts of one kind."""

    title: str
    """What they are: the text, the messages, the request."""

    before: str
    """The earlier one."""

    after: str
    """The one of now."""


class ComparisonDialog(QDialog):
    """Shows what differs, with the changed words marked; one tab a kind."""

    def __init__(
        self, title: str, pairs: Sequence[ComparedPair], parent: QWidget | None = None
    ) -> None:
        """Make it.

        Args:
            title: what is compared with what.
            pairs: the texts, a tab each.
            theme: its colors.
            parent: the window.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(960, 680)
        legend = QLabel(self.tr("− earlier   + now"), self)
        legend.setProperty("tone", "muted")
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        for pair in pairs:
            rows = compare_texts(pair.before, pair.after)
            view = QTextBrowser()
            view.setOpenLinks(False)
            view.setFont(mono_font())
            view.setAccessibleName(pair.title)
            view.setHtml(rows_as_html(rows, theme_in_use()) if rows else self._same())
            same = self.tr("{title} (same)").format(title=pair.title)
            self.tabs.addTab(view, pair.title if rows else same)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.addWidget(legend)
        box.addWidget(self.tabs, 1)
        box.addWidget(buttons)

    def _same(self) -> str:
        return f"<p>{escape(self.tr('Both are the same.'))}</p>"


def rows_as_html(rows: Sequence[TextRow], theme: Theme) -> str:
    """A comparison as a table: number, sign and line; signs and underlines say what colors say."""
    said = "".join(_row(row, theme) for row in rows)
    style = f"font-family:'{mono_font().families()[0]}'"
    return f'<table width="100%" cellspacing="0" style="{style}">{said}</table>'


def _row(row: TextRow, theme: Theme) -> str:
    if row.kind == "gap":
        return f'<tr><td></td><td></td><td style="color:{theme.muted}">⋯</td></tr>'
    color = {"added": theme.success, "removed": theme.error}.get(row.kind, "")
    sign = {"added": "+", "removed": "−"}.get(row.kind, "&nbsp;")
    ground = f"background:{blend(color, theme.surface, 0.08)};" if color else ""
    words = "".join(_piece(row, piece, color, theme) for piece in row.pieces)
    return (
        f'<tr><td align="right" style="{ground} color:{theme.muted}; {_NUMBER}">{row.line}</td>'
        f'<td style="{ground} color:{color or theme.muted}; padding-right:8px">{sign}</td>'
        f'<td width="100%" style="{ground} white-space:pre-wrap">{words or "&nbsp;"}</td></tr>'
    )


def _piece(row: TextRow, piece: DiffPiece, color: str, theme: Theme) -> str:
    if not piece.is_changed or not color:
        return escape(piece.text)
    line = "line-through" if row.kind == "removed" else "underline"
    ground = blend(color, theme.surface, 0.28)
    return f'<span style="background:{ground}; text-decoration:{line}">{escape(piece.text)}</span>'
