"""Theme of the window: colors, fonts and icons as values, and helpers for widgets.

Colors meet WCAG AA against the surface that they are used on, which a test checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6 import QtGui
from PySide6.QtCore import QByteArray, QCoreApplication, QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QLabel, QWidget

from studio.core.paths import resource, resource_table, resource_text

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtSvg import QSvgRenderer


ThemeName: TypeAlias = Literal["light", "dark"]
ThemeChoice: TypeAlias = Literal["light", "dark", "system"]


@dataclass(frozen=True, slots=True)
class Theme:
    """A set of colors, all as `#rrggbb`."""

    name: ThemeName
    """Name of the theme."""

    window: str
    """Background of the window: toolbar, docks, status bar."""

    surface: str
    """Background of text: editor, cards, lists, fields."""

    raised: str
    """Background of card headers, hovered rows, popups."""

    border: str
    """Border lines."""

    text: str
    """Main text."""

    muted: str
    """Secondary text."""

    accent: str
    """The only accent color: focus, selection marks, the live state, primary buttons."""

    on_accent: str
    """Text on the accent."""

    selection: str
    """Background of selected text and rows."""

    handle: str
    """Handles of scroll bars."""

    current_line: str
    """Background of the caret's line."""

    error: str
    """Errors."""

    warning: str
    """Warnings."""

    hint: str
    """Hints."""

    success: str
    """Success."""

    roles: Mapping[str, str]
    """Color of each role (system, developer, user, assistant, tool); its name is shown too."""

    inputs: tuple[str, ...]
    """Colors of the values of inputs, used cyclically in the order of declaration."""

    syntax: Mapping[str, str]
    """Color by style name of the editor's lexer."""


def _bundled(name: ThemeName) -> Theme:
    tables = resource_table("themes", "colors.txt")
    roles, syntax = tables[f"{name}.roles"], tables[f"{name}.syntax"]
    colors = dict(tables[name])
    inputs = tuple(colors.pop("inputs").split())
    return Theme(name, **colors, roles=roles, inputs=inputs, syntax=syntax)


LIGHT, DARK = _bundled("light"), _bundled("dark")

_UI_FAMILY = "Inter"
_MONO_FAMILY = "JetBrains Mono"
UI_POINTS = 10.0
_MONO_POINTS = 10.0


_LATER_FACES = ("Inter-Bold", "Inter-Italic", "Inter-Medium", "JetBrainsMono-Bold")
"""Font faces of Markdown, runs and colored text, which the first paint does not need."""


@cache
def _load_fonts() -> None:
    """Register the bundled fonts; without them Qt falls back to the system's."""
    for path in _font_files(later=False):
        QtGui.QFontDatabase.addApplicationFont(str(path))


@cache
def load_other_fonts() -> None:
    """Register the font faces that the first paint does not need."""
    for path in _font_files(later=True):
        QtGui.QFontDatabase.addApplicationFont(str(path))


def _font_files(*, later: bool) -> list[Path]:
    files = sorted(path for path in resource("fonts").iterdir() if path.suffix in (".otf", ".ttf"))
    return [path for path in files if (path.stem in _LATER_FACES) == later]


def ui_font(size: float = UI_POINTS, family: str = "") -> QtGui.QFont:
    """Return the font of the interface, in points; the bundled family if none is given."""
    _load_fonts()
    font = QtGui.QFont([*([family] if family else []), _UI_FAMILY, "sans-serif"])
    font.setPointSizeF(size)
    return font


def mono_font(size: float = _MONO_POINTS, family: str = "") -> QtGui.QFont:
    """Return the font of source text, in points, without ligatures.

    JetBrains Mono otherwise draws `---` as one line.
    """
    _load_fonts()
    font = QtGui.QFont([*([family] if family else []), _MONO_FAMILY, "monospace"])
    font.setPointSizeF(size)
    font.setStyleHint(QtGui.QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    for name in ("calt", "liga", "clig"):
        font.setFeature(QtGui.QFont.Tag(name), 0)
    return font


# Colors and fonts that panes derive from the theme.

# The current theme of the application, and how a widget follows it.

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as Widget
else:
    Widget = object

_DARK_BELOW = 128
"""Lightness of a window's background (0 to 255) below which a palette is dark."""


def theme_in_use() -> Theme:
    """Return the theme of the application's palette; the light one if there is none yet."""
    ground = QtGui.QGuiApplication.palette().color(QtGui.QPalette.ColorRole.Window)
    return DARK if ground.lightness() < _DARK_BELOW else LIGHT


def color_of(color: str) -> str:
    """Return the color of a tone (`muted`, `error`, …) in the current theme, or `#rrggbb`."""
    return color if color.startswith("#") else str(getattr(theme_in_use(), color))


_RECOLOR = QEvent.Type(QEvent.registerEventType())


def recolor_now() -> None:
    """Recolor the registered widgets before they are painted with the new theme."""
    QCoreApplication.sendPostedEvents(None, _RECOLOR.value)


class FollowsTheme(Widget):
    """A mixin for widgets whose colors come neither from the palette nor from the style sheet.

    Qt notifies each widget of a new palette or style; a widget that only paints with
    `theme_in_use()` needs nothing more. Widgets with this mixin store colors in texts, items or
    palettes, which `recolor` updates.
    """

    _colored_in: Theme | None = None

    def follow_theme(self) -> None:
        """Recolor now, and on each change of the application's theme."""
        self._colored_in = theme_in_use()
        self.recolor()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        """Handle Qt's notification of a changed theme."""
        super().changeEvent(event)
        # A widget that was never shown is only notified of a new style sheet.
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.hear_of_theme()

    def hear_of_theme(self) -> None:
        """Schedule a recoloring if the theme has changed."""
        if self._colored_in is not None and theme_in_use() is not self._colored_in:
            self._colored_in = theme_in_use()
            # Later: Qt is iterating over all widgets, and recoloring may delete some of them.
            QCoreApplication.postEvent(self, QEvent(_RECOLOR))

    def customEvent(self, event: QEvent) -> None:
        """Recolor after Qt has notified all widgets."""
        super().customEvent(event)
        if event.type() == _RECOLOR:
            self.follow_theme()


# Whether animations are wanted: the user's setting, or the system's if this Qt version reports it.

_REDUCED = "studioReducedMotion"
"""Property of the application: the user wants less motion."""


def set_motion_reduced(application: QCoreApplication, *, reduced: bool) -> None:
    """Set the user's choice of reduced motion."""
    application.setProperty(_REDUCED, reduced)


def is_motion_reduced() -> bool:
    """Return whether animations should be avoided."""
    application = QCoreApplication.instance()
    if application is None or application.property(_REDUCED):
        return True
    # A hint of Qt versions after 6.11; otherwise the system's setting is unknown. Both objects are
    # kept alive: if the first is deleted, PySide treats the second as deleted, too.
    style = QtGui.QGuiApplication.styleHints()
    hints = style.accessibility()
    wish = getattr(hints, "motionPreference", None)
    return wish is not None and "Reduced" in str(wish())


SOFT_TINT = 0.12
"""Share of a color in the background of text in that color."""

CHANGED_TINT = 0.28
"""Share of a color in the background of changed words, whose text has the main color."""


def blend(color: str, ground: str, share: float) -> str:
    """Return a mix with `share` of `color` over `ground`, as `#rrggbb`."""
    top, under = QtGui.QColor(color), QtGui.QColor(ground)
    mixed = (
        round(a * share + b * (1 - share))
        for a, b in (
            (top.red(), under.red()),
            (top.green(), under.green()),
            (top.blue(), under.blue()),
        )
    )
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def input_color(theme: Theme, number: int | None) -> str:
    """Return the color of the input with a number, cyclically; muted for none."""
    return theme.muted if number is None else theme.inputs[number % len(theme.inputs)]


def role_color(theme: Theme, role: str) -> str:
    """Return the color of a role's name and stripe."""
    return theme.roles.get(role, theme.muted)


def fixed_font(like: QtGui.QFont) -> QtGui.QFont:
    """Return the fixed-pitch font that looks about as large as `like`."""
    return mono_font(max(6.0, like.pointSizeF()))


def small_font(like: QtGui.QFont, least: float = 7.5) -> QtGui.QFont:
    """Return the same font one point smaller, of at least `least` points."""
    font = QtGui.QFont(like)
    font.setPointSizeF(max(least, like.pointSizeF() - 1.0))
    return font


def paint_text(label: QLabel, color: str) -> None:
    """Set a label's color to a tone of the theme (`muted`, `error`, …) or a fixed `#rrggbb`.

    It uses a style sheet: a palette is lost when a label is polished before it gets its parent.
    """
    is_fixed = color.startswith("#")
    sheet = f"QLabel {{ color: {color}; }}" if is_fixed else ""
    if label.styleSheet() != sheet:
        label.setStyleSheet(sheet)
    tone = "" if is_fixed else color
    if (label.property("tone") or "") != tone:
        label.setProperty("tone", tone)
        label.style().unpolish(label)
        label.style().polish(label)


def paint_page(view: QAbstractScrollArea) -> None:
    """Apply the theme's colors to a text view.

    The viewport as well: with an application style sheet, it keeps its initial colors.
    """
    theme, palette, role = theme_in_use(), view.palette(), QtGui.QPalette.ColorRole
    for each in (role.Base, role.Window):
        palette.setColor(each, QtGui.QColor(theme.surface))
    palette.setColor(role.Text, QtGui.QColor(theme.text))
    palette.setColor(role.PlaceholderText, QtGui.QColor(theme.muted))
    view.setPalette(palette)
    view.viewport().setPalette(palette)


# Painting of a rectangle in one color, and of a focus frame.


def fill(painter: QtGui.QPainter, room: QRectF, color: str | QtGui.QColor) -> None:
    """Paint a rectangle, without delaying the first paint of the window.

    `fillRect` would make PySide create the class of gradients with its 169 presets, which takes 1 %
    of a start.
    """
    painter.setBackground(QtGui.QColor(color))
    painter.eraseRect(room)


def paint_focus(painter: QtGui.QPainter, room: QRect) -> None:
    """Paint a thin frame inside the focused part."""
    painter.setPen(QtGui.QPen(QtGui.QColor(theme_in_use().accent), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(room).adjusted(0.5, 0.5, -0.5, -0.5))


# Icons: the bundled Lucide icons, tinted by the palette when they are painted.


@cache
def _names() -> frozenset[str]:
    # Cached: a start creates sixty icons.
    return frozenset(path.stem for path in resource("icons").iterdir() if path.suffix == ".svg")


@cache
def _drawing(name: str) -> str:
    return resource_text("icons", f"{name}.svg")


@cache
def _renderer(name: str, color: str) -> QSvgRenderer:
    from PySide6.QtSvg import QSvgRenderer  # not before the first paint

    svg = _drawing(name).replace("currentColor", color)
    return QSvgRenderer(QByteArray(svg.encode()))


class _Tinted(QtGui.QIconEngine):
    """Paints an icon in the palette's text color, or in a color of its own."""

    def __init__(self, name: str, color: str | None) -> None:
        super().__init__()
        self._name = name
        self._color = color

    def paint(
        self, painter: QtGui.QPainter, rect: QRect, mode: QtGui.QIcon.Mode, state: QtGui.QIcon.State
    ) -> None:
        if _HELD:
            return
        disabled = mode == QtGui.QIcon.Mode.Disabled
        group = QtGui.QPalette.ColorGroup.Disabled if disabled else QtGui.QPalette.ColorGroup.Active
        ink = QtGui.QGuiApplication.palette().color(group, QtGui.QPalette.ColorRole.ButtonText)
        color = ink.name() if disabled or self._color is None else color_of(self._color)
        painter.save()
        painter.setOpacity(painter.opacity() * (ink.alphaF() if disabled else 1.0))
        _renderer(self._name, color).render(painter, QRectF(rect))
        painter.restore()

    def pixmap(
        self, size: QSize, mode: QtGui.QIcon.Mode, state: QtGui.QIcon.State
    ) -> QtGui.QPixmap:
        if size.isEmpty():  # a button without a size, in a layout that is being built
            return QtGui.QPixmap()
        pixmap = QtGui.QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QtGui.QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QtGui.QIconEngine:
        return _Tinted(self._name, self._color)


_HELD: list[bool] = []
"""Not empty while icons are held back."""


def hold_drawings() -> None:
    """Paint no icons until `release_drawings`, so that the first paint is faster.

    Reading a dozen icons takes as long as painting a text of some thousand lines.
    """
    _HELD[:] = [True]


def release_drawings(window: QWidget) -> None:
    """Paint the icons that were held back."""
    if _HELD:
        _HELD.clear()
        for widget in window.findChildren(QWidget):
            if widget.isVisible():
                widget.update()


@cache
def icon(name: str, color: str | None = None) -> QtGui.QIcon:
    """Return a bundled icon.

    Args:
        name: name of the file in `resources/icons`, without `.svg`.
        color: a tone of the theme or `#rrggbb`; None for the palette's text color. All except a
            fixed color follow the theme.

    Raises:
        FileNotFoundError: there is no such icon.
    """
    if name not in _names():
        raise FileNotFoundError(f"there is no icon named {name!r} in resources/icons")
    return QtGui.QIcon(_Tinted(name, color))


def dot(color: str) -> QtGui.QPixmap:
    """Return a dot of eight pixels in a color, for an input."""
    pixmap = QtGui.QPixmap(16, 16)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QtGui.QPainter(pixmap)
    painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QtGui.QColor(color))
    painter.drawEllipse(0, 0, 8, 8)
    painter.end()
    return pixmap
