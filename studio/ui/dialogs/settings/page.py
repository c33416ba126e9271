"""A page of the settings: rows with a label and a sentence, which the search can find."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from PySide6 import QtWidgets
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QKeySequence

from studio.application.words import tr
from studio.ui.base.menus import ACTIONS, ActionSpec
from studio.ui.parts import kit
from studio.ui.style.theme import FollowsTheme, theme_in_use
from studio.viewmodels.app.settings import SettingsStore

_FIELD_WIDTH = 320


class _Row(QtWidgets.QWidget):
    """A setting: name, description and field."""

    def __init__(self, name: str, sentence: str, field: QtWidgets.QWidget | None) -> None:
        super().__init__()
        self.words = f"{name} {sentence}".casefold()
        title = QtWidgets.QLabel(name)
        title.setProperty("title", True)
        box = kit.column_of(title, on=self, margins=0, spacing=4)
        if sentence:
            label = kit.toned_label("muted", sentence, wraps=True)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            box.addWidget(label)
        if field is not None:
            field.setMinimumHeight(max(28, field.sizeHint().height()))
            if not field.accessibleName():
                field.setAccessibleName(name)
            title.setBuddy(field)
            if isinstance(field, QtWidgets.QPushButton):  # as wide as its text
                box.addWidget(field, 0, Qt.AlignmentFlag.AlignLeft)
            else:
                box.addWidget(field)


class SettingsPage(QtWidgets.QScrollArea):
    """Scrollable page of settings."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self._rows: list[_Row] = []
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setAccessibleName(title)
        inside = QtWidgets.QWidget()
        self._box = kit.column_of(1, on=inside, margins=(20, 8, 20, 16), spacing=16)
        self.setWidget(inside)

    def add(
        self,
        name: str,
        sentence: str = "",
        field: QtWidgets.QWidget | None = None,
        *,
        wide: bool = False,
    ) -> None:
        """Add a setting; a wide field takes the page's whole width."""
        if field is not None and not wide and not isinstance(field, QtWidgets.QAbstractButton):
            field.setMaximumWidth(_FIELD_WIDTH)
        row = _Row(name, sentence, field)
        self._rows.append(row)
        self._box.insertWidget(self._box.count() - 1, row)

    def search(self, query: str) -> int:
        """Show the rows that contain all words of a query; return their number."""
        wanted = query.casefold().split()
        title = self.title.casefold()
        hits = 0
        for row in self._rows:
            fits = all(word in row.words or word in title for word in wanted)
            row.setVisible(fits)
            hits += fits
        return hits


# The page of shortcuts: each action can have other keys, and conflicts are shown.

_ID = Qt.ItemDataRole.UserRole


class KeysPage(FollowsTheme, QtWidgets.QWidget):
    """A list of actions with their keys, and a field to press new ones."""

    def __init__(self, store: SettingsStore) -> None:
        super().__init__()
        self._store = store
        self.title = tr("Keyboard")
        self.filter = kit.search_line(tr("Search actions and keys"))
        heads = (tr("Action"), tr("Keys"))
        self.list = kit.row_list(tr("Actions and their keys"), heads, 0, fitted=(1,))
        self.keys = kit.named(QtWidgets.QKeySequenceEdit(maximumSequenceLength=1), tr("New keys"))
        self.apply_keys = QtWidgets.QPushButton(tr("Set"))
        self.clear_keys = kit.push_button(tr("None"), lambda: self._rebind(""))
        self.reset_keys = kit.push_button(tr("Usual"), lambda: self._rebind(None))
        self.reset_all = kit.push_button(tr("Reset all"), self._reset_all)
        self.note = kit.toned_label("error", wraps=True)
        self._lay_out()
        self._fill()
        self._warn()
        self.filter.textChanged.connect(self.search)
        self.list.currentItemChanged.connect(self._on_item)
        self.keys.keySequenceChanged.connect(self._say_taken)
        self.apply_keys.clicked.connect(lambda: self._rebind(self.keys.keySequence().toString()))
        self.list.setCurrentIndex(self.list.model().index(0, 0))
        self.follow_theme()

    def _lay_out(self) -> None:
        row = kit.row_of(QtWidgets.QLabel(tr("Keys")), (self.keys, 1))
        for button in (self.apply_keys, self.clear_keys, self.reset_keys, self.reset_all):
            button.setAutoDefault(False)
            row.addWidget(button)
        kit.column_of(self.filter, self.list, row, self.note, on=self, margins=(20, 8, 20, 8))

    def search(self, query: str) -> int:
        """Show the actions whose name or keys contain all words; return their number.

        A word for the subject of the page matches all of them.
        """
        page = f"{self.title} {tr('keys shortcuts bindings')}".casefold()
        wanted = [word for word in query.casefold().split() if word not in page]
        hits = 0
        for index in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(index)
            if item is not None:
                words = f"{item.text(0)} {item.text(1)}".casefold()
                fits = all(word in words for word in wanted)
                item.setHidden(not fits)
                hits += fits
        return hits

    def _fill(self) -> None:
        own = self._store.value.shortcuts
        double = {spec.id for pair in conflicts(own).values() for spec in pair}
        self.list.clear()
        for spec in ACTIONS:
            item = QtWidgets.QTreeWidgetItem(
                [name_of(spec), _shown(own.get(spec.id, spec.shortcut))]
            )
            item.setData(0, _ID, spec.id)
            if spec.id in own:
                font = item.font(1)
                font.setWeight(QFont.Weight.DemiBold)
                item.setFont(1, font)
            if spec.id in double:
                item.setForeground(1, QColor(theme_in_use().error))
            self.list.addTopLevelItem(item)

    def _on_item(self, item: QtWidgets.QTreeWidgetItem | None) -> None:
        if item is not None:
            self.keys.setKeySequence(QKeySequence(item.text(1).split(", ")[0]))
            self._warn()

    def _say_taken(self, keys: QKeySequence) -> None:
        """Show which command already uses the pressed keys."""
        item = self.list.currentItem()
        if item is None or keys.isEmpty():
            return
        own = {**self._store.value.shortcuts, item.data(0, _ID): keys.toString()}
        taken = [
            name_of(each)
            for pair in conflicts(own).values()
            for each in pair
            if item.data(0, _ID) in {one.id for one in pair} and each.id != item.data(0, _ID)
        ]
        if taken:
            self._say(
                tr("{key} is already used by {names}.").format(
                    key=keys.toString(QKeySequence.SequenceFormat.NativeText),
                    names=", ".join(taken),
                )
            )
        else:
            self._warn()

    def _rebind(self, keys: str | None) -> None:
        item = self.list.currentItem()
        if item is None:
            return
        identifier = item.data(0, _ID)
        own = dict(self._store.value.shortcuts)
        own.pop(identifier, None)
        if keys is not None:
            own[identifier] = keys
        self._store.set(replace(self._store.value, shortcuts=MappingProxyType(own)))
        row = self.list.indexOfTopLevelItem(item)
        self._fill()
        self.list.setCurrentIndex(self.list.model().index(row, 0))
        self.search(self.filter.text())
        self._warn()

    def _reset_all(self) -> None:
        self._store.set(replace(self._store.value, shortcuts=MappingProxyType({})))
        self._fill()
        self.search(self.filter.text())
        self._warn()

    def _warn(self) -> None:
        """Warn if two actions share a key: Qt would then trigger neither."""
        double = [
            tr("{key}: {first} and {second}").format(
                key=key, first=name_of(pair[0]), second=name_of(pair[1])
            )
            for key, pair in conflicts(self._store.value.shortcuts).items()
        ]
        self._say(
            tr("A key with two actions does nothing. {names}.").format(names="; ".join(double))
            if double
            else ""
        )

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        for index in range(self.list.topLevelItemCount()):
            item = self.list.topLevelItem(index)
            if item is not None and item.data(1, Qt.ItemDataRole.ForegroundRole) is not None:
                item.setForeground(1, QColor(theme.error))

    def _say(self, text: str) -> None:
        self.note.setText(text)


def conflicts(own: Mapping[str, str]) -> dict[str, list[ActionSpec]]:
    """Return the keys that several actions use, with those actions."""
    users: dict[str, list[ActionSpec]] = {}
    for spec in ACTIONS:
        for key in own.get(spec.id, spec.shortcut).split():
            users.setdefault(key, []).append(spec)
    return {key: specs for key, specs in users.items() if len(specs) > 1}


def name_of(spec: ActionSpec) -> str:
    """Return an action's name in the window's language, without the ellipsis of its menu."""
    return tr(spec.text).removesuffix("…")


def _shown(keys: str) -> str:
    return ", ".join(
        QKeySequence(each).toString(QKeySequence.SequenceFormat.NativeText) for each in keys.split()
    )
