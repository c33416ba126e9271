"""What a folder's files want to start, reach and read, and what of it is allowed as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

WantKind: TypeAlias = Literal["command", "address", "variable", "file"]
"""A program that is started, a server that is reached, a variable or a file that is read."""


@dataclass(frozen=True, slots=True)
class Pin:
    """A thing that is allowed as it is: another one under its name is another thing."""

    digest: str
    """Stands for the whole of it, also what is not shown."""

    lines: tuple[str, ...] = ()
    """What the user was shown of it, to show the difference when it changes."""


@dataclass(frozen=True, slots=True)
class Want:
    """One thing that a document wants."""

    kind: WantKind
    """Which kind."""

    text: str
    """The command line, address, name or path, as the user reads it."""

    of: str
    """What wants it, for the user ("mcp: files"); empty for the prompt itself."""

    key: str = ""
    """By which it is allowed, where it must be allowed by itself ("mcp:files")."""

    folder: Path | None = None
    """The folder whose files name it, where it must be allowed by itself."""

    pin: Pin | None = None
    """What exactly would be allowed, where it must be allowed by itself."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something in a trusted folder that is not allowed as it is."""

    want: Want
    """What is wanted now."""

    before: Pin | None = None
    """What was allowed under the same name; None where it is new."""


Approval: TypeAlias = Literal["always", "once", "allow"]
"""Ask before every call, ask before the first call of a run, or do not ask."""


def stricter(*approvals: Approval) -> Approval:
    """Return the approval that asks most."""
    return min(approvals, key=("always", "once", "allow").index)
