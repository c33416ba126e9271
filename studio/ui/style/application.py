"""The theme in use, and the one place that applies it to Qt.

Another palette comes to what is seen at once, and to the rest in slices: Qt keeps each widget's
rules with the colors that they were made with, and nine of ten widgets of the window lie in panes
and dialogs that nobody looks at: nobody waits for those.

The little style sheet on top of Fusion: what a palette cannot say.

It names roles of the palette and no color, so that both themes have the same sheet: another theme
is another palette, and no widget is asked for another sheet.

The theme as Qt's palette, which the style sheet names its colors by.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QCoreApplication, QDir, QObject, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from studio.core.resource_files import resource
from studio.ui.style.in_use import FollowsTheme, recolor_now
from studio.ui.style.theme import DARK, LIGHT, UI_POINTS, Theme, ThemeChoice, ui_font

if TYPE_CHECKING:
    from studio.core.settings import Settings


IMAGES = "theme"
"""Qt's search path to the theme's own drawings: a style sheet cannot tint."""

SHEET_ROLES: Mapping[str, str] = {
    "window": "window",
    "surface": "base",
    "raised": "light",
    "border": "mid",
    "text": "text",
    "muted": "placeholder-text",
    "accent": "accent",
    "hint": "link",
    "selection": "highlight",
    "error": "bright-text",
    "handle": "dark",
    # Three roles that Fusion paints nothing with.
    "on_accent": "midlight",
    "warning": "shadow",
    "success": "link-visited",
}
"""Role of the palette, as a style sheet writes it, by the theme's name of a color."""


def palette(theme: Theme) -> QPalette:
    """The theme as a palette, with the inactive and disabled groups said too."""
    role = QPalette.ColorRole
    colors = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.current_line,
        role.Text: theme.text,
        role.Button: theme.window,
        role.ButtonText: theme.text,
        role.BrightText: theme.error,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.text,
        role.Accent: theme.accent,
        role.Link: theme.hint,
        role.LinkVisited: theme.success,
        role.Light: theme.raised,
        role.Midlight: theme.on_accent,
        role.Mid: theme.border,
        role.Dark: theme.handle,
        role.Shadow: theme.warning,
    }
    made = QPalette()
    for each, color in colors.items():
        # One call for all groups: an inactive window must keep its selection readable.
        made.setColor(each, QColor(color))
    faint = QColor(theme.muted)
    faint.setAlphaF(0.55)
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, each, faint)
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.raised))
    return made


_DIALOG = 36
"""Least width of a question, in points of its text: one of three words would have a window too
narrow for the title and the buttons that the desktop puts around it."""
# Spin boxes are left to Fusion: with a rule of their own their text starts on their border
# (measured).
_SHEET = Template("""
QInputDialog QLabel, QMessageBox QLabel#qt_msgbox_label { min-width: ${dialog}px; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QToolTip { color: $text; background: $raised; border: 1px solid $border; padding: 4px 6px; }
QMainWindow::separator { background: $border; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QMenuBar { background: $window; border-bottom: 1px solid $border; padding: 2px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $selection; }
QMenu { background: $surface; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 5px 28px 5px 8px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $muted; }
QMenu::icon { padding-left: 6px; }
QMenu::separator { height: 1px; background: $border; margin: 4px 6px; }
QToolBar { background: $window; border: 0; border-bottom: 1px solid $border; padding: 4px 6px;
    spacing: 2px; }
QToolBar#toolbar { padding: 3px 8px; spacing: 4px; }
QToolBar#toolbar QMenuBar { border: 0; padding: 0; }
QToolBar#sideStrip { border: 0; border-right: 1px solid $border; padding: 6px 0; spacing: 4px; }
QToolBar#sideStrip QToolButton { padding: 6px; margin: 2px 5px; border-radius: 6px; }
QWidget#dockHead { background: $window; border-bottom: 1px solid $border; }
QToolButton[head="true"] { font-weight: 600; padding: 3px 6px; }
QToolButton[head="true"]:checked { background: transparent; }
QToolButton#model { background: $surface; border: 1px solid $border; padding: 4px 10px; }
QToolButton#model:hover { background: $raised; }
QToolButton[primary="true"] { background: $accent; color: $on_accent; border-color: $accent;
    font-weight: 600; padding: 4px 16px; }
QToolButton[primary="true"]:disabled { background: $raised; color: $muted; border-color: $border; }
QToolBar::separator { width: 1px; background: $border; margin: 4px 6px; }
QToolButton { border: 1px solid transparent; border-radius: 5px; padding: 4px; }
QToolBar QToolButton { padding: 4px 6px; }
QToolButton:hover { background: $raised; border-color: $border; }
QToolButton:pressed, QToolButton:checked { background: $selection; }
QToolButton:focus { border-color: $accent; }
QToolButton:disabled { color: $muted; }
QToolButton[primary="true"]:enabled:hover, QToolButton[primary="true"]:enabled:pressed {
    background: $accent; border-color: $text; }
QToolButton[primary="true"]:enabled:focus { border-color: $text; }
QToolButton[popupMode="1"] { padding-right: 18px; }
QToolButton[popupMode="2"] { padding-right: 18px; }
QToolButton::menu-indicator { image: url("$arrow_down"); subcontrol-position: right center;
    subcontrol-origin: padding; right: 4px; width: 10px; height: 10px; }
QWidget#crumbs { background: $surface; border-bottom: 1px solid $border; }
QToolButton[crumb="true"] { padding: 1px 5px; color: $muted; border-radius: 4px; }
QToolButton[crumb="true"]:hover, QToolButton[crumb="true"]:focus { color: $text; }
QPushButton { background: $surface; border: 1px solid $border; border-radius: 5px;
    padding: 5px 14px; }
QPushButton:hover { background: $raised; }
QPushButton:pressed { background: $selection; }
QPushButton:focus { border: 2px solid $accent; padding: 4px 13px; }
QPushButton:checked { background: $selection; border-color: $accent; }
QPushButton:disabled { color: $muted; background: $window; }
QPushButton:default, QPushButton[primary="true"] { background: $accent; color: $on_accent;
    border-color: $accent; font-weight: 600; }
QPushButton:default:focus, QPushButton[primary="true"]:focus { border-color: $text; }
QPushButton[primary="true"]:disabled { background: $raised; color: $muted; border-color: $border; }
QPushButton[flat="true"] { background: transparent; border-color: transparent; }
QPushButton[flat="true"]:hover { background: $raised; }
QPushButton[flat="true"]:focus { border-color: $accent; }
QLineEdit { background: $surface; border: 1px solid $border; border-radius: 5px; padding: 4px 7px;
    selection-background-color: $selection; selection-color: $text; }
QLineEdit:focus { border: 2px solid $accent; padding: 3px 6px; }
QLineEdit:disabled { background: $window; color: $muted; }
QComboBox { background: $surface; border: 1px solid $border; border-radius: 5px;
    padding: 4px 4px 4px 9px; selection-background-color: $selection; selection-color: $text;
    combobox-popup: 0; }
QComboBox:hover:!editable { background: $raised; }
QComboBox:focus, QComboBox:on { border: 2px solid $accent; padding: 3px 3px 3px 8px; }
QComboBox:editable { padding-left: 7px; }
QComboBox:editable:focus, QComboBox:editable:on { padding-left: 6px; }
QAbstractSpinBox { min-height: 22px; }
QComboBox:disabled { background: $window; color: $muted; }
QComboBox::drop-down { border: 0; width: 20px; }
QComboBox::down-arrow { image: url("$arrow_down"); width: 12px; height: 12px; }
QComboBox QAbstractItemView { background: $surface; border: 1px solid $border; padding: 3px; }
QComboBox QAbstractItemView::item { padding: 4px 6px; border-radius: 4px; }
QPlainTextEdit, QTextEdit, QTextBrowser { selection-background-color: $selection;
    selection-color: $text; }
QListView, QTreeView, QTableView { background: $surface; border: 0; outline: 0; }
QListView::item, QTreeView::item { padding: 3px 4px; min-height: 18px; }
QListView::item:hover, QTreeView::item:hover { background: $raised; }
QListView::item:selected, QTreeView::item:selected, QTableView::item:selected {
    background: $selection; color: $text; }
QTableView[padded="true"]::item { padding: 0 8px; }
QHeaderView { background: $window; }
QHeaderView::section { background: $window; color: $muted; border: 0; padding: 5px 8px;
    border-bottom: 1px solid $border; }
QHeaderView::up-arrow { image: url("$arrow_up"); width: 12px; height: 12px; }
QHeaderView::down-arrow { image: url("$arrow_down"); width: 12px; height: 12px; }
QTabWidget::pane { border: 0; border-top: 1px solid $border; }
QTabBar { background: $window; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 6px 10px; border: 0;
    border-bottom: 2px solid transparent; }
QTabBar::tab:hover { color: $text; background: $raised; }
QTabBar::tab:selected { color: $text; border-bottom-color: $accent; }
QTabBar[tight="true"]::tab { padding: 6px 3px; }
QTabBar[aside="true"]::tab:selected { border-bottom-color: $border; }
QTabBar::tab:focus { color: $text; background: $raised; }
QTabBar::close-button { image: url("$close"); width: 14px; height: 14px; border-radius: 3px; }
QTabBar::close-button:hover { background: $border; }
QDockWidget { titlebar-close-icon: url("$close"); titlebar-normal-icon: url("$float");
    color: $muted; font-weight: 600; }
QDockWidget::title { background: $window; padding: 6px 8px; border-bottom: 1px solid $border; }
QDockWidget::close-button, QDockWidget::float-button { border: 0;
    border-radius: 3px; padding: 1px; }
QDockWidget::close-button:hover, QDockWidget::float-button:hover { background: $border; }
QStatusBar { background: $window; border-top: 1px solid $border; }
QStatusBar::item { border: 0; }
QStatusBar QToolButton { padding: 2px 7px; color: $muted; border-radius: 4px; }
QStatusBar QToolButton:hover { color: $text; }
QCheckBox::indicator, QTreeView::indicator, QListView::indicator, QTableView::indicator {
    width: 14px; height: 14px; border: 1px solid $muted; border-radius: 4px;
    background: $surface; }
QCheckBox::indicator:hover { border-color: $accent; }
QCheckBox::indicator:checked, QTreeView::indicator:checked, QListView::indicator:checked,
QTableView::indicator:checked { background: $accent; border-color: $accent;
    image: url("$check"); }
QCheckBox::indicator:focus { width: 12px; height: 12px; border: 2px solid $accent; }
QCheckBox::indicator:checked:focus { border-color: $text; }
QCheckBox::indicator:disabled { border-color: $border; background: $window; }
QCheckBox::indicator:checked:disabled { background: $muted; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $handle; border-radius: 4px; margin: 2px; }
QScrollBar::handle:hover { background: $muted; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QProgressBar { border: 0; border-radius: 2px; background: $border; max-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
QGroupBox { border: 1px solid $border; border-radius: 6px; margin-top: 10px; padding-top: 6px; }
QGroupBox::title { subcontrol-origin: margin; left: 10px; padding: 0 4px; color: $muted; }
QFrame#separator { color: $border; }
QFrame#notice { background: $surface; border: 1px solid $border; border-left: 3px solid $hint;
    border-radius: 6px; }
QFrame#notice[weight="success"] { border-left-color: $success; }
QFrame#notice[weight="warning"] { border-left-color: $warning; }
QFrame#notice[weight="error"] { border-left-color: $error; }
QLabel[tone="text"] { color: $text; }
QLabel[tone="muted"] { color: $muted; }
QLabel[tone="accent"] { color: $accent; }
QLabel[tone="error"] { color: $error; }
QLabel[tone="warning"] { color: $warning; }
QLabel[tone="success"] { color: $success; }
QLabel[tone="hint"] { color: $hint; }
QLabel[scale="display"] { font-size: ${display}pt; font-weight: 600; }
QLabel[scale="heading"] { font-size: ${heading}pt; font-weight: 600; }
QLabel[scale="section"] { font-size: ${section}pt; font-weight: 600; }
QFrame#palette, QFrame#popup { background: $surface; border: 1px solid $border;
    border-radius: 8px; }
QFrame#popup { border-radius: 6px; }
QWidget#diskBar { background: $raised; border-bottom: 1px solid $border; }
QPushButton#card { background: $surface; border: 1px solid $border; border-radius: 8px;
    padding: 0; }
QPushButton#card:hover { border-color: $accent; }
QPushButton#card:focus { border: 2px solid $accent; padding: 0; }
QPushButton#card:checked { border-color: $accent; background: $selection; }
QPushButton#line { background: transparent; border: 1px solid transparent; text-align: left;
    padding: 4px 6px; }
QPushButton#line:hover { background: $raised; }
QPushButton#line:focus { border: 2px solid $accent; padding: 3px 5px; }
QLabel[title="true"] { font-weight: 600; }
QLabel#keycap { color: $muted; background: $raised; border: 1px solid $border;
    border-radius: 4px; padding: 1px 6px; font-size: ${key}pt; }
QScrollArea#welcome, QScrollArea#welcome > QWidget > QWidget { background: $surface; }
QFrame#promise { background: $raised; border: 1px solid $border; border-radius: 8px; }
""")


def stylesheet(points: float) -> str:
    """The application's style sheet, for text of that size; the palette has its colors."""
    return _SHEET.substitute(
        {name: f"palette({role})" for name, role in SHEET_ROLES.items()},
        key=0.85 * points,
        dialog=round(_DIALOG * points),
        display=2.2 * points,
        heading=1.35 * points,
        section=1.2 * points,
        check=f"{IMAGES}:check.svg",
        close=f"{IMAGES}:close.svg",
        float=f"{IMAGES}:float.svg",
        arrow_down=f"{IMAGES}:arrow-down.svg",
        arrow_up=f"{IMAGES}:arrow-up.svg",
    )


_SLICE_SECONDS = 0.008
"""Time that hidden widgets take from the window at once."""
_STYLE = "Fusion"
_STYLED = "studioStyled"
"""Property of the application: it has that style."""


def new_application() -> QApplication:
    """The program's application, in the style that `apply_theme` asks for.

    Named among the arguments: to hand a style over has PySide make the class of styles, with its
    600 names, which takes a thirtieth of a start.
    """
    app = QApplication([*sys.argv[:1], "-style", _STYLE])
    app.setProperty(_STYLED, True)
    return app


def theme_for(choice: ThemeChoice) -> Theme:
    """The theme of a choice; "system" is light where the desktop says nothing."""
    if choice == "light":
        return LIGHT
    if choice == "dark":
        return DARK
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


@dataclass(frozen=True, slots=True)
class Fonts:
    """The user's choice of the interface's font."""

    family: str = ""
    """Its family; empty for the bundled one."""

    points: float = UI_POINTS
    """Its size."""


def fonts_of(settings: Settings) -> Fonts:
    """The fonts that the settings ask for."""
    return Fonts(settings.interface_font, settings.interface_font_size)


def apply_theme(app: QApplication, theme: Theme, fonts: Fonts | None = None) -> None:
    """Give the whole application Fusion, the theme's palette, its fonts and its style sheet.

    An own palette, because `setColorScheme` does nothing without a desktop (measured). Another
    theme with the same fonts is on all that is seen when this returns, and on the rest soon after.
    """
    # A style sheet hides the style's name; and each of these steps asks every widget there is.
    if app.property(_STYLED) is None:
        app.setStyle(QStyleFactory.create(_STYLE))
        app.setProperty(_STYLED, True)
    fonts = fonts or Fonts()
    font, sheet = ui_font(fonts.points, fonts.family), stylesheet(fonts.points)
    if app.font() == font and app.styleSheet() == sheet:
        if app.palette() != palette(theme):
            _take_colors(app, theme)
            restyle(app)
        return
    # Taken away first: to put one sheet in another's place asks each widget again for every widget
    # around it (measured with 1,100 widgets: 0.38 s, and 0.15 s this way).
    app.setStyleSheet("")
    if app.font() != font:
        app.setFont(font)
    _take_colors(app, theme)
    app.setStyleSheet(sheet)
    recolor_now()


def _take_colors(app: QApplication, theme: Theme) -> None:
    QDir.setSearchPaths(IMAGES, [str(resource("themes", theme.name))])
    app.setPalette(palette(theme))


def restyle(app: QApplication) -> None:
    """Let all widgets take the palette's colors: those that are seen now, the others soon."""
    # The sheet is read anew for its drawings, which lie in another folder now.
    app.style().unpolish(app)
    seen: list[QWidget] = []
    hidden: list[QWidget] = []
    for widget in app.allWidgets():
        (seen if widget.isVisible() else hidden).append(widget)
    for widget in seen:
        _polish(widget)
    _tell(seen)
    recolor_now()
    rest = app.findChild(_Rest) or _Rest(app)
    rest.begin(hidden)


def finish_restyling() -> None:
    """Give the hidden widgets their colors now."""
    app = QCoreApplication.instance()
    rest = app.findChild(_Rest) if app is not None else None
    if rest is not None:
        rest.finish()


def _polish(widget: QWidget) -> None:
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def _tell(widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        if isinstance(widget, FollowsTheme):
            widget.hear_of_theme()


def _depth(widget: QWidget) -> int:
    """Return how many widgets are around one."""
    depth, around = 0, widget.parentWidget()
    while around is not None:
        depth, around = depth + 1, around.parentWidget()
    return depth


class _Rest(QObject):
    """The hidden widgets that still have the colors of the theme before."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._widgets: list[QWidget] = []
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._on_turn)

    def begin(self, widgets: list[QWidget]) -> None:
        """Style these, in the place of any that were left over, the innermost first.

        A widget that colors others has to come after them: to style one takes its palette back.
        """
        self._widgets = sorted(widgets, key=_depth)
        self._timer.start()

    def finish(self) -> None:
        """Style all that are left."""
        self._work_until(None)

    def _on_turn(self) -> None:
        self._work_until(time.monotonic() + _SLICE_SECONDS)

    def _work_until(self, end: float | None) -> None:
        done: list[QWidget] = []
        while self._widgets and not (done and end is not None and time.monotonic() >= end):
            widget = self._widgets.pop()
            # To color may have ended some of them, and made others.
            if shiboken6.isValid(widget):
                _polish(widget)
                done.append(widget)
        _tell(each for each in done if shiboken6.isValid(each))
        recolor_now()
        if not self._widgets:
            self._timer.stop()
