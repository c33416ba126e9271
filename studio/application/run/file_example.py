"""A reply that the person approved, kept in the prompt file as an example (few-shot)."""

from __future__ import annotations

from studio.application.run.file_edits import NotInFileError, has_template_code
from studio.core.prompty.body.roles import read_marker
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span


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
