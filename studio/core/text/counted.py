"""A number of things in English: what the command line, errors and verdicts say of it."""

from __future__ import annotations


def counted(count: float, one: str, many: str = "") -> str:
    """`1 row`, `2 rows`, `1,204 rows`.

    Args:
        count: how many; a fraction has no needless zeros.
        one: what one of them is called.
        many: what several are called, where an "s" does not make it.
    """
    number = f"{count:,}" if isinstance(count, int) else f"{count:,.12g}"
    return f"{number} {one if count == 1 else many or f'{one}s'}"
