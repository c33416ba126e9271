"""What tool calls say while they run, line by line with the time of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

_MOST_LINES = 400
"""Lines that are kept of one call; the first ones go."""

_OVERLAP = 400
"""Characters by which the newest part of a text is joined to what was heard of it before."""

CallKey: TypeAlias = tuple[int, int]
"""Number of the step, and row of the call."""


@dataclass(frozen=True, slots=True)
class OutputLine:
    """One line."""

    seconds: float
    """Since the call began."""

    text: str
    """The line, without its end; the last one may go on."""


@dataclass(frozen=True, slots=True)
class CallOutput:
    """What one call has said so far."""

    lines: tuple[OutputLine, ...] = ()
    """In order."""

    is_open: bool = False
    """Whether the last line goes on."""

    text: str = ""
    """All of it, or its newest part."""

    def plus(self, text: str, seconds: float) -> CallOutput:
        """With one more piece, which came so many seconds after the call began."""
        pieces = text.replace("\r\n", "\n").split("\n")
        lines = [*self.lines]
        if self.is_open:
            last = lines.pop()
            lines.append(OutputLine(last.seconds, last.text + pieces.pop(0)))
        lines += [OutputLine(seconds, piece) for piece in pieces]
        is_open = bool(lines and lines[-1].text)
        if not is_open and text.endswith("\n"):
            lines.pop()  # behind the end of the last line nothing has come yet
        return CallOutput(tuple(lines[-_MOST_LINES:]), is_open, self.text + text)

    def heard(self, text: str, seconds: float) -> CallOutput:
        """With what is new in a text that begins, or overlaps, as what was heard before."""
        if text.startswith(self.text):
            new = text[len(self.text) :]
            return self.plus(new, seconds) if new else self
        # Only the newest part of a talkative call is told: what is new stands behind the overlap.
        tail = self.text[-_OVERLAP:]
        at = text.rfind(tail)
        new = text[at + len(tail) :] if at >= 0 else text
        return replace(self.plus(new, seconds), text=text) if new else self


@dataclass(frozen=True, slots=True)
class LiveOutput:
    """What the calls of a run have said while this studio ran them."""

    calls: Mapping[CallKey, CallOutput] = field(default_factory=dict)
    """By step and row."""

    def of(self, step: int, row: int) -> tuple[OutputLine, ...]:
        """The lines of a call."""
        return self.calls.get((step, row), CallOutput()).lines

    def heard(self, key: CallKey, text: str, seconds: float) -> LiveOutput:
        """With what a call has said by now, or the newest part of it."""
        before = self.calls.get(key, CallOutput())
        held = before.heard(text, seconds)
        return self if held is before else LiveOutput({**self.calls, key: held})

    def without(self, key: CallKey) -> LiveOutput:
        """Without what a call said when it was made before."""
        return LiveOutput({each: held for each, held in self.calls.items() if each != key})
