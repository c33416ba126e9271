"""An edit of what a run sends, carried over to the prompt file it was made from.

Only whole lines that stand in the file exactly as they were sent can be carried over: a line that
was made from a value is not the file's to change.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from studio.application.run.edits.in_place import EditResult, EditSpec
from studio.application.words import tr
from studio.core.agent.values.state import RunState
from studio.core.prompty.body.sections import read_marker
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import Message
from studio.core.prompty.parse import parse
from studio.core.text.diff import common_ends
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span

_TEMPLATE_MARK = re.compile(r"\{\{|\{%|\{#")


class NotInFileError(ValueError):
    """An edit that the file cannot take; the text says why, for the user."""


def edits_to_keep(
    document: PromptDocument, text: str, spec: EditSpec, result: EditResult, state: RunState
) -> tuple[TextEdit, ...]:
    """The edits to the file by which an edit at a pause outlasts its run.

    Args:
        document: the prompt of the editor, as it was read last.
        text: what stands in the editor now.
        spec: what was edited: messages, which change in the file too, or a reply, which is kept
            there as an example.
        result: what the user wrote.
        state: the run at the pause.

    Raises:
        NotInFileError: it is not the run's file, or cannot take it; nothing is changed then.
    """
    if str(document.source.path or "") != state.setup.path:
        raise NotInFileError(tr("another prompt is open."))
    if document.source.text != text:
        raise NotInFileError(tr("it is being written in. Try again."))
    if spec.kind == "messages":
        return file_edits(document, spec.messages, result.messages)
    return (example_edit(document, _question(state), result.text),)


def _question(state: RunState) -> str:
    """The user's message as the first request had it."""
    first = state.steps[0] if state.steps else state.step
    sent = first.messages or state.conversation[: first.sent]
    asked = [message.text for message in sent if message.role == "user"]
    return asked[-1] if asked else state.setup.question


def file_edits(
    document: PromptDocument, before: Sequence[Message], after: Sequence[Message]
) -> tuple[TextEdit, ...]:
    """The edits to the file that send the changed messages from now on.

    Args:
        document: the prompt, as it stands in the editor.
        before: the messages as the run made them.
        after: the messages as the user left them.

    Raises:
        NotInFileError: a change cannot be carried over; then none is.
    """
    if len(before) != len(after):
        raise NotInFileError("Messages that were added or removed stay in this run only.")
    edits: list[TextEdit] = []
    for one, other in zip(before, after, strict=True):
        if one.role != other.role:
            raise NotInFileError("A changed role stays in this run only.")
        if one.text != other.text:
            edits.append(_edit(document, one.text, other.text))
    edits.sort(key=lambda edit: edit.span.start)
    for first, second in pairwise(edits):
        if first.span.end > second.span.start:
            raise NotInFileError("Two changes are made to the same line of the file.")
    return tuple(edits)


def _edit(document: PromptDocument, before: str, after: str) -> TextEdit:
    """One edit that makes a text the other, where its lines stand once in the body."""
    old, new = before.split("\n"), after.split("\n")
    shortest = min(len(old), len(new))
    first, last = common_ends(old, new)
    if first + last == shortest:  # lines only came or went: a neighbour goes with their line end
        first, last = (first - 1, last) if first else (first, last - 1)
    gone = "\n".join(old[first : len(old) - last])
    come = "\n".join(new[first : len(new) - last])
    if len(_TEMPLATE_MARK.findall(come)) > len(_TEMPLATE_MARK.findall(gone)):
        raise NotInFileError("What you wrote would be read as template code in the file.")
    return TextEdit(_only_place(document, gone), come)


def has_template_code(text: str) -> bool:
    """Whether a text would be read as template code in a file."""
    return _TEMPLATE_MARK.search(text) is not None


def _only_place(document: PromptDocument, lines: str) -> Span:
    """Where whole lines stand in the body.

    Raises:
        NotInFileError: nowhere, or more than once.
    """
    body = document.body
    text = document.source.text[body.start : body.end]
    shown = lines.strip()[:40]
    places = [
        found.start(1)
        for found in re.finditer(rf"(?:^|(?<=\n))({re.escape(lines)})(?=\n|\r|$)", text)
    ]
    if not lines.strip() or not places:
        raise NotInFileError(
            f"“{shown}” is made from a value or stands differently in the file."
            if shown
            else "An empty line says nothing of where it stands in the file."
        )
    if len(places) > 1:
        raise NotInFileError(f"“{shown}” stands {len(places)} times in the file.")
    start = body.start + places[0]
    return Span(start, start + len(lines))


def example_edit(document: PromptDocument, question: str, reply: str) -> TextEdit:
    """The edit that puts a question and its reply before the prompt's own last question.

    Args:
        document: the prompt, as it stands in the editor.
        question: what the user asked.
        reply: what the model should have said.

    Raises:
        NotInFileError: the file cannot take it; says why.
    """
    if not question.strip() or not reply.strip():
        raise NotInFileError("an example needs a question and a reply.")
    for text in (question, reply):
        if has_template_code(text):
            raise NotInFileError("what it says would be read as template code in the file.")
        if any(read_marker(line, document.dialect) is not None for line in text.splitlines()):
            raise NotInFileError("one of its lines would begin a message in the file.")
    last = next((one for one in reversed(document.sections) if one.role == "user"), None)
    if last is None or last.marker is None:
        raise NotInFileError("no user message stands in the file to put it before.")
    at = last.marker.start
    written = f"user:\n{question.strip()}\n\nassistant:\n{reply.strip()}\n\n"
    edit = TextEdit(Span(at, at), written)
    text = document.source.text
    after = parse(text[:at] + edit.text + text[at:], document.source.path)
    if len(after.sections) != len(document.sections) + 2:
        raise NotInFileError("it would not be read as messages there.")
    return edit
