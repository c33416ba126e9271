"""The line above the preview: its tabs, and a menu of what is done with the messages."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QTabBar, QToolButton, QWidget

from studio.application.words import tr
from studio.ui.parts.labels import icon_button
from studio.ui.parts.layouts import row_of
from studio.ui.style.icons import icon


class PreviewBar(QWidget):
    """Tokens are in the status bar, the price in the toolbar: here are the views alone."""

    request_copy = Signal(str)  # form: json, markdown or chat

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs = QTabBar(expanding=False, drawBase=False)
        self.tabs.setAccessibleName(tr("Views of the preview"))
        for title in (tr("Messages"), tr("Request"), tr("Variables"), tr("Diff")):
            self.tabs.addTab(title)
        menu = QMenu(self)
        for words, form in (
            (tr("Copy as JSON"), "json"),
            (tr("Copy as Markdown"), "markdown"),
            (tr("Copy as chat text"), "chat"),
        ):
            menu.addAction(icon("copy"), words, partial(self.request_copy.emit, form))
        menu.addSeparator()
        self.raw = menu.addAction(icon("type"), tr("Raw text instead of Markdown"))
        self.raw.setCheckable(True)
        self.probe = menu.addAction(
            icon("shield-check"),
            tr("Probe inputs: can a value change the structure of the messages?"),
        )
        self.more = icon_button("ellipsis", tr("Copy, raw text, probe"))
        self.more.setAutoRaise(True)
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(menu)
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        row_of(self.tabs, 1, self.more, on=self, margins=(4, 0, 8, 0), spacing=4)
