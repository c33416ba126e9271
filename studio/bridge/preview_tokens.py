"""An estimate of how many tokens a text takes, for models whose tokenizer is not at hand."""

from __future__ import annotations

import re

from studio.core.prompty.messages import MediaPart, Message, ToolCallPart

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")

MESSAGE_OVERHEAD = 4
"""Tokens that chat formats spend on a message's frame: role, start and end marks."""

MEDIA_TOKENS = 255
"""What one picture of low detail costs with several providers; only an order of magnitude."""


def estimate_tokens(text: str) -> int:
    """About how many tokens `text` is: four ASCII letters to one, one to a CJK character.

    English prose measured with common byte-pair tokenizers lies between 3.8 and 4.5 characters
    for each token; scripts outside Latin take about two characters for one, CJK one for one.
    """
    if not text:
        return 0
    if text.isascii():
        return max(1, round(len(text) / 4))
    narrow = len(text.encode("ascii", "ignore"))
    wide = len(_WIDE.findall(text))
    return max(1, round(narrow / 4 + wide + (len(text) - narrow - wide) / 2))


def estimate_message(message: Message) -> int:
    """About how many tokens a message takes, its frame included."""
    total = MESSAGE_OVERHEAD + estimate_tokens(message.text)
    for part in message.parts:
        if isinstance(part, ToolCallPart):
            total += estimate_tokens(part.name) + estimate_tokens(part.arguments)
        elif isinstance(part, MediaPart):
            total += MEDIA_TOKENS
    return total
