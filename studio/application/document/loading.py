"""Count the tokens of an agent file's parts, and say when a program loads each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from studio.core.prompty.document import PromptDocument
from studio.core.text.amounts import counted
from studio.core.text.files import read_bounded
from studio.core.tokens.tokenizers import Tokenizers

_LINK = re.compile(r"\]\((?!\w+:|#|/)([^)\s]+)\)|`((?:scripts|references|assets)/[\w./-]+)`")

_WHEN = {
    "skill": ("always", "when the skill is used"),
    "prompt-file": ("in the list of commands", "when it is called"),
    "custom-agent": ("in the list of agents", "with each request to this agent"),
    "claude-agent": ("in the list of agents", "with each request to this agent"),
    "claude-command": ("in the list of commands", "when it is called"),
    "agents": ("", "always, for files in its folder"),
    "dotprompt": ("", "when it is run"),
}
"""When the description is loaded, and when the body is."""


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
    first, then = _WHEN[document.agent_file]
    counter = Tokenizers().counter("")
    head = "\n".join(filter(None, (document.name, document.description)))
    body = document.source.slice(document.body).strip()
    parts = [LoadedPart(then, "body", body, counter.count(body))]
    if first and head:
        parts.insert(0, LoadedPart(first, "name and description", head, counter.count(head)))
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
