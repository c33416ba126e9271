"""Which tokenizer counts for which model; each loaded once, when a worker asks for it."""

from __future__ import annotations

import threading
from pathlib import Path

from studio.core.tokens.conversation import TokenCounter
from studio.core.tokens.estimate import Estimate
from studio.core.tokens.openai_ranks import (
    EncodingName,
    RanksError,
    encoding_of,
    load_encoding,
)

_MOST_CHARACTERS = 8_000_000


class RememberingCounter:
    """Counts each text once: while a person types, all messages but one stay as they are."""

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


class Tokenizers:
    """The tokenizers that are at hand; may be asked from any thread."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the cache folder; without one every figure is an estimate."""
        self._folder = folder
        self._loaded: dict[EncodingName, RememberingCounter] = {}
        self._failed: dict[EncodingName, str] = {}
        self._estimate = Estimate()

    def counter(self, model_id: str) -> TokenCounter:
        """The best counter for a model that is loaded now: its own, or an estimate."""
        name = encoding_of(model_id)
        return self._estimate if name is None else self._loaded.get(name, self._estimate)

    def wants_loading(self, model_id: str) -> bool:
        """Whether there is a better counter than the loaded one."""
        name = encoding_of(model_id)
        known = name is None or name in self._loaded or name in self._failed
        return self._folder is not None and not known

    def load(self, model_id: str) -> bool:
        """Load the model's tokenizer, for a worker; says whether it is at hand now."""
        name = encoding_of(model_id)
        if name is None or self._folder is None:
            return False
        if name not in self._loaded:
            try:
                self._loaded[name] = RememberingCounter(load_encoding(name, self._folder))
            except RanksError as error:
                self._failed[name] = str(error)
        return name in self._loaded

    def failure(self, model_id: str) -> str:
        """Why a model's own tokenizer is not at hand; empty where it is or there is none."""
        name = encoding_of(model_id)
        return "" if name is None else self._failed.get(name, "")
