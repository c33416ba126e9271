"""What completion offers, as values."""

from __future__ import annotations

from dataclasses import dataclass

from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """One thing that can be put in."""

    label: str
    """What the list shows."""

    insert: str
    """What is put in place of what was typed."""

    detail: str = ""
    """What it is or does."""

    kind: str = "word"
    """`key`, `value`, `input`, `word`, `role`, `filter`, `file`, `snippet`: its icon."""

    caret_back: int = 0
    """How far the caret goes back from the end of the text put in, in code points."""

    closes: str = ""
    """What it ends with that may stand behind the caret already, and is taken over then."""

    again: bool = False
    """Whether to offer again after it."""

    snippet: bool = False
    """Whether `insert` is a snippet's body, with places to fill."""

    declares: str = ""
    """Name of the input of kind thread that is declared with it."""


@dataclass(frozen=True, slots=True)
class CompletionList:
    """Completions, the best first, with what they take the place of."""

    items: tuple[CompletionItem, ...]
    """What can be chosen."""

    span: Span
    """What was typed of it already."""
