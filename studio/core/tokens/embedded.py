"""The embedded model's own count: by its tokenizer, or by its server while that runs anyway.

What a GGUF model file says of its tokenizer: only its head is read, never the weights.

Source: the GGUF specification, version 3 (also read: version 2, which has the same head).
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.model import template_messages
from studio.core.models.embedded.server import EmbeddedServer, LlamaClient
from studio.core.prompty.templates import render_template
from studio.core.text.files import open_regular
from studio.core.text.reason import reason_of
from studio.core.text.values import Json
from studio.core.tokens.conversation import ConversationTokens, RememberingCounter, value_texts

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_NORMAL = 1
_MOST_ITEMS = 2_000_000
_PREFIX = "tokenizer."


class GgufError(Exception):
    """The file is none, or is cut off; the text says which."""


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The parts of a tokenizer."""

    model: str
    """Its family: `gpt2` for byte pairs."""

    pre: str
    """Name of the rule that splits texts first: `smollm`, `gpt-2`, …"""

    merges: tuple[str, ...]
    """Pairs that become one, the first first, in GPT-2's letters for bytes."""

    special: tuple[str, ...]
    """Tokens that are never made of pairs, as `<|im_start|>`."""

    chat_template: str
    """Jinja template of a conversation."""


def read_tokenizer(path: Path) -> GgufTokenizer:
    """Read the head of a model file; a tenth of a second, and for a worker.

    Raises:
        GgufError: it cannot be read.
    """
    try:
        with (
            open_regular(path) as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            return _Reader(data).tokenizer()
    except (OSError, ValueError, struct.error, IndexError) as error:
        raise GgufError(
            f"The tokenizer of {path.name!r} cannot be read: {reason_of(error)}."
        ) from error


@dataclass(slots=True)
class _Reader:
    data: mmap.mmap
    at: int = 0

    def tokenizer(self) -> GgufTokenizer:
        self.at = len(_MAGIC)
        version, _, count = self._take("<IQQ")
        if self.data[: len(_MAGIC)] != _MAGIC or version not in (2, 3):
            raise GgufError("This is not a GGUF file that is known here.")
        texts: dict[str, str] = {}
        lists: dict[str, list[str]] = {}
        types: list[int] = []
        for _ in range(min(count, _MOST_ITEMS)):
            key = self._text()
            (kind,) = self._take("<I")
            wanted = key.startswith(_PREFIX)
            if kind == _STRING:
                value = self._text()
                if wanted:
                    texts[key] = value
            elif kind == _ARRAY:
                item_kind, length = self._take("<IQ")
                if length > _MOST_ITEMS:
                    raise GgufError("A list in its head is too long.")
                if item_kind == _STRING:
                    lists[key] = [self._text() for _ in range(length)]
                elif key.endswith(".token_type") and _SIZES.get(item_kind) == 4:
                    types = list(self._take(f"<{length}i"))
                else:
                    self.at += _SIZES[item_kind] * length
            else:
                self.at += _SIZES[kind]
        tokens = lists.get("tokenizer.ggml.tokens", [])
        special = (token for token, kind in zip(tokens, types, strict=False) if kind != _NORMAL)
        return GgufTokenizer(
            texts.get("tokenizer.ggml.model", ""),
            texts.get("tokenizer.ggml.pre", ""),
            tuple(lists.get("tokenizer.ggml.merges", ())),
            tuple(special),
            texts.get("tokenizer.chat_template", ""),
        )

    def _take(self, form: str) -> tuple[int, ...]:
        found = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return found

    def _text(self) -> str:
        (length,) = self._take("<Q")
        start, self.at = self.at, self.at + length
        if self.at > len(self.data):
            raise GgufError("Its head is cut off.")
        return self.data[start : self.at].decode("utf-8", "replace")


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
        """Count the tokens of a text; marks such as `<|im_start|>` are one each."""
        plain = self.between_marks(text)
        return len(plain) - 1 + sum(len(self._encoding.encode_ordinary(each)) for each in plain)

    def between_marks(self, text: str) -> list[str]:
        """Split a text at its marks; each piece is counted by itself, and each mark is one."""
        return self._special.split(text)


def _byte_letters() -> dict[int, str]:
    """Return GPT-2's letter for each byte: a printable one is unchanged."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in own)
    letters = {byte: byte for byte in own} | {byte: 256 + at for at, byte in enumerate(others)}
    return {byte: chr(letter) for byte, letter in letters.items()}
