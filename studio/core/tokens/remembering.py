"""Counts each text once."""

from __future__ import annotations

import threading

from studio.core.tokens.conversation import TokenCounter

_MOST_CHARACTERS = 8_000_000


class RememberingCounter:
    """Counts each text once: while a user types, all messages but one stay as they are."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._counts: dict[str, int] = {}
        self._held = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The tokenizer's name."""
        return self._counter.name

    @property
    def is_exact(self) -> bool:
        """Whether it counts as the model does."""
        return self._counter.is_exact

    def count(self, text: str) -> int:
        """How many tokens a text is."""
        found = self._counts.get(text)
        if found is not None:
            return found
        counted = self._counter.count(text)
        with self._lock:
            self._held += len(text)
            if self._held > _MOST_CHARACTERS:
                self._counts.clear()
                self._held = len(text)
            self._counts[text] = counted
        return counted
