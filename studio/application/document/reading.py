"""A text as its file's kind: a prompt, a file of tools, an experiment, a file of agents."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from studio.core.experiments.file.names import is_experiment
from studio.core.prompty.agent_files.read import TITLES, agent_file_kind, read_agent_file
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import failure
from studio.core.prompty.parse import parse
from studio.core.text.amounts import counted
from studio.core.text.files import read_bounded
from studio.core.text.source import SourceText, Span


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
            f"is not a prompt ({TITLES[kind]}); `check` looks at it, and `messages` says what of "
            "it is loaded when"
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
        whole = Span(0, len(text))
        return PromptDocument(SourceText(text, path), body=whole, problems=(failure(error),))


# Count the tokens of an agent file's parts, and say when a program loads each.


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
    from studio.core.tokens.tokenizers import Tokenizers  # only an agent file needs it

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
