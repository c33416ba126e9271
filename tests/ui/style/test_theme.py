from __future__ import annotations

import gc
import re

import pytest
from PySide6.QtCore import QEvent, QFile, QFileInfo, QObject, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QFontMetrics,
    QIcon,
    QPalette,
    QRawFont,
)
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.core.paths import resource
from studio.ui.base.menus import ACTIONS
from studio.ui.style.application import SHEET_ROLES, Fonts, apply_theme, stylesheet, theme_for
from studio.ui.style.theme import (
    CHANGED_TINT,
    DARK,
    LIGHT,
    SOFT_TINT,
    Theme,
    blend,
    icon,
    load_other_fonts,
    mono_font,
    paint_text,
    ui_font,
)
from tests.support.themes import wear

AA = 4.5
THEMES = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


def luminance(color: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio, WCAG 2.2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@THEMES
def test_every_text_colour_is_readable_where_it_stands(theme: Theme) -> None:
    backgrounds = (theme.window, theme.surface, theme.raised)
    pairs = [(ink, back) for ink in (theme.text, theme.muted) for back in backgrounds]
    pairs += [(theme.text, theme.selection), (theme.on_accent, theme.accent)]
    pairs += [
        (ink, back) for ink in theme.syntax.values() for back in (theme.surface, theme.current_line)
    ]
    pairs += [(ink, theme.surface) for ink in (*theme.roles.values(), *theme.inputs)]
    pairs += [
        (ink, back)
        for ink in (theme.error, theme.warning, theme.hint, theme.success, theme.accent)
        for back in (theme.surface, theme.window)
    ]
    poor = {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < AA}
    assert poor == {}


@THEMES
def test_words_are_readable_on_the_tints_behind_them(theme: Theme) -> None:
    inks = (
        *theme.roles.values(),
        *theme.inputs,
        theme.error,
        theme.warning,
        theme.success,
        theme.accent,
    )
    pairs = [(ink, blend(ink, theme.surface, SOFT_TINT)) for ink in inks]
    pairs += [
        (color, blend(color, theme.surface, 0.16))  # pills, values that warn
        for color in (theme.accent, theme.warning)
    ]
    pairs += [
        (theme.text, blend(color, theme.surface, share))
        for color in (theme.success, theme.error, theme.warning, theme.accent)
        for share in (0.2, CHANGED_TINT)
    ]
    pairs += [(color, theme.raised) for color in inks]
    poor = {pair: round(contrast(*pair), 2) for pair in pairs if contrast(*pair) < AA}
    assert poor == {}


@THEMES
def test_marks_and_focus_rings_are_seen_where_they_stand(theme: Theme) -> None:
    """WCAG 1.4.11: 3 to 1 for what is no text."""
    marks = (theme.accent, theme.muted, theme.error, theme.warning, theme.success, theme.hint)
    grounds = (theme.window, theme.surface, theme.raised, theme.current_line, theme.selection)
    poor = [(mark, back) for mark in marks for back in grounds if contrast(mark, back) < 3]
    assert poor == []


def test_both_themes_colour_the_same_things() -> None:
    assert LIGHT.syntax.keys() == DARK.syntax.keys()
    assert LIGHT.roles.keys() == DARK.roles.keys()
    assert len(LIGHT.inputs) == len(DARK.inputs)


@THEMES
def test_palette_is_said_for_inactive_windows_too(qapp: QApplication, theme: Theme) -> None:
    apply_theme(qapp, theme)
    group = QPalette.ColorGroup
    for role in (QPalette.ColorRole.Highlight, QPalette.ColorRole.HighlightedText):
        active = qapp.palette().color(group.Active, role)
        assert qapp.palette().color(group.Inactive, role) == active
    disabled = qapp.palette().color(group.Disabled, QPalette.ColorRole.Text)
    assert disabled != qapp.palette().color(group.Active, QPalette.ColorRole.Text)
    assert qapp.style().objectName() == "fusion" or qapp.styleSheet()


@THEMES
def test_style_sheet_names_only_files_that_exist(qapp: QApplication, theme: Theme) -> None:
    wear(theme)
    files = re.findall(r'url\("([^"]+)"\)', stylesheet(10.0))
    assert files
    assert [name for name in files if not QFile.exists(name)] == []
    assert {QFileInfo(name).dir().dirName() for name in files} == {theme.name}
    assert "$" not in stylesheet(10.0)


def test_style_sheet_names_no_color_and_each_role_once() -> None:
    """Else another theme would need another sheet, which every widget is asked for."""
    assert re.findall(r"#[0-9a-f]{3,8}\b(?=[^{]*[;}])", stylesheet(10.0)) == []
    assert len(set(SHEET_ROLES.values())) == len(SHEET_ROLES)


@THEMES
def test_each_name_of_a_color_is_that_color_in_a_style_sheet(qtbot: QtBot, theme: Theme) -> None:
    wear(theme)
    for name, role in SHEET_ROLES.items():
        label = QLabel(" ")
        qtbot.addWidget(label)
        label.setStyleSheet(f"background: palette({role})")
        label.resize(8, 8)
        assert label.grab().toImage().pixelColor(4, 4).name() == getattr(theme, name), name


def test_another_theme_on_a_window_looks_as_a_window_made_in_it(qtbot: QtBot) -> None:
    def window() -> QWidget:
        made = QWidget()
        box = QVBoxLayout(made)
        checked, muted = QCheckBox("checked", made), QLabel("words", made)
        checked.setChecked(True)
        paint_text(muted, "warning")
        for each in (checked, muted, QPushButton("press"), QLineEdit("text"), QProgressBar()):
            box.addWidget(each)
        made.resize(300, 240)
        qtbot.addWidget(made)
        return made

    wear(LIGHT)
    shown, hidden = window(), window()
    with qtbot.waitExposed(shown):
        shown.show()
    shown.setFocus()  # no part of it has the ring of the one that is typed to
    for each in (shown, hidden):
        each.grab()
    wear(DARK)
    fresh = window()
    for each in (shown, hidden):
        assert each.grab().toImage() == fresh.grab().toImage()


def test_what_is_hidden_takes_the_colors_by_itself(qapp: QApplication, qtbot: QtBot) -> None:
    wear(LIGHT)
    label = QLabel("words")
    qtbot.addWidget(label)
    paint_text(label, "error")
    label.ensurePolished()
    apply_theme(qapp, DARK)
    ink = label.foregroundRole()
    qtbot.waitUntil(lambda: label.palette().color(ink).name() == DARK.error)


def test_fonts_are_the_bundled_ones_without_ligatures(qapp: QApplication) -> None:
    assert QFontInfo(ui_font()).family() == "Inter"
    assert QFontInfo(mono_font()).family() == "JetBrains Mono"
    assert "JetBrains Mono" in QFontDatabase.families()
    metrics = QFontMetrics(mono_font())
    assert metrics.horizontalAdvance("iiii") == metrics.horizontalAdvance("WWWW")
    font = mono_font()
    off = {bytes(tag.toString().data()): font.featureValue(tag) for tag in font.featureTags()}
    assert off == {b"calt": 0, b"liga": 0, b"clig": 0}


def test_bold_words_have_a_face_of_their_own(qapp: QApplication) -> None:
    """Qt smears the next lighter face where a weight has none."""
    load_other_fonts()
    weight = QFont.Weight
    for points in (ui_font(), mono_font()):
        font = QFont(points)
        font.setBold(True)
        assert QRawFont.fromFont(font).weight() == weight.Bold
    for wanted in (weight.Normal, weight.Medium, weight.DemiBold):
        font = ui_font()
        font.setWeight(wanted)
        assert QRawFont.fromFont(font).weight() == wanted


def test_the_shortest_question_has_room_for_a_desktops_title(
    qapp: QApplication, qtbot: QtBot
) -> None:
    apply_theme(qapp, LIGHT)
    box = QMessageBox(QMessageBox.Icon.NoIcon, "Nicht gespeicherte Änderungen", "Save?")
    dialog = QInputDialog()
    dialog.setLabelText("Name")
    for each in (box, dialog):
        qtbot.addWidget(each)
        each.show()
        title = each.fontMetrics().horizontalAdvance(box.windowTitle())
        assert each.width() >= title + 140  # a mark at the left, and three buttons


def test_what_stands_in_a_row_is_of_one_height(qtbot: QtBot) -> None:
    wear(LIGHT)
    row = QWidget()
    box = QHBoxLayout(row)
    choice, typed = QComboBox(), QComboBox()
    choice.addItem("one")
    typed.setEditable(True)
    parts = (QPushButton("press"), QLineEdit("text"), choice, typed, QSpinBox())
    for each in parts:
        box.addWidget(each)
    qtbot.addWidget(row)
    row.show()
    assert {each.height() for each in parts} == {28}
    for each in parts:
        each.setFocus()
        assert each.height() == 28


def test_theme_choice(qapp: QApplication) -> None:
    assert theme_for("light") is LIGHT
    assert theme_for("dark") is DARK
    assert theme_for("system") in (LIGHT, DARK)


def ink(drawn: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal) -> set[str]:
    """The colours of the opaque pixels of an icon."""
    image = drawn.pixmap(QSize(24, 24), mode).toImage()
    pixels = (image.pixelColor(x, y) for x in range(24) for y in range(24))
    return {pixel.name() for pixel in pixels if pixel.alpha() == 255}


def test_icons_follow_the_palette_and_survive_collection(qapp: QApplication) -> None:
    apply_theme(qapp, LIGHT)
    copy = QIcon(icon("square"))
    gc.collect()
    assert ink(copy) == {LIGHT.text}
    apply_theme(qapp, DARK)
    assert ink(copy) == {DARK.text}
    assert ink(icon("square", "#ff0000")) == {"#ff0000"}
    assert ink(copy, QIcon.Mode.Disabled) == set()  # faint: no pixel is opaque
    assert QColor(DARK.text).isValid()


class StyleChanges(QObject):
    """Counts how often widgets were told of another style."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched.isWidgetType():
            self.count += event.type() == QEvent.Type.StyleChange
        return False


def nested(depth: int) -> tuple[QWidget, QLabel]:
    """A label in widgets in widgets."""
    outer = inner = QWidget()
    for _ in range(depth):
        box = QVBoxLayout(inner)
        inner = QWidget()
        box.addWidget(inner)
    label = QLabel("text", inner)
    return outer, label


def test_a_change_of_the_theme_asks_each_widget_a_few_times(
    qapp: QApplication, qtbot: QtBot
) -> None:
    """And not once for each widget around it: that took a second in a full window."""
    apply_theme(qapp, LIGHT)
    outer, _ = nested(depth=20)
    qtbot.addWidget(outer)
    outer.show()
    changes = StyleChanges()
    qapp.installEventFilter(changes)
    apply_theme(qapp, DARK)
    first = changes.count
    apply_theme(qapp, DARK)
    qapp.removeEventFilter(changes)
    assert first <= 4 * len(qapp.allWidgets())
    assert changes.count == first, "the same theme again changes nothing"


def test_own_fonts_survive_another_theme_and_another_size(qapp: QApplication, qtbot: QtBot) -> None:
    apply_theme(qapp, LIGHT)
    outer, label = nested(depth=2)
    plain, heading = QLabel("plain", outer), QLabel("heading", outer)
    heading.setProperty("scale", "section")
    qtbot.addWidget(outer)
    own = mono_font(17)
    own.setBold(True)
    label.setFont(own)
    outer.show()
    for theme, size in ((DARK, 10.0), (LIGHT, 16.0), (LIGHT, 10.0)):
        apply_theme(qapp, theme, Fonts(points=size))
        assert (label.font().pointSizeF(), label.font().bold()) == (17.0, True)
        assert label.font().families() == own.families()
        assert plain.font().pointSizeF() == size
        assert heading.font().pointSizeF() == pytest.approx(1.2 * size, abs=0.5)


def test_every_action_has_its_drawing() -> None:
    for spec in ACTIONS:
        if spec.icon:
            assert resource("icons", f"{spec.icon}.svg").is_file(), spec.id


def test_an_unknown_icon_is_said() -> None:
    with pytest.raises(FileNotFoundError, match="no icon named 'nothing'"):
        icon("nothing")


def test_licences_ship_with_fonts_and_icons() -> None:
    assert "ISC" in resource("icons", "LICENSE.txt").read_text(encoding="utf-8")
    for name in ("Inter", "JetBrainsMono"):
        text = resource("fonts", f"{name}-LICENSE.txt").read_text(encoding="utf-8")
        assert "SIL OPEN FONT LICENSE" in text


@THEMES
@pytest.mark.parametrize("kind", [QToolButton, QPushButton])
def test_the_main_button_keeps_its_color_under_the_mouse(
    theme: Theme, kind: type[QToolButton] | type[QPushButton], qtbot: QtBot
) -> None:
    wear(theme)
    button = kind()
    qtbot.addWidget(button)
    button.setProperty("primary", True)
    button.resize(80, 30)
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    button.ensurePolished()
    assert button.grab().toImage().pixelColor(40, 15).name() == theme.accent
