"""What an import gives, and how it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.core.text.values import JsonObject


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

    title: str = ""
    """A name for the prompt, where the file gives one."""

    others: tuple[str, ...] = ()
    """Names of further prompts in the same file, in its order, the chosen one among them; empty
    where it holds one."""


class ImportFailure(Exception):  # noqa: N818 - it is no failure of the program
    """A text that cannot be imported; the message is a sentence for the person."""
