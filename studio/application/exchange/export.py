"""Making an export: a text to look at, what was found, and what writing it would change."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from studio.application.words import translate
from studio.core.export.source import ExportValues, make_source
from studio.core.export.target import ExportResult, ExportSource, ExportTarget
from studio.core.export.targets import all_targets
from studio.core.export.written_keys import make_checked
from studio.core.imports.imported import experiment_path
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.reference_values import references_beside
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.diff import unified_diff
from studio.core.text.problem import Fix, Problem, TextEdit
from studio.core.text.values import Json, JsonObject

_tr = partial(translate, "Export")

_MOST_LINES = 4000


@dataclass(frozen=True, slots=True)
class ExportJob:
    """What an export is made from."""

    document: PromptDocument
    """The text as it is in the editor, parsed."""

    target: ExportTarget
    """The form wanted."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values given, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; None for those of the document."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets, by name; the proof goes through each."""

    base_url: str = ""
    """Address of the connection, for commands and scripts."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; of another no variable and no file is looked at."""


def targets() -> Sequence[ExportTarget]:
    """Every form, in the order of a list."""
    return all_targets()


def make_export(order: ExportJob) -> ExportResult:
    """Make the text. Never raises for any document, and never reads a secret."""
    made = make_checked(order.target, source_of(order))
    return replace(made, problems=with_fixes(made.problems, order.document))


def source_of(order: ExportJob) -> ExportSource:
    """The prompt with the values of the job: what its target makes the text of."""
    document = order.document
    # The connection speaks OpenAI's forms: its address and model say nothing of Anthropic's.
    is_other = order.target.name.endswith("anthropic")
    values = ExportValues(
        order.inputs, order.sets, order.tools,
        "" if is_other else order.base_url, "" if is_other else order.model,
        experiment_beside(document.source.path),
    )  # fmt: skip
    references = references_beside(document.source.path, trusted=order.trusted, masked=True)
    return make_source(document, order.target, values, references)


def experiment_beside(prompt: Path | None) -> JsonObject:
    """The experiment file of a prompt's own name as it is written; empty where there is none."""
    content = _bytes(experiment_path(prompt)) if prompt is not None else None
    value = read_yaml(content.decode("utf-8", "replace")).value if content is not None else None
    return value if isinstance(value, Mapping) else {}


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
    old, name = result.before, _tr("the prompt in the editor")
    if path is not None and path.is_file():
        if result.data is not None:
            same = _bytes(path) == result.data
            words = (
                _tr("the same bytes are there already")
                if same
                else _tr("other bytes are there now")
            )
            return Difference(f"{path.name}: {words}")
        content = _bytes(path)
        old = content.decode("utf-8", "replace") if content is not None else None
        name = _tr("{name} as it is now").format(name=path.name)
    if result.data is not None:
        return Difference(_tr("A new file"))
    if old is None:
        return Difference(_tr("A new file: every line is new"))
    if old.count("\n") + result.text.count("\n") > 2 * _MOST_LINES:
        return Difference(_tr("Too long to be compared with {name} here").format(name=name))
    if old == result.text:
        return Difference(_tr("Nothing differs from {name}").format(name=name))
    return Difference(_tr("Compared with {name}").format(name=name), old, result.text)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
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
