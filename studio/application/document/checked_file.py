"""A file that was checked: what is wrong with it, as other programs read it, and its fixes made.

Everything that can be found in a prompt without running it, for every door of the studio.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from studio.application.document.project_settings import CheckSettings, project_findings
from studio.application.document.reading import read_document
from studio.application.trust import references_of
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import evaluation_limits, failure
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.text.source import Problem, Severity, SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.message_rules import NAME_CHANGED
from studio.core.wire.request import NO_MESSAGE, message_problems, provider_of, to_request


def findings_of(
    document: PromptDocument, trust: TrustStore, settings: CheckSettings | None = None
) -> tuple[Problem, ...]:
    """Return the problems of a file, of its messages with samples, and of its provider.

    Args:
        document: the parsed file.
        trust: folders whose files and variables may be read.
        settings: which of them are told; None for what the file's project says.
    """
    found = document.problems
    try:
        project = project_findings(document, settings)
        if document.is_prompt:
            context = references_of(document.source.path, trust, masked=True)
            prepared = prepare(document, {}, references=context, preview=True)
            found = merged(found, prepared.problems, provider_problems(prepared))
        return project.reported(document, found)
    except Exception as error:  # noqa: BLE001 - the border to what others wrote: one file fails alone
        return merged(found, (failure(error),))


def provider_problems(prepared: Prepared) -> tuple[Problem, ...]:
    """Return the parts of the messages that the prompt's provider would not accept.

    Of a name that the template makes of values that are not known, nothing is said.
    """
    document = prepared.document
    model = document.model
    request = to_request(prepared.messages.messages, (), model, provider=provider_of(model))
    unknown = [each.span for each in document.variables if each.name not in prepared.inputs]
    found = tuple(
        item
        for item in message_problems(request)
        if item.code != NAME_CHANGED
        or not any(item.span.start <= each.start < item.span.end for each in unknown)
    )
    if prepared.messages.messages and not prepared.messages.threads:
        return found
    # A run brings the conversation; a prompt that is still empty asks for nothing yet.
    return tuple(item for item in found if item.code != NO_MESSAGE)


def merged(*lists: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return all problems in source order, each once."""
    unique = dict.fromkeys(problem for problems in lists for problem in problems)
    return tuple(sorted(unique, key=lambda problem: problem.span))


MOST_ROUNDS = 20
"""A fix may make room for the next; no file needs more."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The findings in one file."""

    source: SourceText
    """The file's text; empty for one that cannot be read."""

    problems: tuple[Problem, ...]
    """The findings, in source order."""


@evaluation_limits()
def check_text(
    text: str, path: Path | None, trust: TrustStore, settings: CheckSettings | None = None
) -> CheckedFile:
    """Check the text of a prompt file.

    Args:
        text: the text.
        path: its whole path; None for a text without a file.
        trust: folders whose files and variables may be read.
        settings: what is looked for and told; None for what the file's project says.
    """
    document = read_document(text, path)
    return CheckedFile(document.source, findings_of(document, trust, settings))


def unreadable(path: Path, reason: str) -> CheckedFile:
    """Return the finding that a file cannot be read, which leaves others as they are."""
    problem = Problem("file-unreadable", Severity.ERROR, reason, Span(0, 0))
    return CheckedFile(SourceText("", path), (problem,))


def fix_all(
    one: CheckedFile,
    trust: TrustStore,
    wanted: Callable[[Problem], bool],
    rounds: int = MOST_ROUNDS,
    settings: CheckSettings | None = None,
) -> tuple[CheckedFile, tuple[str, ...]]:
    """Make the first fix of each finding until none is left.

    Args:
        one: the file as it was checked.
        trust: folders whose files and variables may be read.
        wanted: which findings are fixed.
        rounds: how often what is left is looked at again.
        settings: what is looked for; None for what the file's project says.

    Returns:
        The file with its fixes made, and the titles of these in order.
    """
    made: list[str] = []
    for _ in range(rounds):
        text, titles = _with_fixes(one, wanted)
        if text == one.source.text:
            break
        made += titles
        one = check_text(text, one.source.path, trust, settings)
    return one, tuple(made)


def _with_fixes(one: CheckedFile, wanted: Callable[[Problem], bool]) -> tuple[str, list[str]]:
    """Return the text with each finding's first fix; overlapping ones wait for the next round."""
    edits: list[TextEdit] = []
    titles: list[str] = []
    for problem in one.problems:
        if not problem.fixes or not wanted(problem):
            continue
        tried = [*edits, *problem.fixes[0].edits]
        try:
            apply_edits(one.source.text, tried)
        except ValueError:
            continue
        edits = tried
        titles.append(problem.fixes[0].title)
    return apply_edits(one.source.text, edits), titles


def finding_as_json(one: CheckedFile, problem: Problem, file: str) -> dict[str, Json]:
    """Return a finding as `check --json` and the MCP server give it.

    Args:
        one: the file that it was found in.
        problem: the finding.
        file: what the file is called there.
    """
    start, end = one.source.position(problem.span.start), one.source.position(problem.span.end)
    return {
        "file": file,
        "line": start.line,
        "column": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "severity": str(problem.severity),
        "code": problem.code,
        "message": problem.message,
        "fixes": [fix.title for fix in problem.fixes],
    }
