"""A file that was checked: what is wrong with it, as other programs read it, and its fixes made.

Everything that can be found in a prompt without running it, for every door of the studio.
"""

import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from studio.application.document.project_settings import CheckSettings, project_findings
from studio.application.trust import references_of
from studio.core.experiments.file.names import is_experiment
from studio.core.prompty.agent_files.read import KINDS, agent_file_kind, read_agent_file
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import (
    FAILURES,
    evaluation_limits,
    failure,
    forking,
    serve,
)
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.text.amounts import counted
from studio.core.text.files import read_bounded
from studio.core.text.source import Problem, Severity, SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import JsonDict
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.message_rules import NAME_CHANGED
from studio.core.wire.request import NO_MESSAGE, message_problems, provider_of, to_request


def not_a_prompt(path: Path, document: PromptDocument | None = None) -> str:
    """Return a sentence without its subject if a file is never taken for a prompt; else "".

    Args:
        path: the file.
        document: the file as it was read, if it was: whether it is data is known only then.
    """
    if path.suffix.lower() == ".py":
        return "is not a prompt (Python); `tools list` shows the tools in it"
    if is_experiment(path):
        return "is not a prompt (experiment); `check` checks it, and `experiment run` runs it"
    kind = agent_file_kind(path)
    if kind is not None:
        return (
            f"is not a prompt ({KINDS[kind].title}); `check` looks at it, and `messages` says what "
            "of it is loaded when"
        )
    if document is not None and document.is_data_file:
        return "is not a prompt (data): it has no front matter"
    return ""


def read_document(text: str, path: Path | None = None) -> PromptDocument:
    """Read a text. Never raises; what is wrong is in its `problems`.

    Args:
        text: the text.
        path: its file, which says what it is; an experiment's prompts and rows are looked at too.
    """
    try:
        kind = agent_file_kind(path)
        if path is not None and kind is not None:
            document = read_agent_file(text, path, kind)
            return replace(document, dialect_reason=loading_summary(document))
        if path is None or not is_experiment(path):
            return parse(text, path)
        from studio.application.experiments.text import read_experiment_document

        return read_experiment_document(text, path)
    except Exception as error:  # noqa: BLE001 - the border to what others wrote: one file fails alone
        return unread(text, path, failure(error))


def unread(text: str, path: Path | None, problem: Problem) -> PromptDocument:
    """Return a text of which nothing is read, with the reason."""
    return PromptDocument(SourceText(text, path), body=Span(0, 0), problems=(problem,))


# Count the tokens of an agent file's parts, and say when a program loads each.


_LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s]+)\)|`((?:scripts|references|assets)/[\w./-]+)`")


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """A part of an agent file, or a file beside it."""

    when: str
    """When a program gives it to its model."""

    what: str
    """Name of the part: its key, "body", or a path."""

    text: str
    """Its text; empty for a file that is only named."""

    tokens: int
    """Tokens, estimated: each program has models of its own."""


def loaded_parts(document: PromptDocument) -> tuple[LoadedPart, ...]:
    """Return the parts of an agent file in the order they are loaded; none of any other file."""
    if not document.agent_file:
        return ()
    from studio.core.tokens.tokenizers import Tokenizers  # only an agent file needs it

    row = KINDS[document.agent_file]
    counter = Tokenizers().counter("")
    head = "\n".join(filter(None, (document.name, document.description)))
    body = document.source.slice(document.body).strip()
    parts = [LoadedPart(row.loaded, "body", body, counter.count(body))]
    if row.listed and head:
        parts.insert(0, LoadedPart(row.listed, "name and description", head, counter.count(head)))
    for path in _named_files(document, body):
        try:
            text = read_bounded(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        parts.append(LoadedPart("when it is read", path.name, "", counter.count(text)))
    return tuple(parts)


def loading_summary(document: PromptDocument) -> str:
    """Return when the document's parts are loaded, in one line."""
    lines = (
        f"{part.when}: about {counted(part.tokens, 'token')}" for part in loaded_parts(document)
    )
    return "; ".join((document.dialect_reason, *lines))


def _named_files(document: PromptDocument, body: str) -> list[Path]:
    """Return the files beside a skill that its body names, and that are there."""
    path = document.source.path
    if path is None or document.agent_file != "skill":
        return []
    folder = path.parent.resolve()
    names = dict.fromkeys(found[1] or found[2] for found in _LINK.finditer(body))
    files = ((folder / name.partition("#")[0]).resolve() for name in names)
    return [file for file in files if file.is_relative_to(folder) and file.is_file()]


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


Trial: TypeAlias = Callable[[Sequence[tuple[str, Path | None]]], list[Problem | None]]
"""Checks texts with their paths apart; gives the failure that ends each, None for any other."""


def no_trial(items: Sequence[tuple[str, Path | None]]) -> list[Problem | None]:
    """Return no failure of any text, without a look at it."""
    return [None for _ in items]


def trials() -> Trial:
    """Start a process in which texts are checked before this one reads them, where it can fork."""
    if sys.platform == "win32" or threading.active_count() > 1:
        return no_trial
    ask, known = forking(_failure_of, lambda _, problem: problem), dict[int, Problem | None]()

    def failures_of(items: Sequence[tuple[str, Path | None]]) -> list[Problem | None]:
        new = [item for item in items if hash(item) not in known]
        known.update(zip(map(hash, new), ask(new) if new else (), strict=True))
        return [known[hash(item)] for item in items]

    return failures_of


def serve_trials() -> None:
    """Check the texts that the window sends over standard input, each in a child."""
    # A child is as warm as its parent: what a check imports late was half of its time.
    _failure_of(
        ("---\nname: x\ninputs: {a: string}\n---\nuser:\n{{ a }}{% if a %}b{% endif %}\n", None)
    )
    serve(socket.socket(fileno=os.dup(0)), _failure_of, lambda _, problem: problem)


def _failure_of(item: tuple[str, Path | None]) -> Problem | None:
    found = check_text(*item, TrustStore()).problems
    # An error that the check has caught leaves its other findings.
    bounds = {*FAILURES} - {"crash"}
    return next((each for each in found if each.code in bounds), None)


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


def finding_as_json(one: CheckedFile, problem: Problem, file: str) -> JsonDict:
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
