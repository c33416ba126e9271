"""Settings: looks, editor and shortcuts; each change holds at once."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.settings import SettingsStore
from studio.ui.actions import ACTIONS

_THEMES = (
    ("system", QT_TRANSLATE_NOOP("Settings", "As the system")),
    ("light", QT_TRANSLATE_NOOP("Settings", "Light")),
    ("dark", QT_TRANSLATE_NOOP("Settings", "Dark")),
)
_ID = Qt.ItemDataRole.UserRole


class SettingsDialog(QDialog):
    """Two pages; there is nothing to confirm."""

    def __init__(self, store: SettingsStore, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings"))
        self.resize(640, 520)
        self._store = store
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._tabs.addTab(self._looks(), self.tr("Looks and editor"))
        self._tabs.addTab(self._shortcuts(), self.tr("Keyboard"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        box = QVBoxLayout(self)
        box.setContentsMargins(12, 8, 12, 12)
        box.addWidget(self._tabs)
        box.addWidget(buttons)

    def show_shortcuts(self) -> None:
        """Begin at the shortcuts."""
        self._tabs.setCurrentIndex(1)

    # -- looks ----------------------------------------------------------------------------------

    def _looks(self) -> QWidget:
        value = self._store.value
        self.theme = QComboBox()
        self.theme.setAccessibleName(self.tr("Theme"))
        for key, name in _THEMES:
            self.theme.addItem(QCoreApplication.translate("Settings", name), key)
        self.theme.setCurrentIndex(self.theme.findData(value.theme))
        self.size = QDoubleSpinBox()
        self.size.setAccessibleName(self.tr("Text size"))
        self.size.setRange(6, 40)
        self.size.setDecimals(0)
        self.size.setSuffix(" pt")
        self.size.setValue(value.editor_font_size)
        self.wrap = QCheckBox(self.tr("Long lines go on in the next row"))
        self.wrap.setChecked(value.word_wrap)
        self.whitespace = QCheckBox(self.tr("Spaces and tabs are drawn"))
        self.whitespace.setChecked(value.show_whitespace)
        for field in (self.theme, self.size):
            field.setMinimumHeight(28)
            field.setMaximumWidth(220)
        page = QWidget()
        form = QFormLayout(page)
        form.setContentsMargins(12, 20, 12, 12)
        form.setVerticalSpacing(14)
        form.setHorizontalSpacing(20)
        form.addRow(self.tr("Theme"), self.theme)
        form.addRow(self.tr("Text size"), self.size)
        form.addRow(self.tr("Word wrap"), self.wrap)
        form.addRow(self.tr("Whitespace"), self.whitespace)
        self.theme.activated.connect(lambda: self._set(theme=self.theme.currentData()))
        self.size.valueChanged.connect(lambda size: self._set(editor_font_size=float(size)))
        self.wrap.toggled.connect(lambda on: self._set(word_wrap=on))
        self.whitespace.toggled.connect(lambda on: self._set(show_whitespace=on))
        return page

    def _set(self, **changes: object) -> None:
        self._store.set(replace(self._store.value, **changes))  # type: ignore[arg-type]

    # -- shortcuts ------------------------------------------------------------------------------

    def _shortcuts(self) -> QWidget:
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Search actions and keys"))
        self.filter.setAccessibleName(self.tr("Search actions and keys"))
        self.filter.setClearButtonEnabled(True)
        self.list = QTreeWidget()
        self.list.setHeaderLabels([self.tr("Action"), self.tr("Keys")])
        self.list.setRootIsDecorated(False)
        self.list.setAccessibleName(self.tr("Actions and their keys"))
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.keys = QKeySequenceEdit()
        self.keys.setAccessibleName(self.tr("New keys"))
        self.keys.setMaximumSequenceLength(1)
        self.apply_keys = QPushButton(self.tr("Set"))
        self.clear_keys = QPushButton(self.tr("None"))
        self.reset_keys = QPushButton(self.tr("Usual"))
        self.note = QLabel()
        self.note.setProperty("muted", True)
        self.note.setWordWrap(True)
        row = QHBoxLayout()
        row.addWidget(QLabel(self.tr("Keys")))
        row.addWidget(self.keys, 1)
        for button in (self.apply_keys, self.clear_keys, self.reset_keys):
            row.addWidget(button)
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 12, 0, 0)
        for part in (self.filter, self.list):
            box.addWidget(part)
        box.addLayout(row)
        box.addWidget(self.note)
        self._fill()
        self.filter.textChanged.connect(self._filter)
        self.list.currentItemChanged.connect(self._on_item)
        self.apply_keys.clicked.connect(lambda: self._rebind(self.keys.keySequence().toString()))
        self.clear_keys.clicked.connect(lambda: self._rebind(""))
        self.reset_keys.clicked.connect(lambda: self._rebind(None))
        self.list.setCurrentItem(self.list.topLevelItem(0))
        return page

    def _fill(self) -> None:
        own = self._store.value.shortcuts
        self.list.clear()
        for spec in ACTIONS:
            keys = own.get(spec.id, spec.shortcut)
            shown = ", ".join(
                QKeySequence(each).toString(QKeySequence.SequenceFormat.NativeText)
                for each in keys.split()
            )
            item = QTreeWidgetItem([spec.text.removesuffix("…"), shown])
            item.setData(0, _ID, spec.id)
            self.list.addTopLevelItem(item)

    def _filter(self, query: str) -> None:
        wanted = query.casefold()
        for index in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(index)
            if item is not None:
                item.setHidden(wanted not in f"{item.text(0)} {item.text(1)}".casefold())

    def _on_item(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.keys.setKeySequence(QKeySequence(item.text(1).split(", ")[0]))
            self.note.clear()

    def _rebind(self, keys: str | None) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        identifier = item.data(0, _ID)
        own = dict(self._store.value.shortcuts)
        own.pop(identifier, None)
        if keys is not None:
            own[identifier] = keys
        self._set(shortcuts=MappingProxyType(own))
        row = self.list.indexOfTopLevelItem(item)
        self._fill()
        self.list.setCurrentItem(self.list.topLevelItem(row))
        self._filter(self.filter.text())
        self._warn(own)

    def _warn(self, own: dict[str, str]) -> None:
        """Say when two actions share a key: Qt would then do neither."""
        used: Counter[str] = Counter()
        names: dict[str, list[str]] = {}
        for spec in ACTIONS:
            for key in own.get(spec.id, spec.shortcut).split():
                used[key] += 1
                names.setdefault(key, []).append(spec.text.removesuffix("…"))
        double = [f"{key}: {' and '.join(names[key])}" for key, count in used.items() if count > 1]
        self.note.setText(
            self.tr("One key for two actions does nothing. {names}.").format(
                names="; ".join(double)
            )
            if double
            else ""
        )
