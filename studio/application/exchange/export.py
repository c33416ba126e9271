"""Making an export: a text to look at, what was found, and what writing it would change."""

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
    """Return every form, in the order of a list."""
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
    """Name of the other side of the comparison, or why there is none."""

    before: str = ""
    """The older text; both are empty where nothing differs, or there is nothing to compare with."""

    after: str = ""
    """Text that will be written."""

    @property
    def text(self) -> str:
        """A unified diff without the names of files."""
        return unified_diff(self.before, self.after)


def difference(result: ExportResult, path: Path | None) -> Difference:
    """Compare the export with the existing file, or with the prompt if there is none."""
    old, name = result.before, tr("the prompt in the editor")
    if path is not None and path.is_file():
        if result.data is not None:
            same = _bytes(path) == result.data
            words = (
                tr("the file has this content already")
                if same
                else tr("the file has other content now")
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
    """Return the problems, with a fix where the document itself shows the way."""
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


# The programs that read exports: what they need, and how they are asked to send the request.

JudgeName: TypeAlias = Literal[
    "prompty", "prompty1", "langchain", "agent-framework", "promptfoo", "python", "curl"
]
"""Programs that can be asked."""


class NoJudgeError(Exception):
    """The program is not there, or gave no answer; the text says what to do."""


@dataclass(frozen=True, slots=True)
class ForeignProgram:
    """A program that reads exports."""

    forms: tuple[str, ...]
    """Names of the export forms that it reads."""

    package: str = ""
    """Python package whose version is shown; empty for other programs."""

    wanted: str = ""
    """Requirement that pip installs it by."""

    newest: str = ""
    """Beginning of the versions that are taken; empty for all."""

    script: str = ""
    """Name of the script with `prepare()` and `ask(path, values)`, which makes the request."""

    suffix: str = ".py"
    """Name ending of the file, for a package of Python."""


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
"""Every program that can be asked, by the name that `--run-in` takes."""


def python_source(program: ForeignProgram) -> str:
    """Return the code that a Python runs to ask a program."""
    parts = ("redirect", program.script, "rounds")
    return "".join(judge_script(f"{part}.py.txt") for part in parts)


def judge_script(name: str) -> str:
    """Return a script that makes another program send its request to the recorder."""
    return resource_text("export", "judges", name)
