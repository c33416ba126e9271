"""What a grammar can make, and whether it makes a text: told by llguidance itself.

The same engine, built into llama.cpp's server, holds the model to the grammar. Its tokens are
single bytes here, so that no vocabulary has a say.
"""

from __future__ import annotations

import random
from functools import cache

from llguidance import LLMatcher, LLTokenizer

_LONGEST = 4000
_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789 ")


@cache
def _bytes_alone() -> LLTokenizer:
    return LLTokenizer("byte")


def _matcher(grammar: str) -> LLMatcher:
    matcher = LLMatcher(_bytes_alone(), grammar)
    assert not matcher.is_error(), matcher.get_error()
    return matcher


def generates(grammar: str, text: str) -> bool:
    """Whether the grammar makes exactly this text."""
    matcher = _matcher(grammar)
    written = list(text.encode("utf-8"))
    return matcher.try_consume_tokens(written) == len(written) and matcher.is_accepting()


def begins(grammar: str, text: str) -> bool:
    """Whether something that the grammar makes begins with this text."""
    written = list(text.encode("utf-8"))
    return _matcher(grammar).try_consume_tokens(written) == len(written)


def sample(grammar: str, seed: int) -> str:
    """One of the texts that the grammar makes, short ones preferred."""
    source = random.Random(seed)
    matcher = _matcher(grammar)
    made = bytearray()
    while not (matcher.is_accepting() and source.random() < 0.3):
        bias = matcher.compute_logit_bias()
        ways = [byte for byte in range(256) if bias[byte]]
        if not ways:
            break
        plain = [byte for byte in ways if byte not in _LETTERS]
        closing = plain if plain and source.random() < 0.3 else ways
        byte = source.choice(closing)
        assert matcher.try_consume_tokens([byte]) == 1
        made.append(byte)
        assert len(made) < _LONGEST, "a grammar without a bound"
    assert matcher.is_accepting()
    return made.decode("utf-8")
