"""Which tokenizer counts for which model; each loaded once, when a worker asks for it."""

from __future__ import annotations

from pathlib import Path

from studio.core.tokens.conversation import TokenCounter
from studio.core.tokens.embedded import EmbeddedTokenizer
from studio.core.tokens.estimate import Estimate
from studio.core.tokens.gguf import GgufError
from studio.core.tokens.openai_ranks import (
    EncodingName,
    RanksError,
    encoding_of,
    load_encoding,
)
from studio.core.tokens.remembering import RememberingCounter


class Tokenizers:
    """The tokenizers that are at hand; may be asked from any thread."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the cache folder; without one every figure is an estimate."""
        self._folder = folder
        self._loaded: dict[EncodingName, RememberingCounter] = {}
        self._failed: dict[EncodingName, str] = {}
        self._embedded: dict[Path, EmbeddedTokenizer | None] = {}
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

    def embedded(self, weights: Path) -> EmbeddedTokenizer | None:
        """The tokenizer of a model file, where it was loaded and can be counted here."""
        return self._embedded.get(weights)

    def wants_embedded(self, weights: Path) -> bool:
        """Whether a model file's tokenizer has not been looked at yet."""
        return self._folder is not None and weights not in self._embedded

    def load_embedded(self, weights: Path) -> bool:
        """Load a model file's tokenizer, for a worker; says whether it is at hand now."""
        if weights not in self._embedded:
            try:
                self._embedded[weights] = EmbeddedTokenizer(weights)
            except GgufError:
                self._embedded[weights] = None  # its server counts once it runs
        return self._embedded[weights] is not None
