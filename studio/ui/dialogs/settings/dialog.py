"""Settings: every change is applied at once and written to one readable file.

It also contains the pages for appearance and for the editor.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from PySide6 import QtWidgets
from PySide6.QtCore import QLocale, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase

from studio.application.words import tr
from studio.core.spelling import languages
from studio.core.tools.trust.store import TrustStore
from studio.ui.base.services import LANGUAGES, Services
from studio.ui.dialogs.settings.page import KeysPage, SettingsPage
from studio.ui.parts import kit
from studio.ui.parts.fields import Choices, FieldForm, form_fields
from studio.ui.style.theme import icon
from studio.viewmodels.app.settings import SettingsStore


class OwnWords(QtWidgets.QLineEdit):
    """Field for additional words of the spelling check, separated by spaces."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.setText(" ".join(store.value.own_words))
        self.setPlaceholderText(tr("None yet"))
        self.editingFinished.connect(self._keep)

    def _keep(self) -> None:
        if not self.isModified():
            return  # a word that was added in the editor meanwhile stays
        words = tuple(dict.fromkeys(self.text().replace(",", " ").split()))
        self._store.set(replace(self._store.value, own_words=words))
        self.setText(" ".join(words))


class FieldsPage(SettingsPage):
    """A page of settings with one field each; changes are applied at once."""

    def __init__(
        self,
        title: str,
        store: SettingsStore,
        section: str,
        choices: Mapping[str, Choices],
        own: Mapping[str, QtWidgets.QWidget] = MappingProxyType({}),
    ) -> None:
        super().__init__(title)
        self._store = store
        self.form = FieldForm(section, own=own, choices=choices, shown=store.value)
        for key, widget in self.form.placed.items():
            self.add(self.form.fields[key].label, self.form.fields[key].about, widget)
        self.form.changed.connect(self._keep)

    def _keep(self, key: str) -> None:
        self._store.set(self.form.written_to(self._store.value, key))


def _page(title: str, section: str, widget: QtWidgets.QWidget | None = None) -> SettingsPage:
    """Return a page of texts, with a wide field if it has one row."""
    page = SettingsPage(title)
    for row in form_fields(section):
        page.add(row.label, row.about, widget, wide=True)
    return page


def _dictionaries(chosen: str) -> Choices:
    """Return the languages of the spelling check by name, including the selected one."""
    found = languages()
    codes = found if not chosen or chosen in found else (*found, chosen)
    return [(code, f"{QLocale(code).nativeLanguageName() or code} ({code})") for code in codes]


def _families(*, is_fixed: bool) -> Choices:
    """Return the available font families."""
    return [
        (family, family)
        for family in QFontDatabase.families()
        if not QFontDatabase.isPrivateFamily(family)
        and QFontDatabase.isSmoothlyScalable(family)
        and (not is_fixed or QFontDatabase.isFixedPitch(family))
    ]


class TrustList(QtWidgets.QWidget):
    """List of the folders whose tools may run and whose variables may be read."""

    forgotten = Signal(Path)

    def __init__(self, store: TrustStore) -> None:
        super().__init__()
        self._store = store
        self.list = kit.named(QtWidgets.QListWidget(), tr("Trusted folders"))
        self.forget = kit.push_button(tr("Stop trusting"), self._forget, takes_enter=False)
        row = kit.row_of(self.forget, 1)
        kit.column_of(self.list, row, on=self, margins=0)
        self._fill()
        self.list.currentRowChanged.connect(lambda row: self.forget.setEnabled(row >= 0))

    def _fill(self) -> None:
        self.list.clear()
        self.list.addItems(sorted(str(folder) for folder in self._store.current.folders))
        self.forget.setEnabled(False)

    def _forget(self) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        folder = Path(item.text())
        self._store.forget(folder)
        self._fill()
        self.forgotten.emit(folder)


_PICTURES = ("palette", "pencil", "keyboard", "plug", "shield-check", "eye-off", "database")


class SettingsDialog(kit.ClosingDialog):
    """Pages of settings with a search field; changes need no confirmation."""

    request_connections = Signal()
    trust_forgotten = Signal(Path)

    def __init__(self, services: Services, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, tr("Settings"), (820, 600))
        self._services = services
        self._store = services.settings
        self.search = kit.search_line(tr("Search settings"))
        self.sections = kit.named(QtWidgets.QListWidget(), tr("Pages of the settings"))
        self.sections.setIconSize(QSize(16, 16))
        self.sections.setFixedWidth(180)
        self._pages = QtWidgets.QStackedWidget()
        self._nothing = kit.toned_label("muted", tr("No setting matches."))
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        keys = KeysPage(self._store)
        self.keys_page = keys
        self.filter, self.list, self.keys, self.note = keys.filter, keys.list, keys.keys, keys.note
        self.apply_keys, self.clear_keys = keys.apply_keys, keys.clear_keys
        self.reset_keys = keys.reset_keys
        value = self._store.value
        self.looks = FieldsPage(
            tr("Appearance"),
            self._store,
            "appearance",
            {"language": tuple(LANGUAGES.items()), "interface_font": _families(is_fixed=False)},
        )
        self.own_words = OwnWords(self._store)
        self.editor = FieldsPage(
            tr("Editor"),
            self._store,
            "editor",
            {"editor_font": _families(is_fixed=True), "spelling": _dictionaries(value.spelling)},
            {"own_words": self.own_words},
        )
        self._all: list[SettingsPage | KeysPage] = [
            self.looks,
            self.editor,
            keys,
            self._connections(),
            self._trust(),
            _page(tr("Privacy"), "privacy"),
            self._storage(),
        ]
        self._lay_out()
        self.search.textChanged.connect(self._search)
        self.sections.currentRowChanged.connect(self._pages.setCurrentIndex)
        self.sections.setCurrentRow(0)
        self.search.setFocus()

    def _lay_out(self) -> None:
        for page, picture in zip(self._all, _PICTURES, strict=True):
            item = QtWidgets.QListWidgetItem(icon(picture), page.title)
            item.setSizeHint(QSize(0, 32))
            self.sections.addItem(item)
            self._pages.addWidget(page)
        self._pages.addWidget(self._nothing)
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Close)
        buttons.button(QtWidgets.QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        middle = kit.row_of(self.sections, (self._pages, 1), spacing=8)
        kit.column_of(self.search, (middle, 1), buttons, on=self, margins=12, spacing=12)

    def show_shortcuts(self) -> None:
        """Show the page of shortcuts."""
        self.sections.setCurrentRow(self._all.index(self.keys_page))
        self.filter.setFocus()

    def show_storage(self) -> None:
        """Show the page of stored data."""
        self.sections.setCurrentRow(len(self._all) - 1)

    def _search(self, query: str) -> None:
        """Show only the pages and rows that contain the words."""
        first = -1
        for index, page in enumerate(self._all):
            hits = page.search(query)
            if isinstance(page, KeysPage):
                page.filter.setText(query)
            self.sections.item(index).setHidden(not hits)
            if hits and first < 0:
                first = index
        current = self.sections.currentRow()
        if first < 0:
            self._pages.setCurrentWidget(self._nothing)
        elif current < 0 or self.sections.item(current).isHidden():
            self.sections.setCurrentRow(first)
            self._pages.setCurrentIndex(first)
        else:
            self._pages.setCurrentIndex(current)

    # -- pages ----------------------------------------------------------------------------------

    def _connections(self) -> SettingsPage:
        button = QtWidgets.QPushButton(icon("plug"), tr("Open Connections…"), autoDefault=False)
        button.clicked.connect(self._go_to_connections)
        return FieldsPage(tr("Connections"), self._store, "models", {}, {"open": button})

    def _trust(self) -> SettingsPage:
        self.trusted = TrustList(TrustStore(self._services.paths.data / "trust.json"))
        self.trusted.forgotten.connect(self.trust_forgotten)
        return _page(tr("Trust"), "trust", self.trusted)

    def _storage(self) -> SettingsPage:
        page = SettingsPage(tr("Storage"))
        for row in form_fields("storage"):
            folder: Path = getattr(self._services.paths, row.key)
            button = self._folder_button(row.label, folder)
            page.add(row.label, f"{row.about}\n{folder}", button)
        return page

    def _folder_button(self, name: str, folder: Path) -> QtWidgets.QPushButton:
        button = QtWidgets.QPushButton(icon("folder-open"), tr("Open folder"), autoDefault=False)
        button.setAccessibleName(tr("Open folder: {name}").format(name=name))
        button.clicked.connect(lambda: _open_folder(folder))
        return button

    def _go_to_connections(self) -> None:
        self.accept()
        self.request_connections.emit()


def _open_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
