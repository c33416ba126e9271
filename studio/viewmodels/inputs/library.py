"""The named input sets of the open prompt, and which of them is in use."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.inputs.sets import (
    InputFileError,
    InputRow,
    change_set,
    load_rows,
    read_sets,
    sets_path,
)
from studio.core.text.reason import reason_of
from studio.core.text.values import Json, JsonObject


class InputLibrary(QObject):
    """Reads the sets when a prompt is opened, and writes them at each change."""

    changed = Signal()  # the sets, or which one is in use
    chosen = Signal(Mapping)  # dict: the values of the set or row that was picked
    refused = Signal(str)  # what could not be read or written, one sentence
    rows_loaded = Signal(tuple)  # tuple[InputRow, ...]: one of several is to be picked

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._prompt: Path | None = None
        self._sets: dict[str, JsonObject] = {}
        self._current = ""
        self._is_broken = False

    @property
    def sets(self) -> Mapping[str, JsonObject]:
        """The values by name of the set."""
        return self._sets

    @property
    def current(self) -> str:
        """The set that was taken or kept last; empty for none."""
        return self._current

    @property
    def can_keep(self) -> bool:
        """Whether there is a file beside which sets can be kept."""
        return self._prompt is not None and not self._is_broken

    @property
    def file_name(self) -> str:
        """The name of the file with the sets."""
        return sets_path(self._prompt).name if self._prompt is not None else ""

    def set_prompt(self, prompt: Path | None) -> None:
        """Follow the open prompt."""
        if prompt != self._prompt:
            self._prompt = prompt
            self._current = ""
            self.reload()

    def reload(self) -> None:
        """Read the file again, as when it was changed elsewhere."""
        self._sets, self._is_broken = {}, False
        if self._prompt is not None:
            try:
                self._sets = read_sets(self._prompt)
            except InputFileError as error:
                self._is_broken = True  # never written over: a user may want to fix it
                self.refused.emit(str(error))
        self.changed.emit()

    def take(self, name: str) -> None:
        """Use a set's values."""
        if name in self._sets:
            self._current = name
            self.changed.emit()
            self.chosen.emit(dict(self._sets[name]))

    def keep(self, name: str, values: Mapping[str, Json]) -> None:
        """Keep values as a set; one of the same name is replaced."""
        name = name.strip()
        if name:
            self._change(name, dict(values), name)

    def remove(self, name: str) -> None:
        """Take a set away."""
        self._change(name, None, "" if self._current == name else self._current)

    def load(self, path: Path) -> None:
        """Take the values of another file; of several rows one is asked for."""
        try:
            rows = load_rows(path)
        except InputFileError as error:
            self.refused.emit(str(error))
            return
        if len(rows) == 1:
            self.take_row(rows[0])
        else:
            self.rows_loaded.emit(rows)

    def take_row(self, row: InputRow) -> None:
        """Use the values of a row."""
        self._current = ""
        self.changed.emit()
        self.chosen.emit(dict(row.values))

    def _change(self, name: str, values: dict[str, Json] | None, current: str) -> None:
        """Change one set in the file as it is now: another program may have written it."""
        if self._prompt is None:
            return
        try:
            self._sets = change_set(self._prompt, name, values)
        except InputFileError as error:
            self._is_broken = True
            self.refused.emit(str(error))
        except (OSError, UnicodeEncodeError) as error:
            self.refused.emit(
                self.tr("The input sets cannot be kept: {error}").format(error=reason_of(error))
            )
            return
        else:
            self._current = current
        self.changed.emit()
