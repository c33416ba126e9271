"""Lines of a YAML text by their places."""

from __future__ import annotations


def line_end(text: str, start: int) -> int:
    """Where the line ends, its line break not counted."""
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def line_at(text: str, at: int) -> tuple[int, int]:
    """Where the line around a place begins and ends, without the blanks at its end."""
    start = text.rfind("\n", 0, max(at, 0)) + 1
    return start, start + len(text[start : line_end(text, start)].rstrip())


def line_above(text: str, start: int) -> int | None:
    """Where the next line above with text on it begins."""
    while start > 0:
        end, start = start - 1, text.rfind("\n", 0, start - 1) + 1
        if text[start:end].strip() and not text[start:end].lstrip().startswith("#"):
            return start
    return None


def depth_of(text: str, start: int) -> int:
    """How many spaces a line begins with."""
    line = text[start : line_end(text, start)]
    return len(line) - len(line.lstrip(" "))


def key_word(line: str) -> str:
    """The key that a line begins with."""
    return line.strip().removeprefix("- ").partition(":")[0].strip()
