"""The context of the editor (values, tools, models, files), and completions as values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.text.source import Span

if TYPE_CHECKING:
    from studio.core.prompty.document import ToolSpec
    from studio.core.text.values import Json


def _no_files() -> tuple[str, ...]:
    return ()


def _no_environment() -> None:
    return None


@dataclass(frozen=True, slots=True)
class EditorContext:
    """The context for completion and hover; looked up only when needed."""

    values: Mapping[str, Json] = field(default_factory=dict)
    """Values that the user entered for inputs, by name."""

    sets: tuple[Mapping[str, Json], ...] = ()
    """Values of the saved input sets, and rows loaded from a file."""

    tools: tuple[ToolSpec, ...] = ()
    """All tools that a run would have, including those of sources."""

    models: tuple[str, ...] = ()
    """Model ids that the prompt's connection offers."""

    environment: Callable[[], frozenset[str] | None] = _no_environment
    """Function that returns the names of set variables; None if the folder is not trusted."""

    files: Callable[[], tuple[str, ...]] = _no_files
    """Function that returns the paths beside the prompt that it can name."""

    connections: tuple[str, ...] = ()
    """Names of the user's connections."""

    @property
    def given(self) -> tuple[Mapping[str, Json], ...]:
        """All known values besides the file's own, entered ones first."""
        return (self.values, *self.sets)

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool with that name; None if there is none."""
        return next((tool for tool in self.tools if tool.name == name), None)


NOTHING = EditorContext()
"""The context before anything is known."""


def editor_context_of(
    values: Mapping[str, Json],
    tools: Iterable[ToolSpec],
    models: Iterable[str],
    folder: Path | None,
    *,
    trusted: bool,
    sets: Iterable[Mapping[str, Json]] = (),
    connections: tuple[str, ...] = (),
) -> EditorContext:
    """Build the context for a prompt.

    Args:
        values: values entered for its inputs.
        tools: the tools that a run would have.
        models: model ids that its connection offers.
        folder: folder of the prompt; None for an unsaved one.
        trusted: whether variables and the prompt's `.env` may be read.
        sets: values of the saved input sets.
        connections: names of the user's connections.
    """

    def environment() -> frozenset[str] | None:
        from studio.core.prompty.reference_values import environment_for

        return frozenset(environment_for(folder)) if trusted else None

    return EditorContext(
        dict(values), tuple(sets), tuple(tools), tuple(models), environment, connections=connections
    )


# Completions as values.


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """One completion."""

    label: str
    """Text of the entry in the list."""

    insert: str
    """Text that replaces the typed part."""

    detail: str = ""
    """Short description of the entry."""

    kind: str = "word"
    """Kind, which decides the icon: `key`, `value`, `input`, `word`, `role`, `filter`, `file`,
    `snippet`.
    """

    caret_back: int = 0
    """Distance of the caret from the end of the inserted text, in code points."""

    closes: str = ""
    """Closing text that is not inserted if it already follows the caret."""

    again: bool = False
    """Whether to open the list again after it."""

    snippet: bool = False
    """Whether `insert` is the body of a snippet."""

    declares: str = ""
    """Name of an input of kind thread to declare with it; empty for none."""


@dataclass(frozen=True, slots=True)
class CompletionList:
    """The completions, best first, and the span that they replace."""

    items: tuple[CompletionItem, ...]
    """Entries to choose from."""

    span: Span
    """Span of the typed part."""
