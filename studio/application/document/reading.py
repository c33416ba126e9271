"""A text as its file's kind: a prompt, a file of tools, an experiment, a file of agents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.core.experiments.file.names import is_experiment
from studio.core.prompty.agent_files.read import TITLES, agent_file_kind, read_agent_file
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import failure
from studio.core.prompty.parse import parse
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
            from studio.application.document.loading import loading_summary

            document = read_agent_file(text, path, kind)
            return replace(document, dialect_reason=loading_summary(document))
        if path is None or not is_experiment(path):
            return parse(text, path)
        from studio.application.experiments.text import read_experiment_document

        return read_experiment_document(text, path)
    except Exception as error:  # noqa: BLE001 - the border to what others wrote: one file fails alone
        whole = Span(0, len(text))
        return PromptDocument(SourceText(text, path), body=whole, problems=(failure(error),))
