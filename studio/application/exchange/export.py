"""Make an export: its text, its problems, and the difference from the existing file."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.words import tr
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, make_checked
from studio.core.export.targets import all_targets
from studio.core.paths import resource_text
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.reference_values import references_beside
from studio.core.text.diff import unified_diff
from studio.core.text.files import read_bounded
from studio.core.text.source import Fix, Problem, TextEdit

_MOST_LINES = 4000


def targets() -> Sequence[ExportTarget]:
    """Return all targets, in the order of lists."""
    return all_targets()


def make_export(target: ExportTarget, source: ExportSource) -> ExportResult:
    """Make an export. Never raises for any document, and never reads a secret."""
    made = make_checked(target, source_for(target, source))
    return replace(made, problems=with_fixes(made.problems, source.document))


def source_for(target: ExportTarget, source: ExportSource) -> ExportSource:
    """Return the source for a target, with the references of the prompt's folder if trusted."""
    trusted = source.references is None or source.references.trusted
    references = references_beside(source.document.source.path, trusted=trusted, masked=True)
    return replace(source, references=references).for_target(target)


@dataclass(frozen=True, slots=True)
class Difference:
    """Two texts to compare, with a label for the user."""

    against: str
    """Name of the compared text, or why there is none."""

    before: str = ""
    """The older text; both texts are empty if they are equal, or there is none to compare with."""

    after: str = ""
    """Text that will be written."""

    @property
    def text(self) -> str:
        """A unified diff without file names."""
        return unified_diff(self.before, self.after)


def difference(result: ExportResult, path: Path | None) -> Difference:
    """Return the difference from the existing file, or from the prompt if there is none."""
    old, name = result.before, tr("the prompt in the editor")
    if path is not None and path.is_file():
        if result.data is not None:
            same = _bytes(path) == result.data
            words = (
                tr("the file already has this content")
                if same
                else tr("the file now has other content")
            )
            return Difference(f"{path.name}: {words}")
        content = _bytes(path)
        old = content.decode("utf-8", "replace") if content is not None else None
        name = tr("current {name}").format(name=path.name)
    if result.data is not None:
        return Difference(tr("A new file"))
    if old is None:
        return Difference(tr("A new file: every line is new"))
    if old.count("\n") + result.text.count("\n") > 2 * _MOST_LINES:
        return Difference(tr("Too long to compare with {name} here").format(name=name))
    if old == result.text:
        return Difference(tr("No differences from {name}").format(name=name))
    return Difference(tr("Compared with {name}").format(name=name), old, result.text)


def _bytes(path: Path) -> bytes | None:
    try:
        return read_bounded(path)
    except OSError:
        return None


Edits: TypeAlias = tuple[TextEdit, ...]


def with_fixes(problems: Iterable[Problem], document: PromptDocument) -> tuple[Problem, ...]:
    """Return the problems, with fixes from the document's own problems."""
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


# The programs that read exports: their requirements and scripts.

JudgeName: TypeAlias = Literal[
    "prompty", "prompty1", "langchain", "agent-framework", "promptfoo", "python", "curl"
]
"""Program that can verify an export."""


class NoJudgeError(Exception):
    """Raised when the program is missing or gives no answer; the text says what to do."""


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """A program that reads exports."""

    forms: tuple[str, ...]
    """Names of the targets that it reads."""

    package: str = ""
    """Python package whose version is shown; empty for other programs."""

    wanted: str = ""
    """Requirement for pip."""

    newest: str = ""
    """Prefix of the accepted versions; empty for all."""

    script: str = ""
    """Name of the script with `prepare()` and `ask(path, values)`, which makes the request."""

    suffix: str = ".py"
    """Suffix of the file for a Python package."""


PROGRAMS: Mapping[JudgeName, ForeignProgram] = {
    "prompty": ForeignProgram(
        ("prompty",), "prompty", "prompty[jinja2,openai]>=2.1", "2.", "prompty2", ".prompty"
    ),
    "prompty1": ForeignProgram(
        ("legacy",), "prompty", "prompty==0.1.50", "0.", "prompty1", ".prompty"
    ),
    "langchain": ForeignProgram(
        ("langchain",), "langchain-openai", "langchain-openai jinja2", "", "langchain"
    ),
    "agent-framework": ForeignProgram(
        ("agentschema",),
        "agent-framework-declarative",
        "agent-framework-declarative agent-framework-openai",
        "",
        "agent_framework",
        ".yaml",
    ),
    "promptfoo": ForeignProgram(("promptfoo",)),
    "python": ForeignProgram(("python",), "openai", "openai jinja2 chevron", "", "script"),
    "curl": ForeignProgram(("curl-openai-chat", "curl-openai-responses", "curl-anthropic")),
}
"""All programs, by the name for `--run-in`."""


def python_source(program: ForeignProgram) -> str:
    """Return the Python code that runs a program."""
    parts = ("redirect", program.script, "rounds")
    return "".join(judge_script(f"{part}.py.txt") for part in parts)


def judge_script(name: str) -> str:
    """Return a script that makes another program send its request to the recorder."""
    return resource_text("export", "judges", name)
