"""The inputs of the open prompt: the user's values, and the named input sets beside the prompt."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue, input_fields
from studio.application.inputs.sets import (
    ChosenSets,
    InputFileError,
    change_sets,
    fit_values,
    read_sets,
    sets_path,
)
from studio.application.words import tr
from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.values import DatasetReference
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs, renamed_keys
from studio.core.text.values import JsonObject, reason_of
from studio.viewmodels.app.saved_files import SavedFiles


@dataclass(frozen=True, slots=True)
class _PromptInputs:
    """The inputs of one prompt while the program runs."""

    given: GivenInputs = field(default_factory=GivenInputs)
    """Values that the user typed."""

    chosen: str = ""
    """Name of the input set that was used or saved last; empty for none."""

    renames: tuple[tuple[str, str], ...] = ()
    """Renamed inputs: old and new name."""


class InputLibrary(QObject):
    """Holds the values of each prompt; reads, watches and writes its input sets."""

    changed = Signal()  # the input sets, or the one in use
    given_changed = Signal(GivenInputs)  # the values of the open prompt
    refused = Signal(str)  # sentence on a file that could not be read or written
    rows_loaded = Signal(Path)  # a file of several rows, which are cases

    def __init__(self, parent: QObject | None = None, memory: Path | None = None) -> None:
        """Create it without an open prompt.

        Args:
            parent: owner.
            memory: file that stores the chosen set of each prompt; None stores nothing.
        """
        super().__init__(parent)
        self._memory = ChosenSets(memory)
        self._known: dict[Path | str | None, _PromptInputs] = {}
        self._key: Path | str | None = None
        self._sets: dict[str, JsonObject] = {}
        self._is_broken = False
        self.specs: tuple[FieldSpec, ...] = ()
        """The fields of the open prompt."""
        self._files = SavedFiles(self)
        self._files.saved.connect(self.reload)

    @property
    def given(self) -> GivenInputs:
        """Return the values that the user gave to the open prompt."""
        return self._now.given

    @property
    def sets(self) -> Mapping[str, JsonObject]:
        """Values of each input set by the current names of the inputs."""
        names, renames = self._names(), self._now.renames
        return {name: renamed_keys(values, renames, names) for name, values in self._sets.items()}

    @property
    def current(self) -> str:
        """Name of the input set that was used or saved last; empty for none."""
        return self._now.chosen

    @property
    def is_edited(self) -> bool:
        """Whether the values differ from those of the set in use."""
        return self.current in self._sets and self.given != self._of_set(self.current)

    def step(self, by: int) -> None:
        """Use the set a number of places after the one in use; without one, the first or last."""
        names = list(self._sets)
        if names:
            at = names.index(self.current) + by if self.current in names else min(by - 1, 0)
            self.take(names[at % len(names)])

    @property
    def can_keep(self) -> bool:
        """Whether the prompt has a file beside which sets can be saved."""
        return self._prompt is not None and not self._is_broken

    @property
    def file_name(self) -> str:
        """Name of the file of the sets."""
        return sets_path(self._prompt).name if self._prompt is not None else ""

    @property
    def folder(self) -> str:
        """Folder of the prompt; empty if it has none."""
        return str(self._prompt.parent) if self._prompt is not None else ""

    @property
    def _prompt(self) -> Path | None:
        """File of the open prompt."""
        return self._key if isinstance(self._key, Path) else None

    # -- the open prompt ------------------------------------------------------------------------

    def set_document(self, document: PromptDocument | None, untitled: str = "") -> None:
        """Set the open prompt; values of inputs are kept by name.

        Args:
            document: the prompt; None if none is open.
            untitled: identifier of a prompt that was never saved.
        """
        key = (document.source.path or untitled) if document is not None else None
        before, is_other = self.given, key != self._key
        is_first = key is not None and key not in self._known
        self._key = key
        self.specs = input_fields(document) if document is not None else ()
        if is_other:
            self.reload()
        given = self.given.renamed(self._now.renames, self._names())
        if is_first and (chosen := self._memory.get(self._prompt)) in self.sets:
            self._hold(chosen=chosen)
            given = self._of_set(chosen)
        self._hold(given=given)
        if is_other or is_first:
            self.changed.emit()
        if is_other or before.by_name != given.by_name:
            self.given_changed.emit(given)

    def follow_path(self, before: str, now: str) -> None:
        """Move the values to the new path of a prompt.

        Args:
            before: its previous path, or the identifier from before it was saved.
            now: its new path.
        """
        old = Path(before) if Path(before) in self._known else before
        if old in self._known:
            self._known[Path(now)] = self._known.pop(old)
            if self._key == old:
                self._key = Path(now)
                self.reload()

    def note_rename(self, old: str, new: str) -> None:
        """Record a renamed input of the open prompt, so that values and sets keep their input."""
        self._hold(renames=(*self._now.renames, (old, new)))

    # -- values ---------------------------------------------------------------------------------

    def give(self, name: str, value: FieldValue) -> None:
        """Set the value of an input as the user typed it; ABSENT removes it."""
        if value is ABSENT:
            self._take(self.given.without(name))
        else:
            self._take(self.given.with_values({name: value}))

    def add(self, values: JsonObject) -> None:
        """Add these values to the existing ones."""
        self._take(self.given.with_values(values))

    def give_all(self, values: JsonObject) -> None:
        """Replace all values by these."""
        self._take(GivenInputs(dict(values)))

    # -- sets -----------------------------------------------------------------------------------

    def reload(self) -> None:
        """Read the file again after another program changed it.

        Values of the chosen set that the user did not change are updated.
        """
        is_unchanged = self.current in self._sets and self.given == self._of_set(self.current)
        self._sets, self._is_broken = {}, False
        if self._prompt is not None:
            try:
                self._sets = read_sets(self._prompt)
            except InputFileError as error:
                self._is_broken = True  # never overwritten: the user may want to repair it
                self.refused.emit(str(error))
        self._files.watch([sets_path(self._prompt)] if self._prompt is not None else [])
        self.changed.emit()
        if is_unchanged and self.current in self._sets:
            self._take(self._of_set(self.current))

    def take(self, name: str) -> None:
        """Use the values of a set."""
        if name in self._sets:
            self._choose(name)
            self._take(self._of_set(name))

    def keep_given(self, name: str) -> None:
        """Save the values of the prompt's inputs as a set, replacing one of the same name."""
        names = self._names()
        self.keep(name, {key: value for key, value in self.given.items() if key in names})

    def keep(self, name: str, values: JsonObject) -> None:
        """Save values as a set, replacing one of the same name."""
        name = name.strip()
        if name and self._change({name: dict(values)}):
            self._choose(name)

    def remove(self, name: str) -> None:
        """Remove a set."""
        if self._change({name: None}) and self.current == name:
            self._choose("")

    def load(self, path: Path) -> None:
        """Load the values of another file; several rows are cases."""
        try:
            cases = read_dataset(DatasetReference(path.name), path).cases
        except DatasetError as error:
            self.refused.emit(str(error))
            return
        if len(cases) > 1:
            self.rows_loaded.emit(path)
        elif not cases or not cases[0].variables:
            words = tr("{file} contains no rows with named values.")
            self.refused.emit(words.format(file=path.name))
        else:
            values = {name: each for name, each in cases[0].variables.items() if each != ""}
            self._choose("")
            self._take(GivenInputs(fit_values(values, self.specs)))

    # -- internals ------------------------------------------------------------------------------

    @property
    def _now(self) -> _PromptInputs:
        return self._known.get(self._key, _NONE)

    def _hold(
        self,
        given: GivenInputs | None = None,
        chosen: str | None = None,
        renames: tuple[tuple[str, str], ...] | None = None,
    ) -> None:
        if self._key is not None:
            now = self._now
            self._known[self._key] = _PromptInputs(
                now.given if given is None else given,
                now.chosen if chosen is None else chosen,
                now.renames if renames is None else renames,
            )

    def _names(self) -> frozenset[str]:
        return frozenset(spec.name for spec in self.specs)

    def _take(self, given: GivenInputs) -> None:
        self._hold(given=given)
        self.given_changed.emit(given)

    def _of_set(self, name: str) -> GivenInputs:
        return GivenInputs(fit_values(self.sets[name], self.specs))

    def _choose(self, name: str) -> None:
        self._hold(chosen=name)
        if self._prompt is not None:
            self._memory.put(self._prompt, name)
        self.changed.emit()

    def _change(self, sets: Mapping[str, JsonObject | None]) -> bool:
        """Change sets in the current file, which another program may have changed."""
        if self._prompt is None:
            return False
        try:
            self._sets = change_sets(self._prompt, sets)
        except InputFileError as error:
            self._is_broken = True
            self.refused.emit(str(error))
        except (OSError, UnicodeEncodeError) as error:
            self.refused.emit(
                tr("The input sets cannot be saved: {error}").format(error=reason_of(error))
            )
        else:
            self.changed.emit()
            return True
        self.changed.emit()
        return False


_NONE = _PromptInputs()
