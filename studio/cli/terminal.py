"""Words for a terminal: what it would act on in the texts of others is shown, and not done."""

from __future__ import annotations

import re
import sys

# Control characters (a terminal acts on them), what turns the direction of text, half characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text with what a terminal would act on, or cannot write, shown as its escape."""
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.replace("\r\n", "\n"))


def tell(text: object, *, end: str = "\n") -> None:
    """Write to standard error: a file, a server or a model may have chosen words of it."""
    print(printable(str(text)), end=end, file=sys.stderr, flush=True)


def agreed(question: str, *, yes: bool, options: str = "--yes") -> bool:
    """Return whether the user says yes; without a terminal only an option does.

    Args:
        question: what is asked.
        yes: whether an option said yes already.
        options: the options that say yes, for the message where nobody can be asked.
    """
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        tell(f"prompt-studio: {question} Say {options} where nobody can be asked.")
        return False
    tell(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
