"""Format durations, money, sizes and counts in the same way everywhere."""

_MINUTE = 60
_HOUR = 3600


def duration(seconds: float) -> str:
    """Return `0 ms`, `420 ms`, `1.5 s`, `1 min 15 s`, `1 h 7 min`; an integer estimate as `5 s`."""
    if round(seconds * 1000) < 1000:
        return f"{max(0.0, seconds) * 1000:.0f} ms"
    if round(seconds, 1) < _MINUTE:
        return f"{seconds} s" if isinstance(seconds, int) else f"{seconds:.1f} s"
    if round(seconds) < _HOUR:
        minutes, rest = divmod(round(seconds), _MINUTE)
        return f"{minutes} min {rest} s"
    hours, rest = divmod(round(seconds / _MINUTE), _MINUTE)
    return f"{hours:,} h {rest} min"


def money(dollars: float | None) -> str:
    """Return `$1,204.50`, `$0.0421`, `$0.000042`; empty if the price is not known.

    One call may cost a fraction of a cent, so small amounts have more digits.
    """
    if dollars is None:
        return ""
    if not dollars or dollars >= 1:
        return f"${dollars:,.2f}"
    return f"${dollars:.4f}" if dollars >= 0.001 else f"${dollars:.6f}"


def size(count: int) -> str:
    """Return a number of bytes: `1 byte`, `940 bytes`, `1.2 kB`, `12 kB`, `20 MB`."""
    if count < 1000:
        return counted(count, "byte")
    for unit, part in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9)):
        digits = 0 if count / part >= 9.95 else 1
        number = round(count / part, digits)
        if number < 1000 or unit == "GB":
            return f"{number:,.{digits}f} {unit}".replace(".0 ", " ")
    raise AssertionError("the last unit takes all")


def by_count(count: int, one: str, many: str, **values: object) -> str:
    """Return the singular or plural text for a count, with the count and other values inserted.

    Args:
        count: the number; `{count}` in the text.
        one: the text for one.
        many: the text for none or several.
        values: further values of the text, by name.
    """
    return (one if count == 1 else many).format(count=count, **values)


def counted(count: float, one: str, many: str = "") -> str:
    """Return `1 row`, `2 rows`, `1,204 rows`.

    Args:
        count: the number; a fraction has no trailing zeros.
        one: the singular.
        many: the plural, if it is not the singular with "s".
    """
    number = f"{count:,}" if isinstance(count, int) else f"{count:,.12g}"
    return f"{number} {one if count == 1 else many or f'{one}s'}"


# Texts shortened for a place in the window or a line of a terminal.


def shortened(text: str, longest: int) -> str:
    """Return a text of at most `longest` characters; a truncated text ends with "…"."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


_MOST_READ = 2000
"""Number of characters at the beginning of a text that `one_line` reads."""


def one_line(text: str, longest: int = 200) -> str:
    """Return the beginning of a text on one line; "…" also if only blanks are omitted."""
    line = " ".join(text[:_MOST_READ].split())
    return shortened(line if len(text) <= _MOST_READ else f"{line}…", longest)


# Whole numbers typed by a user.

LARGEST = 10**15
"""Largest number accepted anywhere: SQLite, JSON and floats count exactly up to it."""


def whole_number(text: str) -> int | None:
    """Return the number of a text of ASCII digits; None for others, and above `LARGEST`.

    `int` accepts the digits of every script, and raises an error for thousands of them.
    """
    if not (text.isascii() and text.isdecimal()):
        return None
    digits = text.lstrip("0") or "0"
    return int(digits) if len(digits) <= len(str(LARGEST)) and int(digits) <= LARGEST else None
