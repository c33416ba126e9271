"""Counts tokens as llama.cpp does for models with byte pairs, without a server.

The embedded model's server counts too, but only runs once a run has started it; the preview is
wanted before. Only tokenizers whose way of cutting texts is known here are counted.
"""

from __future__ import annotations

import heapq
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from studio.core.tokens.gguf import GgufTokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
_PATTERNS = {
    "smollm": (r"\p{N}|[^\p{N}]+", _GPT2),  # every digit stands for itself
    "gpt-2": (_GPT2,),
}
"""By `tokenizer.ggml.pre`: cut by the first, then each piece by the next (llama.cpp's own)."""

_MOST_WORDS = 50_000
_AT_ONCE = 4_096


def can_count(tokenizer: GgufTokenizer) -> bool:
    """Whether a tokenizer is one that is counted here exactly."""
    return tokenizer.model == "gpt2" and tokenizer.pre in _PATTERNS and bool(tokenizer.merges)


class BytePairs:
    """Counts as the model itself does."""

    is_exact = True

    def __init__(self, tokenizer: GgufTokenizer, name: str) -> None:
        import regex

        self.name = name
        self._ranks = {
            tuple(merge.split(" ", 1)): rank for rank, merge in enumerate(tokenizer.merges)
        }
        self._cuts = [regex.compile(pattern) for pattern in _PATTERNS[tokenizer.pre]]
        special = sorted(filter(None, tokenizer.special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")
        self._letters = _byte_letters()
        self._word = lru_cache(_MOST_WORDS)(self._count_word)

    def count(self, text: str) -> int:
        """How many tokens a text is; marks such as `<|im_start|>` are one each."""
        plain = self.between_marks(text)
        return len(plain) - 1 + sum(map(self._count_plain, plain))

    def between_marks(self, text: str) -> list[str]:
        """What stands between the marks; each piece is counted by itself, and each mark is one."""
        return self._special.split(text)

    def _count_plain(self, text: str) -> int:
        pieces = [text]
        for cut in self._cuts:
            pieces = [word for piece in pieces for word in cut.findall(piece)]
        total = 0
        for start in range(0, len(pieces), _AT_ONCE):  # between two of these the window may work
            total += sum(map(self._word, pieces[start : start + _AT_ONCE]))
        return total

    def _count_word(self, word: str) -> int:
        """Join the pair of lowest rank, the leftmost first, until none is left."""
        symbols = list(word.encode("utf-8", "replace").decode("latin-1").translate(self._letters))
        count = len(symbols)
        after = [*range(1, count), -1]
        before = list(range(-1, count - 1))
        heap: list[tuple[int, int, str, str]] = []
        for left in range(count - 1):
            self._push(heap, symbols, left, left + 1)
        while heap:
            _, left, first, second = heapq.heappop(heap)
            right = after[left]
            if right < 0 or symbols[left] != first or symbols[right] != second:
                continue  # one of the two is joined with another meanwhile
            symbols[left], symbols[right] = first + second, ""
            after[left] = after[right]
            count -= 1
            if after[left] >= 0:
                before[after[left]] = left
                self._push(heap, symbols, left, after[left])
            if before[left] >= 0:
                self._push(heap, symbols, before[left], left)
        return count

    def _push(
        self,
        heap: list[tuple[int, int, str, str]],
        symbols: Sequence[str],
        left: int,
        right: int,
    ) -> None:
        rank = self._ranks.get((symbols[left], symbols[right]))
        if rank is not None:
            heapq.heappush(heap, (rank, left, symbols[left], symbols[right]))


def _byte_letters() -> dict[int, int]:
    """GPT-2's letter for each byte: printable ones stand for themselves."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in own)
    return {byte: byte for byte in own} | {byte: 256 + number for number, byte in enumerate(others)}
