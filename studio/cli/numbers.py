"""Numbers of the command line, with their bounds: for argparse's `type`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from studio.core.text.amounts import LARGEST, shortened, whole_number


def whole(least: int = 0, most: int = LARGEST) -> Callable[[str], int]:
    """Return a parser of whole numbers within bounds, which raises argparse's error."""

    def read(text: str) -> int:
        number = whole_number(text)
        if number is None or not least <= number <= most:
            raise argparse.ArgumentTypeError(
                f"{_shown(text)} is not a whole number {_bounds(least, most)}"
            )
        return number

    return read


def amount(
    least: float = 0, most: float = LARGEST, *, above: bool = False
) -> Callable[[str], float]:
    """Return a parser of numbers within bounds.

    Args:
        least: the smallest one.
        most: the largest one.
        above: whether the smallest one itself is not taken.
    """

    def read(text: str) -> float:
        try:
            found = float(text) if text.isascii() else math.nan
        except ValueError:
            found = math.nan
        if not least <= found <= most or (above and found == least):
            bounds = f"above {least:g}" if above else _bounds(least, most)
            raise argparse.ArgumentTypeError(f"{_shown(text)} is not a number {bounds}")
        return found

    return read


def _shown(text: str) -> str:
    return repr(shortened(text, 24))


def _bounds(least: float, most: float) -> str:
    return f"from {least:g} to {most:,.16g}"
