"""A text as its file's kind: a prompt, a Python file of tools, or an experiment."""

from __future__ import annotations

from pathlib import Path

from studio.core.experiments.file.read import is_experiment
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse


def read_document(text: str, path: Path | None = None) -> PromptDocument:
    """Read a text. Never raises; what is wrong is in its `problems`.

    Args:
        text: the text.
        path: its file, which says what it is; an experiment's prompts and rows are looked at too.
    """
    if path is None or not is_experiment(path):
        return parse(text, path)
    from studio.application.experiments.text import read_experiment_document

    return read_experiment_document(text, path)
