"""The other places of a text that is selected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.core.text.source import SourceText


def places_like(
    source: SourceText, chosen: tuple[int, int], start: int, *, whole: bool
) -> Iterator[tuple[int, int]]:
    """Where the selected text stands, from a place on and then from the beginning.

    Args:
        source: the text.
        chosen: what is selected of it, in UTF-16 units, as are the places found.
        start: the place.
        whole: whether only whole words count.
    """
    text = source.text
    wanted = text[source.from_utf16(chosen[0]) : source.from_utf16(chosen[1])]
    if not wanted:
        return
    begin = source.from_utf16(start)
    for low, high in ((begin, len(text)), (0, begin)):
        at = text.find(wanted, low, high)
        while at >= 0:
            end = at + len(wanted)
            around = text[max(0, at - 1) : at] + text[end : end + 1]
            if not whole or not any(each.isalnum() or each == "_" for each in around):
                yield source.to_utf16(at), source.to_utf16(end)
            at = text.find(wanted, end, high)
