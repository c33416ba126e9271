"""The place of a value that was not read, as a template sees it."""

from __future__ import annotations

from collections.abc import Iterator


class UnreadText(str):
    """A reference whose value is not known here, such as `${file:products.json}` before trust.

    Whatever a template takes of it, an item or a field, is the reference again: nothing is known
    of the value, so nothing is wrong with how the template reads it.
    """

    __slots__ = ()

    def __iter__(self) -> Iterator[str]:
        """Yield the reference as the one item."""
        yield self
