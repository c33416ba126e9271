"""Names of an experiment and of its prompts: files, inputs, and renaming an input in all."""

from __future__ import annotations

import errno
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from studio.application.experiments.text import is_value_name, prompts_of, read_experiment_document
from studio.application.inputs.sets import sets_path
from studio.core.experiments.file.names import SUFFIXES
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import DatasetReference
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import inside_quotes, rename_input
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import (
    ReferenceContext,
    UnresolvedReference,
    confined_path,
)
from studio.core.prompty.references import sample_file
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.files import read_bounded, write_atomically
from studio.core.text.source import SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import reason_of

_FILE_NAMES = (*(f"*{each}" for each in SUFFIXES), "promptfooconfig.yaml", "promptfooconfig.yml")
_NAME = re.compile(r"[\w./-]+\.\w+")


@dataclass(frozen=True)
class FileEdits:
    """Edits of one file."""

    source: SourceText
    """The file as it is."""

    edits: tuple[TextEdit, ...]
    """In order."""

    @property
    def path(self) -> Path:
        """The file."""
        assert self.source.path is not None
        return self.source.path

    def write(self, *, back: bool = False) -> bool:
        """Make the edits in the file, or take them back; not where it has changed meanwhile.

        Returns:
            False if the file already was so.

        Raises:
            OSError: it cannot be written, or it has changed.
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
    """Make the edits in all the files, or in none.

    Args:
        changes: the edits of each file.
        back: takes edits back that were made before.

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
    """Yield every file beside an experiment that it names, with its place."""
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
    """Return the file whose name is at a place."""
    return next((name for name, span in files_named(document) if span.touches(offset)), None)


def value_name_at(document: PromptDocument, offset: int) -> tuple[str, FrontMatterEntry] | None:
    """Return the name of a row's value at a place, and its entry."""
    for entry in document.entries:
        if is_value_name(entry.path) and entry.key.touches(offset):
            return str(entry.path[-1]), entry
    return None


def input_names(document: PromptDocument) -> frozenset[str]:
    """Return the inputs that a prompt declares or uses, or that the rows of an experiment name."""
    if document.is_experiment:
        paths = (each.path for each in document.entries)
        return frozenset(str(path[-1]) for path in paths if is_value_name(path))
    declared = {each.name for each in document.inputs}
    return frozenset(declared | {each.name for each in document.variables})


def declaration_of(document: PromptDocument, name: str) -> tuple[PromptDocument, Span] | None:
    """Find where a prompt of the experiment declares or first uses an input."""
    for prompt in prompts_of(document):
        item = prompt.input(name)
        if item is not None and item.name_span is not None:
            return prompt, item.name_span
    for prompt in prompts_of(document):
        for variable in prompt.variables:
            if variable.name == name:
                return prompt, variable.span
    return None


def rename_everywhere(
    prompt: PromptDocument, old: str, new: str, renamed: Collection[Path] = ()
) -> tuple[FileEdits, ...]:
    """Return edits that rename an input in the samples, sets, experiments and rows of its prompt.

    The prompt's own edits are not among them.

    Args:
        prompt: The prompt.
        old: The input's name.
        new: Its new name.
        renamed: Other prompts in which the input is renamed, too.

    Raises:
        ValueError: the file of samples or of sets cannot follow; the text says why.
    """
    path = prompt.source.path
    if path is None or not path.is_absolute():
        return ()
    made = list(_renamed_samples(prompt, path, old, new, renamed))
    made += _renamed_keys(sets_path(path), 2, old, new)
    for each in experiments_of(path):
        made += list(_renamed_in(each, old, new))
    return tuple(made)


def rename_from(document: PromptDocument, old: str, new: str) -> tuple[FileEdits, ...]:
    """Return the edits that rename an input in an experiment, its rows and its prompts.

    Raises:
        ValueError: the new name is none, or is taken, or a file cannot follow; the text says which.
    """
    made: dict[Path, FileEdits] = {}
    prompts = prompts_of(document)
    paths = {each.source.path for each in prompts if each.source.path is not None}
    for prompt in prompts:
        path = prompt.source.path
        if path is None or not path.is_file() or path in made:
            continue
        own = parse(prompt.source.text, path)
        if own.input(old) is None and all(each.name != old for each in own.variables):
            continue
        made[path] = FileEdits(own.source, rename_input(own, old, new))
        for each in rename_everywhere(own, old, new, paths):
            made.setdefault(each.path, each)
    for each in _renamed_in(document, old, new):  # as it is in the editor, saved or not
        made[each.path] = each
    return tuple(made.values())


def experiments_of(prompt: Path) -> Iterator[PromptDocument]:
    """Yield the experiments beside a prompt, or a folder above, that name it."""
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


def _renamed_samples(
    prompt: PromptDocument, path: Path, old: str, new: str, renamed: Collection[Path]
) -> Iterator[FileEdits]:
    """Yield the edits of the key in the file of samples, if it is this prompt's alone."""
    name = sample_file(prompt)
    if name is None:
        return
    try:
        file = confined_path(name, ReferenceContext(path.parent))
    except UnresolvedReference:
        return  # a run has no values of it either
    for edits in _renamed_keys(file, 1, old, new):
        for other in sorted(path.parent.glob(f"*{path.suffix}")):
            if other != path and other not in renamed and _takes_samples(other, file, old):
                raise ValueError(
                    f"{name!r} has the samples of {other.name!r}, too: "
                    "give each prompt its own file"
                )
        yield edits


def _renamed_keys(file: Path, depth: int, old: str, new: str) -> Iterator[FileEdits]:
    """Rename a key in a file of values.

    Args:
        file: the file; nothing is renamed in one that cannot be read.
        depth: 1 where the file holds values, 2 where it holds sets of values.
        old: the key.
        new: its new name.
    """
    try:
        text = read_bounded(file).decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    mark = text.startswith("\ufeff")
    reading = read_yaml(text[mark:], int(mark))
    held = reading.value if isinstance(reading.value, Mapping) else {}
    sets = [held] if depth == 1 else [each for each in held.values() if isinstance(each, Mapping)]
    if not any(old in values for values in sets):
        return
    if any(old in values and new in values for values in sets):
        raise ValueError(f"{file.name!r} has a value of the name {new!r} already")
    found = (each for each in reading.entries if len(each.path) == depth)
    keys = [each.key for each in found if each.path[-1] == old]
    if reading.broken or not keys:
        raise ValueError(f"the key {old!r} in {file.name!r} cannot be renamed: fix the file first")
    source = SourceText(text, file)
    yield FileEdits(source, tuple(TextEdit(inside_quotes(source, key), new) for key in keys))


def _takes_samples(path: Path, file: Path, name: str) -> bool:
    """Return whether a prompt has its sample of an input in a file."""
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
    """Yield the heads of tables, and the keys of lines of JSON."""
    path = document.source.path
    assert path is not None
    file = read_experiment(document.source.text, path)
    for case in file.cases:
        if not isinstance(case, DatasetReference) or case.columns:
            continue
        rows = (path.parent / case.path).resolve()
        if not rows.is_relative_to(path.parent.resolve()) or rows.suffix != ".csv":
            continue
        try:
            text = read_bounded(rows).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        head = text.partition("\n")[0]
        found = re.search(rf"(?:^\ufeff?|,)\s*\"?(?P<name>{re.escape(old)})\"?\s*(?=,|\r|$)", head)
        if found is not None:
            span = Span(found.start("name"), found.end("name"))
            yield FileEdits(SourceText(text, rows), (TextEdit(span, new),))
