"""The settings of the spelling: the language of the dictionary, and the person's own words."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from studio.core.spelling import languages
from studio.viewmodels.app.settings import SettingsStore


class SpellingLanguage(QComboBox):
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
