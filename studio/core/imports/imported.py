"""What an import gives, and how it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Imported:
    """A prompt file made of another format. Nothing is written by making it."""

    text: str
    """The `.prompty` file."""

    form: str
    """What was read, for people: "OpenAI chat completions request"."""

    notes: tuple[str, ...] = ()
    """What the prompt file does not carry, or carries differently, a sentence each."""

    input_sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """Values that came along (promptfoo's tests), by name."""

    experiment: JsonObject = field(default_factory=dict)
    """An experiment that came along (what promptfoo's tests assert), without its prompts; empty
    where there is none."""

    title: str = ""
    """A name for the prompt, where the file gives one."""

    others: tuple[str, ...] = ()
    """Names of further prompts in the same file, in its order, the chosen one among them; empty
    where it holds one."""

    def experiment_text(self, prompt: Path) -> str:
        """The experiment file that asks the prompt file at a path."""
        return "\n".join(write_yaml({"prompts": [prompt.name], **self.experiment})) + "\n"


def experiment_path(prompt: Path) -> Path:
    """Where the experiment of an imported prompt goes."""
    return prompt.with_name(f"{prompt.stem}.experiment.yaml")


class ImportFailure(Exception):  # noqa: N818 - it is no failure of the program
    """A text that cannot be imported; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file of another format, read once for every importer."""

    text: str
    """The file's text."""

    data: Json
    """The text as JSON or YAML; None where it is neither, or was not tried."""

    path: Path | None
    """The file; None for a pasted text."""

    read_beside: Callable[[str], str]
    """Reads a file beside this one by its name; raises `ImportFailure` where it lies outside the
    folder or cannot be read."""


class Importer(Protocol):
    """Reads one format into prompt files."""

    @property
    def name(self) -> str:
        """The format, for people: "promptfoo configuration"."""
        ...

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of its files, with their dots, in small letters."""
        ...

    def accepts(self, source: ImportSource) -> bool:
        """Whether the file is of this format; decided by what is in it."""
        ...

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Make the prompt file.

        Args:
            source: the file.
            choose: which of several prompts in it, from 0.

        Raises:
            ImportFailure: it cannot be imported; the text says what to do.
        """
        ...
