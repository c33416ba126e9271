"""What a GGUF model file says of its tokenizer: only its head is read, never the weights.

Source: the GGUF specification, version 3 (also read: version 2, which has the same head).
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from studio.core.text.bounded_file import open_regular
from studio.core.text.reason import reason_of

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
    """How texts are cut before: `smollm`, `gpt-2`, …"""

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
