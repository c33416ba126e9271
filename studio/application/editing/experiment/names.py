"""Names in an experiment and its prompts: files and inputs, with renaming in all files."""

import errno
import re
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from studio.application.experiments.cases import case_files
from studio.application.experiments.text import is_value_name, prompts_of, read_experiment_document
from studio.application.inputs.sets import sets_path
from studio.core.experiments.datasets import csv_delimiter
from studio.core.experiments.file.names import SUFFIXES
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import DatasetReference
from studio.core.prompty import reference_values
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import inside_quotes, rename_input
from studio.core.prompty.parse import parse
from studio.core.prompty.references import sample_file
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.files import read_bounded, write_atomically
from studio.core.text.source import SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import KeyPath, reason_of

_FILE_NAMES = (*(f"*{each}" for each in SUFFIXES), "promptfooconfig.yaml", "promptfooconfig.yml")
_NAME = re.compile(r"[\w./-]+\.\w+")


@dataclass(frozen=True)
class FileEdits:
    """Edits of one file."""

    source: SourceText
    """Current text of the file."""

    edits: tuple[TextEdit, ...]
    """Edits, in order."""

    @property
    def path(self) -> Path:
        """Path of the file."""
        assert self.source.path is not None
        return self.source.path

    def write(self, *, back: bool = False) -> bool:
        """Write the edits to the file, or undo them, unless it has changed meanwhile.

        Returns:
            False if the file already has the new text.

        Raises:
            OSError: the file cannot be written, or has changed.
        """
        texts = self.source.text, apply_edits(self.source.text, self.edits)
        before, after = texts[::-1] if back else texts
        held = read_bounded(self.path)
        if held == after.encode("utf-8"):
            return False
        if held != before.encode("utf-8"):
            raise OSError(errno.EBUSY, "it was changed meanwhile")
        write_atomically(self.path, after)
        return True


def write_all(changes: Iterable[FileEdits], *, back: bool = False) -> None:
    """Write the edits to all files, or to none.

    Args:
        changes: the edits of each file.
        back: whether to undo the edits.

    Raises:
        ValueError: one of the files cannot be written; the text says which, and why.
    """
    done: list[FileEdits] = []
    for each in changes:
        try:
            if each.write(back=back):
                done.append(each)
        except OSError as error:
            for other in done:
                other.write(back=not back)
            reason = f"{each.path.name!r} cannot be changed: {reason_of(error)}"
            raise ValueError(reason) from error


def files_named(document: PromptDocument) -> Iterator[tuple[str, Span]]:
    """Yield every file that an experiment names, with the span of its name."""
    path = document.source.path
    if path is None:
        return
    for entry in document.entries:
        written = document.source.slice(entry.value)
        if (
            any(
                each.path[: len(entry.path)] == entry.path and each is not entry
                for each in document.entries
            )
            or len(written) > 300
        ):
            continue
        for found in _NAME.finditer(written):
            name = found[0].removeprefix("//")
            if (path.parent / name).is_file():
                start = entry.value.start + found.end() - len(name)
                yield name, Span(start, start + len(name))


def file_at(document: PromptDocument, offset: int) -> str | None:
    """Return the file named at an offset; None if there is none."""
    return next((name for name, span in files_named(document) if span.touches(offset)), None)


def value_name_at(document: PromptDocument, offset: int) -> tuple[str, FrontMatterEntry] | None:
    """Return the name of a row's value at an offset, and its entry."""
    for entry in document.entries:
        if is_value_name(entry.path) and entry.key.touches(offset):
            return str(entry.path[-1]), entry
    return None


def input_names(document: PromptDocument) -> frozenset[str]:
    """Return the inputs that a prompt declares or uses, or that an experiment's rows name."""
    if document.is_experiment:
        paths = (each.path for each in document.entries)
        return frozenset(str(path[-1]) for path in paths if is_value_name(path))
    declared = {each.name for each in document.inputs}
    return frozenset(declared | {each.name for each in document.variables})


def declaration_of(document: PromptDocument, name: str) -> tuple[PromptDocument, Span] | None:
    """Return where a prompt of the experiment declares or first uses an input."""
    for prompt in prompts_of(document):
        item = prompt.input(name)
        if item is not None and item.name_span is not None:
            return prompt, item.name_span
    for prompt in prompts_of(document):
        for variable in prompt.variables:
            if variable.name == name:
                return prompt, variable.span
    return None


def rename_everywhere(document: PromptDocument, old: str, new: str) -> tuple[FileEdits, ...]:
    """Return the edits of all files that share an input, beginning with the document.

    An input is shared with the prompt's samples, sets and cases, with experiments that set it and
    their rows, and through these with other prompts.

    Args:
        document: The prompt or experiment in the editor.
        old: The input's name.
        new: Its new name.

    Raises:
        ValueError: the new name is invalid or exists, or a file cannot be changed; the text says
            which.
    """
    known = {document.source.path: document}
    waiting = [document]
    for each in waiting:  # the list grows during the loop
        path = each.source.path
        if path is None or not path.is_absolute():
            continue
        near = prompts_of(each) if each.is_experiment else experiments_of(path)
        for other in near:
            at = other.source.path
            if at in known or at is None or not at.is_file():
                continue
            if not other.is_experiment:
                other = parse(other.source.text, at)  # noqa: PLW2901 - as it is in its file
            shares = any(_renamed_in(other, old, new)) if other.is_experiment else None
            if shares or (shares is None and old in input_names(other)):
                known[at] = other
                waiting.append(other)
    made: dict[Path | None, FileEdits] = {}
    for path, each in known.items():
        found = _renamed_in if each.is_experiment else partial(_renamed_prompt, renamed=known)
        try:
            for edits in found(each, old, new):
                made.setdefault(edits.source.path, edits)
        except ValueError as error:
            if each is document or path is None:
                raise
            raise ValueError(f"{path.name}: {error}") from error
    return tuple(made.values())


def experiments_of(prompt: Path) -> Iterator[PromptDocument]:
    """Yield the experiments beside a prompt, or in a folder above, that name it."""
    folders = (prompt.parent, prompt.parent.parent)
    found = dict.fromkeys(
        each for folder in folders for name in _FILE_NAMES for each in sorted(folder.glob(name))
    )
    for path in found:
        try:
            document = read_experiment_document(read_bounded(path).decode("utf-8"), path)
        except (OSError, UnicodeDecodeError):
            continue
        if any(each.source.path == prompt for each in prompts_of(document)):
            yield document


def _renamed_prompt(
    prompt: PromptDocument, old: str, new: str, renamed: Container[Path | None]
) -> Iterator[FileEdits]:
    """Yield the edits of a prompt, its samples, sets and cases."""
    yield FileEdits(prompt.source, rename_input(prompt, old, new))
    path = prompt.source.path
    if path is None or not path.is_absolute():
        return
    yield from _renamed_samples(prompt, path, old, new, renamed)
    yield from _renamed_keys(sets_path(path), old, new, lambda place: len(place) == 2)
    for each in case_files(path):
        if each.name.startswith(f"{path.stem}.") and (
            each.suffix in (".csv", ".tsv", ".jsonl", ".ndjson") or ".cases." in each.name
        ):
            yield from _renamed_rows(each, old, new)


def _renamed_samples(
    prompt: PromptDocument, path: Path, old: str, new: str, renamed: Container[Path | None]
) -> Iterator[FileEdits]:
    """Yield the edits of the key in a file of samples that only this prompt uses."""
    name = sample_file(prompt)
    if name is None:
        return
    try:
        file = reference_values.confined_path(name, reference_values.ReferenceContext(path.parent))
    except reference_values.UnresolvedReference:
        return  # a run has no values from it either
    for edits in _renamed_keys(file, old, new, lambda place: len(place) == 1):
        for other in sorted(path.parent.glob(f"*{path.suffix}")):
            if other != path and other not in renamed and _takes_samples(other, file, old):
                raise ValueError(
                    f"{name!r} also contains the samples of {other.name!r}: use one file per prompt"
                )
        yield edits


def _renamed_keys(
    file: Path, old: str, new: str, is_value: Callable[[KeyPath], bool]
) -> Iterator[FileEdits]:
    """Yield the edits that rename a key in a file of values; none if it cannot be read.

    Args:
        file: a YAML or JSON file, or one with a JSON value per line.
        old: the key.
        new: its new name.
        is_value: returns whether the key at a path names a value.
    """
    try:
        text = read_bounded(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    source, keys = SourceText(text, file), list[Span]()
    start = int(text.startswith("\ufeff"))
    is_lines = file.suffix in (".jsonl", ".ndjson")
    for part in text[start:].splitlines(keepends=True) if is_lines else (text[start:],):
        if old in part:
            reading = read_yaml(part, start)
            places = {each.path: each.key for each in reading.entries if is_value(each.path)}
            found = [place for place in places if place[-1] == old]
            if any((*place[:-1], new) in places for place in found):
                raise ValueError(f"{file.name!r} has a value of the name {new!r} already")
            if found and reading.broken:
                raise ValueError(
                    f"the key {old!r} in {file.name!r} cannot be renamed: fix the file first"
                )
            keys += [places[place] for place in found]
        start += len(part)
    if keys:
        yield FileEdits(source, tuple(TextEdit(inside_quotes(source, key), new) for key in keys))


def _takes_samples(path: Path, file: Path, name: str) -> bool:
    """Return whether a prompt takes its sample of an input from a file."""
    try:
        prompt = parse(read_bounded(path).decode("utf-8"), path)
        written = sample_file(prompt)
        is_same = written is not None and (path.parent / written).resolve() == file
    except (OSError, ValueError):
        return False
    return is_same and name in input_names(prompt)


def _renamed_in(document: PromptDocument, old: str, new: str) -> Iterator[FileEdits]:
    edits = [
        TextEdit(entry.key, new)
        for entry in document.entries
        if is_value_name(entry.path)
        and entry.path[-1] == old
        and document.source.slice(entry.key) == old
    ]
    used = re.compile(rf"(?P<open>\{{\{{[^{{}}\n]*?)(?<![\w.]){re.escape(old)}(?!\w)")
    for entry in document.entries:
        if entry.path[-1:] == ("value",) and "assert" in entry.path:
            for found in used.finditer(document.source.text, entry.value.start, entry.value.end):
                edits.append(TextEdit(Span(found.end("open"), found.end()), new))
        elif len(entry.path) > 1 and entry.path[-2] == "columns":
            written = document.source.slice(entry.value)
            if written == f"vars.{old}":
                edits.append(TextEdit(entry.value, f"vars.{new}"))
    if edits:
        unique = dict.fromkeys(edits)
        yield FileEdits(document.source, tuple(sorted(unique, key=lambda each: each.span)))
    yield from _renamed_columns(document, old, new)


def _renamed_columns(document: PromptDocument, old: str, new: str) -> Iterator[FileEdits]:
    """Yield the edits of an experiment's files of rows."""
    path = document.source.path
    assert path is not None
    file = read_experiment(document.source.text, path)
    for case in file.cases:
        if isinstance(case, DatasetReference) and not case.columns:
            rows = (path.parent / case.path).resolve()
            if rows.is_relative_to(path.parent.resolve()):
                yield from _renamed_rows(rows, old, new)


def _renamed_rows(rows: Path, old: str, new: str) -> Iterator[FileEdits]:
    """Yield the edits of a file of rows: its header, or the keys of each row."""
    if rows.suffix not in (".csv", ".tsv"):
        yield from _renamed_keys(rows, old, new, _is_of_row)
        return
    try:
        text = read_bounded(rows).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    head = text.partition("\n")[0]
    cells = list(re.finditer(rf"[^{csv_delimiter(head, rows)}\ufeff\r]+", head))
    spans = {each[0].strip().strip('"'): each for each in cells}
    if old in spans and new in spans:
        raise ValueError(f"{rows.name!r} has a value of the name {new!r} already")
    if old in spans:
        start = spans[old].start() + spans[old][0].index(old)
        edit = TextEdit(Span(start, start + len(old)), new)
        yield FileEdits(SourceText(text, rows), (edit,))


def _is_of_row(place: KeyPath) -> bool:
    """Return whether a key in a file of rows names a value: `0.question`, `0.vars.question`."""
    names = [each for each in place if isinstance(each, str)]
    return len(names) == 1 or names[-2:-1] == ["vars"]
