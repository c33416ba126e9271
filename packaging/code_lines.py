"""Count the lines of code: lines with a token that is neither a comment nor part of a docstring.

    python packaging/code_lines.py [FOLDER]

`make lint` prints it for `studio/`, so that growth is seen when it happens.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(source: str) -> int:
    """How many lines of a module hold code.

    A docstring is a string that stands alone: that of a module, class or function, and that
    below a field.
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            docstrings.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    return len(held - docstrings)


def count(folder: Path) -> tuple[Counter[str], int]:
    """The lines by room (the folders directly inside), and how many files there are."""
    rooms: Counter[str] = Counter()
    files = sorted(folder.rglob("*.py"))
    for path in files:
        parts = path.relative_to(folder).parts
        room = parts[0] if len(parts) > 1 else "top level"
        rooms[room] += code_lines(path.read_text(encoding="utf-8"))
    return rooms, len(files)


def report(folder: Path) -> str:
    """One line that tells it."""
    rooms, files = count(folder)
    each = ", ".join(f"{room} {lines:,}" for room, lines in rooms.most_common() if lines)
    return f"{folder.name}: {rooms.total():,} lines of code in {files} files ({each})"


if __name__ == "__main__":
    given = sys.argv[1:] or [str(Path(__file__).resolve().parent.parent / "studio")]
    for name in given:
        print(report(Path(name)))
