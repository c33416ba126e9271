"""What the editor is informed of the world around its text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.text.source import Span

if TYPE_CHECKING:
    from studio.core.prompty.tool_spec import ToolSpec
    from studio.core.text.values import Json


def _no_files() -> tuple[str, ...]:
    return ()


def _no_environment() -> None:
    return None


@dataclass(frozen=True, slots=True)
class EditorContext:
    """Handed to completion and hover; looked up only where they ask."""

    values: Mapping[str, Json] = field(default_factory=dict)
    """What the user entered for inputs, by name."""

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
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)


NOTHING = EditorContext()
"""Before anyone told anything."""


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
    """What is known around a prompt.

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
        dict(values),
        tuple(sets),
        tuple(tools),
        tuple(models),
        environment,
        connections=connections,
    )


# What completion offers, as values.


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
