"""The embedded model's own count: by its tokenizer, or by its server while that runs anyway."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.client import LlamaClient
from studio.core.models.embedded.prompt import template_messages
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.prompty.templates import render_template
from studio.core.text.values import Json
from studio.core.tokens.conversation import ConversationTokens, value_texts
from studio.core.tokens.gguf import GgufError, GgufTokenizer, read_tokenizer
from studio.core.tokens.remembering import RememberingCounter

_MOST_TEXTS = 2_000
_NAME = "the embedded model's own tokenizer"


class EmbeddedTokenizer:
    """Counts as the embedded model's server does, without it."""

    def __init__(self, weights: Path) -> None:
        """Read the tokenizer of a model file; for a worker.

        Raises:
            GgufError: the file cannot be read, or its tokenizer is of a kind not counted here.
        """
        tokenizer = read_tokenizer(weights)
        if not can_count(tokenizer):
            raise GgufError(f"The tokenizer of {weights.name!r} is counted by its server only.")
        self._template = tokenizer.chat_template
        self._pairs = BytePairs(tokenizer, _NAME)
        self._counter = RememberingCounter(self._pairs)

    def count(self, request: ModelRequest) -> ConversationTokens | None:
        """Count a request as it would be put to the model; `None` where its template fails."""
        values: dict[str, Json] = {
            "messages": [dict(message) for message in template_messages(request)],
            "add_generation_prompt": True,
        }
        prompt = render_template(self._template, values, format="jinja2")
        if prompt.problems or not self._template:
            return None
        count = self._counter.count
        # Message by message: of a long conversation only the one that changed is counted anew.
        pieces = self._pairs.between_marks(prompt.text)
        return _figures(
            request,
            len(pieces) - 1 + sum(map(count, pieces)),
            tuple(count(message.text) for message in request.messages),
            [count(text) for text, _ in value_texts(request.messages)],
        )


async def count_embedded(
    server: EmbeddedServer, request: ModelRequest, known: dict[str, int]
) -> ConversationTokens | None:
    """Count a request with the model's own tokenizer and chat template.

    Args:
        server: the server; it is not started for this.
        request: what would be asked.
        known: counts of texts from earlier calls; new ones are added.

    Returns:
        The figures, or `None` while the server does not run, or when it went away meanwhile.
    """
    import httpx2

    if server.state != "ready":
        return None
    address = await server.start()  # it runs: this only gives its address
    try:
        async with LlamaClient(address) as client:
            return await _count(client, request, known)
    except (httpx2.HTTPError, ModelError):
        return None


async def _count(
    client: LlamaClient, request: ModelRequest, known: dict[str, int]
) -> ConversationTokens:
    async def count(text: str) -> int:
        if text not in known:
            if len(known) >= _MOST_TEXTS:
                known.clear()
            known[text] = await client.count(text) if text else 0
        return known[text]

    prompt = await client.template(template_messages(request))
    return _figures(
        request,
        await count(prompt),
        tuple([await count(message.text) for message in request.messages]),
        [await count(text) for text, _ in value_texts(request.messages)],
    )


def _figures(
    request: ModelRequest, total: int, messages: tuple[int, ...], values: Sequence[int]
) -> ConversationTokens:
    by_input: dict[str, int] = {}
    for (_, name), figure in zip(value_texts(request.messages), values, strict=True):
        by_input[name] = by_input.get(name, 0) + figure
    return ConversationTokens(
        messages=messages,
        # The template joins neighbours of one role and puts marks, calls and tools around: what
        # that adds is known of all messages together.
        frame=total - sum(messages),
        by_input=by_input,
        tokenizer=_NAME,
        is_exact=True,
    )


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
