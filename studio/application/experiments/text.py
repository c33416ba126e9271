"""An experiment file as an editor's document, with entries and problems."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from studio.application.experiments.prompts import (
    ExperimentError,
    Folder,
    documents_of,
    inputs_read,
)
from studio.core.experiments.datasets import dataset_columns
from studio.core.experiments.file.read import read_experiment
from studio.core.experiments.values import (
    DatasetReference,
    ExperimentCase,
    ExperimentFile,
    PromptEntry,
)
from studio.core.prompty.document import FrontMatterEntry, InputDeclaration, PromptDocument
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.files import files_beside
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, SourceText, Span, TextEdit
from studio.core.text.values import KeyPath
from studio.core.tools.trust.store import TrustStore

_MOST_VALUES = 2000
_READ_ANYWHERE = frozenset(("expected", "output", "context"))


def read_experiment_document(text: str, path: Path) -> PromptDocument:
    """Read an experiment, with the prompts and rows that it names.

    Args:
        text: the text, which may be unsaved.
        path: path of the file.
    """
    file = read_experiment(text, path)
    reading = read_yaml(text)
    data = reading.value if isinstance(reading.value, Mapping) else {}
    found = [*file.problems, *_looked_up(file, reading.entries, path)]
    return PromptDocument(
        SourceText(text, path),
        dialect_reason="an experiment",
        body=Span(len(text), len(text)),
        data=data,
        entries=reading.entries,
        problems=tuple(sorted(dict.fromkeys(found), key=lambda each: each.span)),
        is_experiment=True,
    )


def prompts_of(document: PromptDocument) -> tuple[PromptDocument, ...]:
    """Return an experiment's readable prompts, without earlier revisions."""
    path = document.source.path
    if path is None:
        return ()
    file = read_experiment(document.source.text, path)
    folder = Folder(path, TrustStore())
    made: list[PromptDocument] = []
    for entry in _entries(file):
        try:
            made += [found for _, found in documents_of(entry, folder)]
        except ExperimentError:
            continue
    return tuple(made)


def inputs_of(document: PromptDocument) -> dict[str, InputDeclaration | None]:
    """Return the inputs of the prompts by name; None for one that is used but not declared."""
    made: dict[str, InputDeclaration | None] = {}
    for prompt in prompts_of(document):
        for name in sorted(inputs_read(prompt)):
            made[name] = made.get(name) or prompt.input(name)
    return made


def variants_of(document: PromptDocument) -> tuple[str, ...]:
    """Return the names of the variants."""
    file = read_experiment(document.source.text, document.source.path)
    return tuple(each.name for each in file.variants)


def _entries(file: ExperimentFile) -> list[PromptEntry]:
    """Return each prompt once, without git revisions."""
    prompts = (each.prompt for each in file.variants if not each.prompt.revision)
    return list({(each.span, each.id, each.label): each for each in prompts}.values())


# Problems -----------------------------------------------------------------------------------------


def _looked_up(
    file: ExperimentFile, entries: tuple[FrontMatterEntry, ...], path: Path
) -> Iterator[Problem]:
    folder = Folder(path, TrustStore())
    found: list[PromptDocument] = []
    is_sure = all(not each.prompt.revision for each in file.variants) and bool(file.variants)
    for entry in _entries(file):
        try:
            found += [made for _, made in documents_of(entry, folder)]
        except ExperimentError as error:
            is_sure = False
            yield _missing(file, path, entry.id, entry.span, str(error))
    for case in file.cases:
        if isinstance(case, DatasetReference) and "*" not in case.path:
            try:
                folder.find(case.path)
            except ExperimentError as error:
                yield _missing(file, path, case.path, case.span, str(error))
    yield from _unknown_baseline(file, entries)
    if is_sure and found:
        yield from _values(file, entries, found)


def _missing(file: ExperimentFile, path: Path, name: str, span: Span, message: str) -> Problem:
    """Report a missing file, with the one that is probably meant."""
    fixes: list[Fix] = []
    if not (path.parent / name).is_file():
        near = nearest(name, files_beside(path))
        at = file.source.slice(span).find(name)
        if near and at >= 0:
            start = span.start + at
            edit = TextEdit(Span(start, start + len(name)), near)
            fixes.append(Fix(f"Write {near!r}", (edit,)))
    return Problem("experiment-file", Severity.ERROR, message, span, tuple(fixes))


def _unknown_baseline(
    file: ExperimentFile, entries: tuple[FrontMatterEntry, ...]
) -> Iterator[Problem]:
    """Report a baseline similar to a variant's name; others may name earlier results."""
    names = [each.name for each in file.variants]
    entry = next((each for each in entries if each.path == ("baseline",)), None)
    if entry is None or not file.baseline or file.baseline in names:
        return
    near = nearest(file.baseline, names)
    if near:
        yield Problem(
            "experiment-baseline",
            Severity.WARNING,
            f"There is no variant {file.baseline!r}. Did you mean {near!r}?",
            entry.value,
            (Fix(f"Write {near!r}", (TextEdit(entry.value, near),)),),
        )


def _values(
    file: ExperimentFile, entries: tuple[FrontMatterEntry, ...], prompts: list[PromptDocument]
) -> Iterator[Problem]:
    """Report values that no prompt uses, and rows without a value that a prompt needs."""
    read = frozenset(name for each in prompts for name in inputs_read(each))
    spoken = "\n".join(
        file.source.slice(each.value) for each in entries if "assert" in map(str, each.path)
    )
    for entry in entries[:_MOST_VALUES]:
        if not is_value_name(entry.path):
            continue
        name = str(entry.path[-1])
        if name in read or name in _READ_ANYWHERE or name in spoken:
            continue
        near = nearest(name, sorted(read))
        meant = f" Did you mean {near!r}?" if near else ""
        fixes = (Fix(f"Write {near!r}", (TextEdit(entry.key, near),)),) if near else ()
        message = f"No prompt reads {name!r}.{meant}"
        yield Problem("experiment-value-unread", Severity.WARNING, message, entry.key, fixes)
    needed = {
        item.name
        for each in prompts
        for item in each.inputs
        if item.required and not item.has_default
    }
    if file.default_file is not None or file.default.files:
        return  # the values for every row are in another file
    given = set(file.default.variables)
    files = [
        each.span.start
        for case in file.cases
        if isinstance(case, ExperimentCase)
        for each in case.files
    ]
    for entry in entries[:_MOST_VALUES]:
        if len(entry.path) != 2 or entry.path[0] != "tests":
            continue
        own = {
            str(each.path[3])
            for each in entries
            if each.path[:2] == entry.path and each.path[2:3] == ("vars",) and len(each.path) == 4
        }
        values = next((each for each in entries if each.path == (*entry.path, "vars")), None)
        if values is None or any(values.value.start <= at <= values.value.end for at in files):
            continue
        for name in sorted(needed - own - given):
            message = f"The row has no value for the input {name!r}."
            yield Problem("experiment-value-missing", Severity.ERROR, message, values.key)


def is_value_name(path: KeyPath) -> bool:
    """Return whether a path is that of a value of a row: `tests.0.vars.question`."""
    at_row = path[:1] in (("tests",), ("defaultTest",), ("scenarios",))
    return at_row and len(path) >= 3 and path[-2] == "vars" and isinstance(path[-1], str)


def columns_of(document: PromptDocument) -> tuple[str, ...]:
    """Return the columns in the readable files of rows."""
    path = document.source.path
    if path is None:
        return ()
    file, folder = read_experiment(document.source.text, path), Folder(path, TrustStore())
    made: list[str] = []
    for case in file.cases:
        if isinstance(case, DatasetReference) and "*" not in case.path:
            try:
                made += dataset_columns(case, folder.find(case.path))
            except ExperimentError:
                continue
    return tuple(dict.fromkeys(made))
