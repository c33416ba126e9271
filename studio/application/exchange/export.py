"""Making an export: a text to look at, what was found, and what writing it would change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from studio.application.words import tr
from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.export.targets import all_targets
from studio.core.export.written_keys import make_checked
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.reference_values import references_beside
from studio.core.text.bounded_file import read_bounded
from studio.core.text.diff import unified_diff
from studio.core.text.problem import Fix, Problem, TextEdit

_MOST_LINES = 4000


def targets() -> Sequence[ExportTarget]:
    """Every form, in the order of a list."""
    return all_targets()


def make_export(target: ExportTarget, source: ExportSource) -> ExportResult:
    """Make the text. Never raises for any document, and never reads a secret."""
    made = make_checked(target, source_for(target, source))
    return replace(made, problems=with_fixes(made.problems, source.document))


def source_for(target: ExportTarget, source: ExportSource) -> ExportSource:
    """Return what a target gets, with the references of the prompt's folder if it is trusted."""
    trusted = source.references is None or source.references.trusted
    references = references_beside(source.document.source.path, trusted=trusted, masked=True)
    return replace(source, references=references).for_target(target)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts to be compared, for people."""

    against: str
    """What is compared with, or why nothing is."""

    before: str = ""
    """The older text; both are empty where nothing differs, or there is nothing to compare with."""

    after: str = ""
    """What will be written."""

    @property
    def text(self) -> str:
        """A unified diff without the names of files."""
        return unified_diff(self.before, self.after)


def difference(result: ExportResult, path: Path | None) -> Difference:
    """What writing the file would change: of the file that is there, otherwise of the prompt."""
    old, name = result.before, tr("the prompt in the editor")
    if path is not None and path.is_file():
        if result.data is not None:
            same = _bytes(path) == result.data
            words = (
                tr("the same bytes are there already") if same else tr("other bytes are there now")
            )
            return Difference(f"{path.name}: {words}")
        content = _bytes(path)
        old = content.decode("utf-8", "replace") if content is not None else None
        name = tr("{name} as it is now").format(name=path.name)
    if result.data is not None:
        return Difference(tr("A new file"))
    if old is None:
        return Difference(tr("A new file: every line is new"))
    if old.count("\n") + result.text.count("\n") > 2 * _MOST_LINES:
        return Difference(tr("Too long to be compared with {name} here").format(name=name))
    if old == result.text:
        return Difference(tr("Nothing differs from {name}").format(name=name))
    return Difference(tr("Compared with {name}").format(name=name), old, result.text)


def _bytes(path: Path) -> bytes | None:
    try:
        return read_bounded(path)
    except OSError:
        return None


Edits: TypeAlias = tuple[TextEdit, ...]


def with_fixes(problems: Iterable[Problem], document: PromptDocument) -> tuple[Problem, ...]:
    """The problems, with a fix where the document itself shows the way."""
    return tuple(
        replace(problem, fixes=(*problem.fixes, *_fixes(problem, document))) for problem in problems
    )


def _fixes(problem: Problem, document: PromptDocument) -> Iterator[Fix]:
    if problem.code != "missing-input":
        return
    for index, item in enumerate(document.inputs):
        if item.has_sample and problem.span in (item.name_span, item.span):
            edits = keeping_dialect(document, _default(document, item, index))
            if edits:
                yield Fix(f"Make the sample of {item.name!r} its default", edits)


def _default(document: PromptDocument, item: InputDeclaration, index: int) -> Edits:
    written = json.dumps(item.sample, ensure_ascii=False)
    if isinstance(document.data.get("inputs"), list):
        return set_value(document, ("inputs", index, "default"), written)
    return set_value(document, ("inputs", item.name, "default"), written)
