"""Check a file: its problems, its data for other programs, and its fixes.

It finds everything that can be found in a prompt without running it, for all interfaces of the
studio.
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
    """Return a sentence without subject if a file is never read as a prompt; else "".

    Args:
        path: the file.
        document: the file as read, if it was read: only then it is known whether it is data.
    """
    if path.suffix.lower() == ".py":
        return "is not a prompt (Python); `tools list` shows the tools in it"
    if is_experiment(path):
        return "is not a prompt (experiment); `check` checks it, and `experiment run` runs it"
    kind = agent_file_kind(path)
    if kind is not None:
        return (
            f"is not a prompt ({KINDS[kind].title}); `check` checks it, and `messages` shows when "
            "its parts are loaded"
        )
    if document is not None and document.is_data_file:
        return "is not a prompt (data): it has no front matter"
    return ""


def read_document(text: str, path: Path | None = None) -> PromptDocument:
    """Read a text. Never raises; errors are in `problems`.

    Args:
        text: the text.
        path: path of the file, which decides its kind; for an experiment, its prompts and rows are
            checked too.
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
    """Return an unread text with the reason."""
    return PromptDocument(SourceText(text, path), body=Span(0, 0), problems=(problem,))


# Counts the tokens of an agent file's parts, with the time at which each is loaded.


_LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s]+)\)|`((?:scripts|references|assets)/[\w./-]+)`")


@dataclass(frozen=True, slots=True)
class LoadedPart:
    """A part of an agent file, or a file beside it."""

    when: str
    """When a program sends it to its model."""

    what: str
    """Name of the part: its key, "body", or a path."""

    text: str
    """Text of the part; empty for a file that is only named."""

    tokens: int
    """Estimated tokens, since each program has different models."""


def loaded_parts(document: PromptDocument) -> tuple[LoadedPart, ...]:
    """Return the parts of an agent file in loading order; empty for other files."""
    if not document.agent_file:
        return ()
    from studio.core.tokens.tokenizers import Tokenizers  # only for agent files

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
    """Return when the document's parts are loaded, on one line."""
    lines = (
        f"{part.when}: about {counted(part.tokens, 'token')}" for part in loaded_parts(document)
    )
    return "; ".join((document.dialect_reason, *lines))


def _named_files(document: PromptDocument, body: str) -> list[Path]:
    """Return the existing files beside a skill that its body names."""
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
    """Return the problems of a file, of its messages with samples, and for its provider.

    Args:
        document: the parsed file.
        trust: folders whose files and variables may be read.
        settings: which problems to report; None for the project's settings.
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
    """Return the problems of messages that the prompt's provider would reject.

    Names that depend on unknown values are not reported.
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
    # A run adds the conversation; an empty prompt has no request yet.
    return tuple(item for item in found if item.code != NO_MESSAGE)


def merged(*lists: Sequence[Problem]) -> tuple[Problem, ...]:
    """Return all problems in source order, each once."""
    unique = dict.fromkeys(problem for problems in lists for problem in problems)
    return tuple(sorted(unique, key=lambda problem: problem.span))


MOST_ROUNDS = 20
"""Maximum number of rounds, since a fix may enable another one; no file needs more."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """The problems of one file."""

    source: SourceText
    """Text of the file; empty if it is unreadable."""

    problems: tuple[Problem, ...]
    """Problems, in source order."""


@evaluation_limits()
def check_text(
    text: str, path: Path | None, trust: TrustStore, settings: CheckSettings | None = None
) -> CheckedFile:
    """Check the text of a prompt file.

    Args:
        text: the text.
        path: absolute path; None for a text without a file.
        trust: folders whose files and variables may be read.
        settings: which problems to find and report; None for the project's settings.
    """
    document = read_document(text, path)
    return CheckedFile(document.source, findings_of(document, trust, settings))


Trial: TypeAlias = Callable[[Sequence[tuple[str, Path | None]]], list[Problem | None]]
"""Function that checks texts with their paths in separate processes; returns the failure of each,
or None.
"""


def no_trial(items: Sequence[tuple[str, Path | None]]) -> list[Problem | None]:
    """Return None for each text without checking it."""
    return [None for _ in items]


def trials() -> Trial:
    """Start a process that checks texts before this one reads them, if the system can fork."""
    if sys.platform == "win32" or threading.active_count() > 1:
        return no_trial
    ask, known = forking(_failure_of, lambda _, problem: problem), dict[int, Problem | None]()

    def failures_of(items: Sequence[tuple[str, Path | None]]) -> list[Problem | None]:
        new = [item for item in items if hash(item) not in known]
        known.update(zip(map(hash, new), ask(new) if new else (), strict=True))
        return [known[hash(item)] for item in items]

    return failures_of


def serve_trials() -> None:
    """Check the texts that the window sends over stdin, each in a child process."""
    # A child inherits its parent's imports: the late imports of a check took half of its time.
    _failure_of(
        ("---\nname: x\ninputs: {a: string}\n---\nuser:\n{{ a }}{% if a %}b{% endif %}\n", None)
    )
    serve(socket.socket(fileno=os.dup(0)), _failure_of, lambda _, problem: problem)


def _failure_of(item: tuple[str, Path | None]) -> Problem | None:
    found = check_text(*item, TrustStore()).problems
    # An error caught by the check does not affect its other problems.
    bounds = {*FAILURES} - {"crash"}
    return next((each for each in found if each.code in bounds), None)


def unreadable(path: Path, reason: str) -> CheckedFile:
    """Return the problem of an unreadable file, which does not affect others."""
    problem = Problem("file-unreadable", Severity.ERROR, reason, Span(0, 0))
    return CheckedFile(SourceText("", path), (problem,))


def fix_all(
    one: CheckedFile,
    trust: TrustStore,
    wanted: Callable[[Problem], bool],
    rounds: int = MOST_ROUNDS,
    settings: CheckSettings | None = None,
) -> tuple[CheckedFile, tuple[str, ...]]:
    """Apply the first fix of each problem until none is left.

    Args:
        one: the checked file.
        trust: folders whose files and variables may be read.
        wanted: returns whether to fix a problem.
        rounds: maximum number of rounds.
        settings: which problems to find; None for the project's settings.

    Returns:
        The fixed file, and the titles of the fixes in order.
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
    """Return a problem in the form of `check --json` and the MCP server.

    Args:
        one: the file with the problem.
        problem: the problem.
        file: name of the file in the output.
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
