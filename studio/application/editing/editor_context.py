"""Context of the editor: values, tools, models and files around its text."""

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
    """Handed to completion and hover; looked up only where they ask."""

    values: Mapping[str, Json] = field(default_factory=dict)
    """Values that the user entered for inputs, by name."""

    sets: tuple[Mapping[str, Json], ...] = ()
    """Values of the saved input sets, and rows of what was loaded from a file."""

    tools: tuple[ToolSpec, ...] = ()
    """Every tool that a run would get, those of other sources too."""

    models: tuple[str, ...] = ()
    """Model ids that the prompt's connection was found to offer."""

    environment: Callable[[], frozenset[str] | None] = _no_environment
    """Names of the variables that are set; None where the folder is not trusted."""

    files: Callable[[], tuple[str, ...]] = _no_files
    """Paths beside the prompt that it can name."""

    connections: tuple[str, ...] = ()
    """Names of the connections that the user has set up."""

    @property
    def given(self) -> tuple[Mapping[str, Json], ...]:
        """All values that are known besides the file's own, what was entered first."""
        return (self.values, *self.sets)

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)


NOTHING = EditorContext()
"""Context before anything is known."""


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
    """Build the editor's context for a prompt.

    Args:
        values: what was entered for its inputs.
        tools: what a run would get.
        models: ids that its connection offers.
        folder: where the prompt is; None for one that has no file.
        trusted: whether variables may be looked up, and `.env` beside the prompt be read.
        sets: values of the saved input sets.
        connections: names of those that the user has set up.
    """

    def environment() -> frozenset[str] | None:
        from studio.core.prompty.reference_values import environment_for

        return frozenset(environment_for(folder)) if trusted else None

    return EditorContext(
        dict(values), tuple(sets), tuple(tools), tuple(models), environment, connections=connections
    )


# What completion offers, as values.


@dataclass(frozen=True, slots=True)
class CompletionItem:
    """One thing that can be put in."""

    label: str
    """Text of the entry in the list."""

    insert: str
    """Text that replaces the typed part."""

    detail: str = ""
    """Short description of the entry."""

    kind: str = "word"
    """`key`, `value`, `input`, `word`, `role`, `filter`, `file`, `snippet`: its icon."""

    caret_back: int = 0
    """Distance of the caret from the end of the inserted text, in code points."""

    closes: str = ""
    """Closing text that is not inserted again if it is already behind the caret."""

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
    """Entries to choose from."""

    span: Span
    """Range of the typed part."""
