"""The pages of the settings that are about looks, and about the editor."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from studio.core.spelling import languages
from studio.ui.base.language import LANGUAGES
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.dialogs.settings.page import SettingsPage
from studio.ui.parts.boxes import ComboBox, DoubleSpinBox
from studio.viewmodels.app.settings import SettingsStore


class SpellingLanguage(ComboBox):
    """Off, or one of the dictionaries that there are."""

    def __init__(self, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        chosen = store.value.spelling
        self.addItem(self.tr("Off"), "")
        found = languages()
        for code in found if not chosen or chosen in found else (*found, chosen):
            locale = QLocale(code)
            self.addItem(f"{locale.nativeLanguageName() or code} ({code})", code)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.activated.connect(
            lambda: store.set(replace(store.value, spelling=self.currentData() or ""))
        )


class OwnWords(QLineEdit):
    """Words that are none of the dictionary, with spaces between them."""

    def __init__(self, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.setText(" ".join(store.value.own_words))
        self.setPlaceholderText(self.tr("None yet"))
        self.editingFinished.connect(self._keep)

    def _keep(self) -> None:
        if not self.isModified():
            return  # a word learned meanwhile in the editor stays
        words = tuple(dict.fromkeys(self.text().replace(",", " ").split()))
        self._store.set(replace(self._store.value, own_words=words))
        self.setText(" ".join(words))


_THEMES = (
    ("system", QT_TRANSLATE_NOOP("Settings", "As the system")),
    ("light", QT_TRANSLATE_NOOP("Settings", "Light")),
    ("dark", QT_TRANSLATE_NOOP("Settings", "Dark")),
)


class AppearancePage(SettingsPage):
    """Theme, language, and the interface's text."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.set_title(self.tr("Appearance"))
        value = store.value
        self.theme = ComboBox()
        for key, name in _THEMES:
            self.theme.addItem(QCoreApplication.translate("Settings", name), key)
        self.theme.setCurrentIndex(self.theme.findData(value.theme))
        self.theme.activated.connect(lambda: self._set(theme=self.theme.currentData()))
        self.add(self.tr("Theme"), self.tr("Light, dark, or as the desktop says."), self.theme)
        self.language = ComboBox()
        self.language.addItem(self.tr("As the system"), "")
        for code, name in LANGUAGES.items():
            self.language.addItem(name, code)
        self.language.setCurrentIndex(max(0, self.language.findData(value.language)))
        self.language.activated.connect(lambda: self._set(language=self.language.currentData()))
        self.add(self.tr("Language"), self.tr("Takes effect after a restart."), self.language)
        self.interface_font = _families(value.interface_font, fixed=False)
        self.interface_font.activated.connect(
            lambda: self._set(interface_font=self.interface_font.currentData() or "")
        )
        self.add(self.tr("Font of the interface"), "", self.interface_font)
        self.interface_size = _points(value.interface_font_size, 8, 20)
        self.interface_size.valueChanged.connect(
            lambda size: self._set(interface_font_size=float(size))
        )
        self.add(self.tr("Size of the interface's text"), "", self.interface_size)
        self.less_motion = QCheckBox(self.tr("Turn off animations"))
        self.less_motion.setChecked(value.reduce_motion)
        self.less_motion.toggled.connect(lambda on: self._set(reduce_motion=on))
        self.add(self.tr("Motion"), "", self.less_motion)
        self.notify = QCheckBox(self.tr("Notify the desktop when an experiment has ended"))
        self.notify.setChecked(value.notify_ended)
        self.notify.toggled.connect(lambda on: self._set(notify_ended=on))
        self.add(self.tr("Desktop"), self.tr("Only while the window is not in front."), self.notify)

    def _set(self, **changes: object) -> None:
        self._store.set(replace(self._store.value, **changes))  # type: ignore[arg-type]


class EditorSettingsPage(SettingsPage):
    """How texts are shown and checked, and what a start opens."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.set_title(self.tr("Editor"))
        value = store.value
        self.editor_font = _families(value.editor_font, fixed=True)
        self.editor_font.activated.connect(
            lambda: self._set(editor_font=self.editor_font.currentData() or "")
        )
        self.add(self.tr("Font of the editor"), self.tr("Fonts of one width."), self.editor_font)
        self.text_size = _points(value.editor_font_size, 6, 40)
        self.text_size.valueChanged.connect(lambda size: self._set(editor_font_size=float(size)))
        self.add(
            self.tr("Text size"), self.tr("Also Ctrl with the wheel, or Ctrl++."), self.text_size
        )
        self.wrap = QCheckBox(self.tr("Wrap long lines"))
        self.wrap.setChecked(value.word_wrap)
        self.wrap.toggled.connect(lambda on: self._set(word_wrap=on))
        self.add(self.tr("Word wrap"), "", self.wrap)
        self.whitespace = QCheckBox(self.tr("Spaces and tabs are drawn"))
        self.whitespace.setChecked(value.show_whitespace)
        self.whitespace.toggled.connect(lambda on: self._set(show_whitespace=on))
        self.add(self.tr("Whitespace"), "", self.whitespace)
        self.spelling = SpellingLanguage(store)
        self.add(
            self.tr("Spelling"),
            self.tr("Prose is checked on this machine, with this language's dictionary."),
            self.spelling,
        )
        self.own_words = OwnWords(store)
        self.add(
            self.tr("Own words"),
            self.tr("Words that the spelling takes as right, with spaces between them."),
            self.own_words,
        )
        self.restore = QCheckBox(self.tr("The files of the last time are opened again"))
        self.restore.setChecked(value.restore_session)
        self.restore.toggled.connect(lambda on: self._set(restore_session=on))
        self.add(self.tr("Start"), "", self.restore)
        self.hot_exit = QCheckBox(self.tr("Unsaved texts come back at the next start"))
        self.hot_exit.setChecked(value.hot_exit)
        self.hot_exit.toggled.connect(lambda on: self._set(hot_exit=on))
        self.add(
            self.tr("Quit"),
            self.tr("Otherwise quitting asks once what becomes of them."),
            self.hot_exit,
        )

    def _set(self, **changes: object) -> None:
        self._store.set(replace(self._store.value, **changes))  # type: ignore[arg-type]


def _families(chosen: str, *, fixed: bool) -> ComboBox:
    """A choice of the families that there are, the bundled one first."""
    combo = ComboBox()
    combo.setMaxVisibleItems(16)
    combo.addItem(QCoreApplication.translate("Settings", "Default"), "")
    for family in QFontDatabase.families():
        if QFontDatabase.isPrivateFamily(family) or not QFontDatabase.isSmoothlyScalable(family):
            continue
        if not fixed or QFontDatabase.isFixedPitch(family):
            combo.addItem(family, family)
    combo.setCurrentIndex(max(0, combo.findData(chosen)))
    return combo


def _points(value: float, least: int, most: int) -> DoubleSpinBox:
    spin = DoubleSpinBox()
    spin.setRange(least, most)
    spin.setDecimals(0)
    spin.setSuffix(QCoreApplication.translate("Settings", " pt"))
    spin.setValue(value)
    return spin
