"""Counts tokens as llama.cpp does for models with byte pairs, without a server.

The embedded model's server counts too, but only runs once a run has started it; the preview is
wanted before. Only tokenizers whose way of cutting texts is known here are counted.
"""

from __future__ import annotations

import re

from studio.core.tokens.gguf import GgufTokenizer

_SHORT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+"
_MARKS = r" ?[^\s\p{L}\p{N}]+"
_PATTERNS = {
    # Every digit stands for itself; what is between digits is cut as by GPT-2.
    "smollm": rf"{_SHORT}|\p{{N}}|{_MARKS}|\s+(?![^\s\p{{N}}])|\s+",
    "gpt-2": rf"{_SHORT}| ?\p{{N}}+|{_MARKS}|\s+(?!\S)|\s+",
}
"""By `tokenizer.ggml.pre`: where a text is cut before pairs are joined (llama.cpp's own rules)."""


def can_count(tokenizer: GgufTokenizer) -> bool:
    """Whether a tokenizer is one that is counted here exactly."""
    return tokenizer.model == "gpt2" and tokenizer.pre in _PATTERNS and bool(tokenizer.merges)


class BytePairs:
    """Counts as the model itself does."""

    is_exact = True

    def __init__(self, tokenizer: GgufTokenizer, name: str) -> None:
        import tiktoken

        self.name = name
        bytes_of = {letter: byte for byte, letter in _byte_letters().items()}
        ranks = {bytes((byte,)): byte for byte in range(256)}
        for merge in tokenizer.merges:
            letters = merge.replace(" ", "", 1)
            if bytes_of.keys() >= set(letters):  # any other letter is in no text
                ranks.setdefault(bytes(bytes_of[letter] for letter in letters), len(ranks))
        self._encoding = tiktoken.Encoding(
            name, pat_str=_PATTERNS[tokenizer.pre], mergeable_ranks=ranks, special_tokens={}
        )
        special = sorted(filter(None, tokenizer.special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def count(self, text: str) -> int:
        """How many tokens a text is; marks such as `<|im_start|>` are one each."""
        plain = self.between_marks(text)
        return len(plain) - 1 + sum(len(self._encoding.encode_ordinary(each)) for each in plain)

    def between_marks(self, text: str) -> list[str]:
        """What stands between the marks; each piece is counted by itself, and each mark is one."""
        return self._special.split(text)


def _byte_letters() -> dict[int, str]:
    """GPT-2's letter for each byte: printable ones stand for themselves."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in own)
    letters = {byte: byte for byte in own} | {byte: 256 + at for at, byte in enumerate(others)}
    return {byte: chr(letter) for byte, letter in letters.items()}
