"""Check the message of a commit; `.pre-commit-config.yaml` runs it as a commit-msg hook.

    python packaging/commit_message.py FILE

The subject is `area: what changes`, in the imperative, in at most 72 characters; a blank line and
the reason follow.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 72
"""Most characters of a subject."""

_SUBJECT = re.compile(r"(?:[a-z][a-z0-9 ./_-]*: (?P<verb>\S+)|Merge |Revert )")
_NOT_IMPERATIVE = re.compile(r"(?:the|a|an|this|(?!need$|feed$|embed$)[a-z]+ed)$", re.IGNORECASE)


def faults(message: str) -> Iterator[str]:
    """Yield a sentence for each rule that a commit message breaks; comment lines do not count."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if len(subject) > LONGEST:
        yield f"the subject has {len(subject)} characters; at most {LONGEST} are allowed"
    if not (found := _SUBJECT.match(subject)):
        yield 'the subject must read "area: what changes", such as "editor: keep the column"'
    elif (verb := found["verb"]) and _NOT_IMPERATIVE.match(verb):
        yield f"the subject must begin with a verb in the imperative, not with {verb!r}"
    if len(lines) > 1 and lines[1].strip():
        yield "the second line must be blank"


def main(path: str) -> int:
    """Print what is wrong with the message in a file; return 1 if anything is."""
    found = list(faults(Path(path).read_text(encoding="utf-8")))
    for sentence in found:
        print(f"commit message: {sentence}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
