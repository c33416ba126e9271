"""Named sets of input values, stored beside a prompt.

Values can also be written into the prompt itself, as samples of its inputs.
"""

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.application.inputs.fields import FieldSpec, read_json
from studio.application.words import tr
from studio.core.prompty.document import TEXT_KINDS, PromptDocument
from studio.core.prompty.edit.edits import set_value, write_scalar
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.parse import parse
from studio.core.text.diff import smallest_edit
from studio.core.text.files import read_text, write_atomically
from studio.core.text.source import TextEdit, apply_edits
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath

SUFFIX = ".inputs.json"
"""Suffix of the file: `trip.prompty` has its sets in `trip.inputs.json`, one object of named
values.
"""

_MOST_CHOSEN = 200
"""Maximum number of prompts whose chosen set is remembered; the oldest choice is dropped."""


class InputFileError(Exception):
    """Raised when a file of values cannot be read; the text is for the user."""


def sets_path(prompt: Path) -> Path:
    """Return the path of the file with a prompt's sets."""
    return prompt.with_name(prompt.stem + SUFFIX)


def read_sets(prompt: Path) -> dict[str, JsonObject]:
    """Return the sets of a prompt by name; empty if it has none.

    Raises:
        InputFileError: the file exists but cannot be read.
    """
    return _only_sets(_read_all(prompt))


def change_sets(prompt: Path, sets: Mapping[str, JsonObject | None]) -> dict[str, JsonObject]:
    """Store or remove sets; everything else in the file stays unchanged.

    Args:
        prompt: The prompt's file.
        sets: Values by name of the set; None to remove it.

    Raises:
        InputFileError: the file exists but cannot be read; it is not overwritten.
        OSError: the file cannot be written.
    """
    found = _read_all(prompt)
    found.update({name: dict(values) for name, values in sets.items() if values is not None})
    for name in (name for name, values in sets.items() if values is None):
        found.pop(name, None)
    write_sets(prompt, found)
    return _only_sets(found)


def _read_all(prompt: Path) -> JsonDict:
    path = sets_path(prompt)
    if not path.exists():
        return {}
    data = _json(_text(path), path)
    if not isinstance(data, Mapping):
        raise InputFileError(tr("{file} is not an object of named sets.").format(file=path.name))
    return {str(name): item for name, item in data.items()}


def _only_sets(found: JsonObject) -> dict[str, JsonObject]:
    return {name: dict(item) for name, item in found.items() if isinstance(item, Mapping)}


def write_sets(prompt: Path, sets: JsonObject) -> None:
    """Write the sets atomically; without any, delete the file.

    Raises:
        OSError: the file cannot be written.
    """
    path = sets_path(prompt)
    if not sets:
        path.unlink(missing_ok=True)
        return
    write_atomically(path, json.dumps(dict(sets), ensure_ascii=False, indent=2) + "\n")


class ChosenSets:
    """The last chosen set of each prompt, in a small JSON file."""

    def __init__(self, path: Path | None) -> None:
        """Load the choices; an unreadable file counts as empty.

        Args:
            path: the file, which need not exist; None to store nothing.
        """
        self._path = path
        found: Json = {}
        if path is not None and path.exists():
            with contextlib.suppress(InputFileError):
                found = _json(_text(path), path)
        names = found if isinstance(found, Mapping) else {}
        self._names = {key: str(name) for key, name in names.items()}

    def get(self, prompt: Path | None) -> str:
        """Return the name of the chosen set; empty for none."""
        return self._names.get(str(prompt), "")

    def put(self, prompt: Path, name: str) -> None:
        """Store the choice of a set, or none; if it cannot be written, it is kept in memory."""
        self._names.pop(str(prompt), None)
        if name:
            self._names[str(prompt)] = name
        while len(self._names) > _MOST_CHOSEN:
            del self._names[next(iter(self._names))]
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(self._path, json.dumps(self._names, indent=1))


def fit_values(values: JsonObject, specs: tuple[FieldSpec, ...]) -> JsonDict:
    """Return values whose texts are converted to the kinds of the inputs, as for table cells."""
    known = {spec.name: spec for spec in specs}
    return {name: _fit(value, known.get(name, FieldSpec(name))) for name, value in values.items()}


def _fit(value: Json, spec: FieldSpec) -> Json:
    if not isinstance(value, str) or spec.kind in TEXT_KINDS:
        return value
    if spec.kind == "choice":
        written = (each for each in spec.choices if json.dumps(each) == value.strip())
        return value if value in spec.choices else next(written, value)
    entry = read_json(value.lower() if spec.kind == "boolean" else value)
    return value if entry.problem or not value.strip() else _plain(entry.value)


def _plain(value: object) -> Json:
    return value  # type: ignore[return-value]


def _json(text: str, path: Path) -> Json:
    entry = read_json(text)
    if entry.problem:
        raise InputFileError(f"{path.name}: {entry.problem}")
    return _plain(entry.value)


def _text(path: Path) -> str:
    try:
        return read_text(path, encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputFileError(tr("{file} is not UTF-8 text.").format(file=path.name)) from error
    except OSError as error:
        raise InputFileError(
            tr("{file} cannot be read: {reason}.").format(
                file=path.name, reason=error.strerror or error
            )
        ) from error


@dataclass(frozen=True, slots=True)
class SampleEdits:
    """The edits that store values as samples."""

    edits: tuple[TextEdit, ...]
    """The change, as one edit; empty if nothing can be stored."""

    left_out: tuple[str, ...] = ()
    """Inputs whose values cannot be stored: not declared, or in an unsuitable notation."""


def sample_edits(document: PromptDocument, values: JsonObject) -> SampleEdits:
    """Return the edits that make values their inputs' samples, each verified by reading it back."""
    text = document.source.text
    newest = document
    left_out = []
    for name, value in values.items():
        changed = _with_sample(newest, name, value)
        if changed is None:
            left_out.append(name)
        else:
            newest = changed
    return SampleEdits(smallest_edit(text, newest.source.text), tuple(left_out))


def _with_sample(document: PromptDocument, name: str, value: Json) -> PromptDocument | None:
    """Return the document with one more sample; None if that is impossible."""
    if document.input(name) is None:
        return None
    path = _place(document, name)
    if path is None:
        return None
    written = (
        write_scalar(value)
        if isinstance(value, str)
        else json.dumps(value, ensure_ascii=False, default=str)
    )
    try:
        edits = keeping_dialect(document, set_value(document, path, written))
        text = apply_edits(document.source.text, edits)
    except ValueError:
        return None
    changed = parse(text, document.source.path)
    item = changed.input(name)
    is_kept = item is not None and item.has_sample and item.sample == value
    body = document.source.slice(document.body)
    is_whole = len(changed.inputs) == len(document.inputs)
    is_whole = is_whole and changed.source.slice(changed.body) == body
    return changed if is_kept and is_whole else None


def _place(document: PromptDocument, name: str) -> KeyPath | None:
    """Return the path of an input's sample; inputs are a mapping, or a list (Prompty 2)."""
    if document.dialect == "legacy":
        return ("sample", name)
    if document.entry("inputs", name) is not None:
        return ("inputs", name, "sample")
    for number in range(len(document.inputs)):
        entry = document.entry("inputs", number, "name")
        declared = document.input(name)
        if entry and declared and entry.value == declared.name_span:
            return ("inputs", number, "sample")
    return None
