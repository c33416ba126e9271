"""A conversation as plain text: ChatML, headings, or lines that begin with who speaks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.imports.compose import Composition, compose
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.markdown_document import read_markdown
from studio.core.prompty.messages import Message, Role, TextPart

_WORDS: dict[str, Role] = {
    "system": "system", "developer": "developer", "instruction": "user", "instructions": "system",
    "user": "user", "human": "user", "me": "user", "you": "user", "input": "user",
    "assistant": "assistant", "ai": "assistant", "bot": "assistant", "model": "assistant",
    "chatgpt": "assistant", "claude": "assistant", "gemini": "assistant", "copilot": "assistant",
    "response": "assistant",
}  # fmt: skip
_CHATML = re.compile(r"<\|im_start\|>[ \t]*(\w+)[^\n]*\n(.*?)(?:<\|im_end\|>|\Z)", re.DOTALL)
_LLAMA = re.compile(
    r"<\|start_header_id\|>[ \t]*(\w+)[ \t]*<\|end_header_id\|>\s*(.*?)"
    r"(?:<\|eot_id\|>|(?=<\|start_header_id\|>)|\Z)",
    re.DOTALL,
)
_ALL = "|".join(_WORDS)
_HEADING = re.compile(rf"(?im)^#{{1,6}}[ \t]+(?P<word>{_ALL})(?:[ \t]+said)?[ \t]*:?[ \t]*$")
_LINE = re.compile(
    rf"(?im)^[ \t>]*(?:\*\*|__)?(?P<word>{_ALL})(?:[ \t]+said)?(?:\*\*|__)?[ \t]*:(?:\*\*|__)?"
    r"(?:[ \t]+|$)"
)


def import_chat_text(text: str) -> Imported:
    """A conversation as a prompt file; a text with no speakers is one user message.

    Raises:
        ImportFailure: the text is empty.
    """
    if not text.strip():
        raise ImportFailure("The text is empty.")
    if "\x00" in text:
        raise ImportFailure("This is no text file.")
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    work = Composition()
    messages = list(read_markdown(text))
    form = "Markdown document of the studio" if messages else "chat text"
    if messages:
        work.notes.append("Inputs, tools and the model of the document are not read.")
    else:
        messages = list(_tagged(text)) or list(_marked(text))
    if not messages:
        form = "plain text"
        work.notes.append("Nothing says who speaks, so the whole text is one user message.")
        messages = [Message("user", (TextPart(text.strip("\n")),))]
    work.messages += messages
    return Imported(compose(work), form, tuple(work.notes))


def _tagged(text: str) -> Iterator[Message]:
    for pattern in (_CHATML, _LLAMA):
        found = list(pattern.finditer(text))
        if found:
            for item in found:
                content = item[2].strip("\n")
                role = _WORDS.get(item[1].lower(), "user")
                if content:
                    yield Message(role, (TextPart(content),))
            return


def _marked(text: str) -> Iterator[Message]:
    """Turns by headings, else by lines; the first line with text must be one, or there be two."""
    for pattern in (_HEADING, _LINE):
        found = list(pattern.finditer(text))
        first = text[: found[0].start()].strip() if found else ""
        if not found or (first and len(found) < 2):
            continue
        if first:
            yield Message("system", (TextPart(first),))
        for index, item in enumerate(found):
            end = found[index + 1].start() if index + 1 < len(found) else len(text)
            content = text[item.end() : end].strip()
            yield Message(
                _WORDS[item["word"].lower()], (TextPart(_unfenced(content)),) if content else ()
            )
        return


def _unfenced(text: str) -> str:
    """The text inside a fence that holds all of it, as the Markdown export writes messages."""
    fence = re.fullmatch(r"(`{3,}|~{3,})(?:text)?\n(.*)\n\1", text, re.DOTALL)
    return fence[2] if fence is not None and f"\n{fence[1]}\n" not in fence[2] else text
