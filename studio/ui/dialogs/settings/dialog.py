"""Settings: every change holds at once, and is written to one readable file.

The pages of the settings that are about looks, and about the editor.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QLocale, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFontDatabase
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from studio.application.words import marked, tr
from studio.core.spelling import languages
from studio.core.tools.trust.store import TrustStore
from studio.ui.base.language import LANGUAGES
from studio.ui.base.services import Services
from studio.ui.dialogs.settings.page import KeysPage, SettingsPage
from studio.ui.parts.fields import ComboBox, DoubleSpinBox
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.icons import icon
from studio.viewmodels.app.settings import SettingsStore


class SpellingLanguage(ComboBox):
    """Off, or one of the dictionaries that there are."""

    def __init__(self, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        chosen = store.value.spelling
        self.addItem(tr("Off"), "")
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
        self.setPlaceholderText(tr("None yet"))
        self.editingFinished.connect(self._keep)

    def _keep(self) -> None:
        if not self.isModified():
            return  # a word learned meanwhile in the editor stays
        words = tuple(dict.fromkeys(self.text().replace(",", " ").split()))
        self._store.set(replace(self._store.value, own_words=words))
        self.setText(" ".join(words))


_THEMES = (
    ("system", marked("As the system")),
    ("light", marked("Light")),
    ("dark", marked("Dark")),
)


class AppearancePage(SettingsPage):
    """Theme, language, and the interface's text."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.set_title(tr("Appearance"))
        value = store.value
        self.theme = ComboBox()
        for key, name in _THEMES:
            self.theme.addItem(tr(name), key)
        self.theme.setCurrentIndex(self.theme.findData(value.theme))
        self.theme.activated.connect(lambda: self._set(theme=self.theme.currentData()))
        self.add(tr("Theme"), tr("Light, dark, or as the desktop says."), self.theme)
        self.language = ComboBox()
        self.language.addItem(tr("As the system"), "")
        for code, name in LANGUAGES.items():
            self.language.addItem(name, code)
        self.language.setCurrentIndex(max(0, self.language.findData(value.language)))
        self.language.activated.connect(lambda: self._set(language=self.language.currentData()))
        self.add(tr("Language"), tr("Takes effect after a restart."), self.language)
        self.interface_font = _families(value.interface_font, fixed=False)
        self.interface_font.activated.connect(
            lambda: self._set(interface_font=self.interface_font.currentData() or "")
        )
        self.add(tr("Font of the interface"), "", self.interface_font)
        self.interface_size = _points(value.interface_font_size, 8, 20)
        self.interface_size.valueChanged.connect(
            lambda size: self._set(interface_font_size=float(size))
        )
        self.add(tr("Size of the interface's text"), "", self.interface_size)
        self.less_motion = QCheckBox(tr("Turn off animations"))
        self.less_motion.setChecked(value.reduce_motion)
        self.less_motion.toggled.connect(lambda on: self._set(reduce_motion=on))
        self.add(tr("Motion"), "", self.less_motion)
        self.notify = QCheckBox(tr("Notify the desktop when an experiment has ended"))
        self.notify.setChecked(value.notify_ended)
        self.notify.toggled.connect(lambda on: self._set(notify_ended=on))
        self.add(tr("Desktop"), tr("Only while the window is not in front."), self.notify)

    def _set(self, **changes: object) -> None:
        self._store.set(replace(self._store.value, **changes))  # type: ignore[arg-type]


class EditorSettingsPage(SettingsPage):
    """Settings of the editor, its checks, and the start."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.set_title(tr("Editor"))
        value = store.value
        self.editor_font = _families(value.editor_font, fixed=True)
        self.editor_font.activated.connect(
            lambda: self._set(editor_font=self.editor_font.currentData() or "")
        )
        self.add(tr("Font of the editor"), tr("Fonts of one width."), self.editor_font)
        self.text_size = _points(value.editor_font_size, 6, 40)
        self.text_size.valueChanged.connect(lambda size: self._set(editor_font_size=float(size)))
        self.add(tr("Text size"), tr("Also Ctrl with the wheel, or Ctrl++."), self.text_size)
        self.wrap = QCheckBox(tr("Wrap long lines"))
        self.wrap.setChecked(value.word_wrap)
        self.wrap.toggled.connect(lambda on: self._set(word_wrap=on))
        self.add(tr("Word wrap"), "", self.wrap)
        self.whitespace = QCheckBox(tr("Spaces and tabs are drawn"))
        self.whitespace.setChecked(value.show_whitespace)
        self.whitespace.toggled.connect(lambda on: self._set(show_whitespace=on))
        self.add(tr("Whitespace"), "", self.whitespace)
        self.spelling = SpellingLanguage(store)
        self.add(
            tr("Spelling"),
            tr("Prose is checked on this machine, with this language's dictionary."),
            self.spelling,
        )
        self.own_words = OwnWords(store)
        self.add(
            tr("Own words"),
            tr("Words that the spelling takes as right, with spaces between them."),
            self.own_words,
        )
        self.restore = QCheckBox(tr("The files of the last time are opened again"))
        self.restore.setChecked(value.restore_session)
        self.restore.toggled.connect(lambda on: self._set(restore_session=on))
        self.add(tr("Start"), "", self.restore)
        self.hot_exit = QCheckBox(tr("Unsaved texts come back at the next start"))
        self.hot_exit.setChecked(value.hot_exit)
        self.hot_exit.toggled.connect(lambda on: self._set(hot_exit=on))
        self.add(
            tr("Quit"),
            tr("Otherwise quitting asks once what becomes of them."),
            self.hot_exit,
        )

    def _set(self, **changes: object) -> None:
        self._store.set(replace(self._store.value, **changes))  # type: ignore[arg-type]


def _families(chosen: str, *, fixed: bool) -> ComboBox:
    """A choice of the families that there are, the bundled one first."""
    combo = ComboBox()
    combo.setMaxVisibleItems(16)
    combo.addItem(tr("Default"), "")
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
    spin.setSuffix(tr(" pt"))
    spin.setValue(value)
    return spin


class TrustList(QWidget):
    """Folders whose tools may run and whose variables may be read."""

    forgotten = Signal(Path)

    def __init__(self, store: TrustStore) -> None:
        super().__init__()
        self._store = store
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Trusted folders"))
        self.forget = QPushButton(tr("Stop trusting"), autoDefault=False)
        self.forget.clicked.connect(self._forget)
        row = row_of(self.forget, 1)
        column_of(self.list, row, on=self, margins=0)
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


class SettingsDialog(QDialog):
    """A search field over pages; there is nothing to confirm."""

    request_connections = Signal()
    trust_forgotten = Signal(Path)

    def __init__(self, services: Services, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Settings"))
        self.resize(820, 600)
        self._services = services
        self._store = services.settings
        self.search = QLineEdit(placeholderText=tr("Search settings"), clearButtonEnabled=True)
        self.search.setAccessibleName(tr("Search settings"))
        self.sections = QListWidget()
        self.sections.setAccessibleName(tr("Pages of the settings"))
        self.sections.setIconSize(QSize(16, 16))
        self.sections.setFixedWidth(180)
        self._pages = QStackedWidget()
        self._nothing = QLabel(tr("No setting matches."))
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._nothing.setProperty("tone", "muted")
        keys = KeysPage(self._store)
        self.keys_page = keys
        self.filter, self.list, self.keys, self.note = keys.filter, keys.list, keys.keys, keys.note
        self.apply_keys, self.clear_keys = keys.apply_keys, keys.clear_keys
        self.reset_keys = keys.reset_keys
        self.looks = AppearancePage(self._store)
        self.editor = EditorSettingsPage(self._store)
        self._all: list[SettingsPage | KeysPage] = [
            self.looks,
            self.editor,
            keys,
            self._connections(),
            self._trust(),
            self._privacy(),
            self._storage(),
        ]
        self._lay_out()
        self.search.textChanged.connect(self._search)
        self.sections.currentRowChanged.connect(self._pages.setCurrentIndex)
        self.sections.setCurrentRow(0)
        self.search.setFocus()

    def _lay_out(self) -> None:
        for page, picture in zip(self._all, _PICTURES, strict=True):
            item = QListWidgetItem(icon(picture), page.title)
            item.setSizeHint(QSize(0, 32))
            self.sections.addItem(item)
            self._pages.addWidget(page)
        self._pages.addWidget(self._nothing)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        buttons.rejected.connect(self.reject)
        middle = row_of(self.sections, (self._pages, 1), spacing=8)
        column_of(self.search, (middle, 1), buttons, on=self, margins=12, spacing=12)

    def show_shortcuts(self) -> None:
        """Begin at the keys."""
        self.sections.setCurrentRow(self._all.index(self.keys_page))
        self.filter.setFocus()

    def show_storage(self) -> None:
        """Begin at what is stored where."""
        self.sections.setCurrentRow(len(self._all) - 1)

    def _search(self, query: str) -> None:
        """Leave the pages and rows that hold the words."""
        first = -1
        for index, page in enumerate(self._all):
            hits = page.search(query)
            if isinstance(page, KeysPage):
                page.filter.setText(query)
            item = self.sections.item(index)
            item.setHidden(not hits)
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
        page = SettingsPage(tr("Connections"))
        button = QPushButton(icon("plug"), tr("Open Connections…"), autoDefault=False)
        button.clicked.connect(self._go_to_connections)
        page.add(
            tr("Where models answer"),
            tr(
                "Providers, servers of your own, and the small model that comes with the studio. "
                "Keys are kept in the system's key store, in variables, or for the session only."
            ),
            button,
        )
        return page

    def _trust(self) -> SettingsPage:
        page = SettingsPage(tr("Trust"))
        self.trusted = TrustList(TrustStore(self._services.paths.data / "trust.json"))
        self.trusted.forgotten.connect(self.trust_forgotten)
        page.add(
            tr("Trusted folders"),
            tr(
                "Prompts in these folders may run Python tools and MCP servers and read variables "
                "of the environment. No file can trust itself: you are asked once for each folder."
            ),
            self.trusted,
            wide=True,
        )
        return page

    def _privacy(self) -> SettingsPage:
        page = SettingsPage(tr("Privacy"))
        page.add(
            tr("Nothing leaves this machine but what you send"),
            tr(
                "The studio has no telemetry, looks for no updates and reports no errors. A run "
                "sends the prompt, the inputs and what tools answered to the connection that you "
                "chose, and to nobody else; the embedded model is on this machine."
            ),
        )
        page.add(
            tr("You are asked first"),
            tr(
                "An address that a prompt file names is used only after you allowed it. Pictures "
                "at network addresses are not fetched for the preview."
            ),
        )
        page.add(
            tr("Keys"),
            tr(
                "Keys are never in prompts, settings, runs, exports or logs. What looks like "
                "one is hidden where it is shown."
            ),
        )
        return page

    def _storage(self) -> SettingsPage:
        paths = self._services.paths
        page = SettingsPage(tr("Storage"))
        for name, sentence, folder in (
            (
                tr("Settings and connections"),
                tr("settings.toml and connections.toml; texts that can be read and edited."),
                paths.config,
            ),
            (
                tr("Runs, unsaved text, trust and logs"),
                tr("runs.sqlite, swap files of unsaved text, trust.json, session.json, log."),
                paths.data,
            ),
            (
                tr("What can be made again"),
                tr("Files that are only kept to be faster; may be deleted."),
                paths.cache,
            ),
        ):
            page.add(name, f"{sentence}\n{folder}", self._folder_button(name, folder))
        return page

    def _folder_button(self, name: str, folder: Path) -> QPushButton:
        button = QPushButton(icon("folder-open"), tr("Open folder"), autoDefault=False)
        button.setAccessibleName(tr("Open folder: {name}").format(name=name))
        button.clicked.connect(lambda: _open_folder(folder))
        return button

    def _go_to_connections(self) -> None:
        self.accept()
        self.request_connections.emit()


def _open_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
