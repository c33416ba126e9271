"""Read and write text files, preserving encoding, byte order mark and line breaks."""

import codecs
import os
from _blake2 import blake2b  # `hashlib` would also load OpenSSL: 3 ms of a start
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.words import marked, tr
from studio.core.text.files import read_bounded, write_bytes_atomically

Newline: TypeAlias = Literal["\n", "\r\n", "\r"]

LARGE_BYTES = 5_000_000
"""Size in bytes above which a notice says that the file is large."""


@dataclass(frozen=True, slots=True)
class FileText:
    """A file's text with everything needed to write it back unchanged."""

    text: str
    """Text with LF line breaks, without byte order mark."""

    newline: Newline = "\n"
    """Line break of the file; the more frequent one if it has several."""

    encoding: str = "utf-8"
    """Name of the codec."""

    bom: bytes = b""
    """Byte order mark at the start of the file."""

    digest: str = ""
    """Digest of the bytes on disk, to detect changes by others."""

    notices: tuple[str, ...] = ()
    """Notes for the user on how the file was decoded."""


class FileError(Exception):
    """Raised when a file cannot be read or written; text and hint are for the user."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
        """Advice on how to fix it."""


class EncodingError(FileError):
    """Raised when the file's encoding cannot encode a character."""


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def read_file(path: Path) -> FileText:
    """Read a text file.

    Raises:
        FileError: it is missing, a folder, or not readable.
    """
    try:
        raw = read_bounded(path)
    except OSError as error:
        raise FileError(
            tr("{name!r} cannot be opened: {reason}.").format(
                name=path.name, reason=_reason(error)
            ),
            tr(_READ_HINT),
        ) from error
    return decode(raw)


def decode(raw: bytes) -> FileText:
    """Return any bytes as text; bytes that are no UTF-8 are read as Latin-1, which loses none."""
    notices: list[str] = []
    bom, encoding = next(
        ((mark, name) for mark, name in _BOMS if raw.startswith(mark)), (b"", "utf-8")
    )
    try:
        text = raw[len(bom) :].decode(encoding)
    except UnicodeDecodeError:
        bom, encoding = b"", "latin-1"
        text = raw.decode(encoding)
        notices.append(tr("The file is not valid UTF-8; it is shown and saved as Latin-1."))
    crlf = text.count("\r\n")
    counts: dict[Newline, int] = {
        "\n": text.count("\n") - crlf,
        "\r\n": crlf,
        "\r": text.count("\r") - crlf,
    }
    newline: Newline = max(counts, key=lambda each: counts[each]) if any(counts.values()) else "\n"
    if sum(1 for count in counts.values() if count) > 1:
        name = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}[newline]
        notices.append(
            tr("The file has mixed line ends; saving uses {name} throughout.").format(name=name)
        )
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\u2029" in text:
        text = text.replace("\u2029", "\n")
        notices.append(tr("Paragraph separators (U+2029) are shown and saved as line ends."))
    if len(raw) > LARGE_BYTES:
        from studio.core.text.amounts import size

        notices.append(
            tr("This is a large file ({size}); checks run less often.").format(size=size(len(raw)))
        )
    return FileText(text, newline, encoding, bom, digest(raw), tuple(notices))


def encode(file: FileText) -> bytes:
    """Return the encoded bytes of the file.

    Raises:
        EncodingError: the file's encoding cannot encode a character.
    """
    text = file.text.replace("\n", file.newline)
    try:
        return file.bom + text.encode(file.encoding)
    except UnicodeEncodeError as error:
        char = file.text[error.start : error.start + 1]
        raise EncodingError(
            tr("The character {char!r} cannot be written in the file's encoding ({name}).").format(
                char=char, name=file.encoding
            ),
            tr("Save it as UTF-8 instead."),
        ) from error


def write_file(path: Path, file: FileText) -> FileText:
    """Write the file atomically; return it with the new digest.

    A temporary file beside the target is synced to disk and then replaces it; a link's target is
    written, not the link; permissions are kept.

    Raises:
        FileError: the file cannot be written; the old one is unchanged.
    """
    raw = encode(file)
    target = path.resolve()
    try:
        if is_read_only(target):
            raise FileError(
                tr("{name!r} is read-only.").format(name=path.name),
                tr("Use Save As, or change its permissions."),
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        write_bytes_atomically(target, raw)
    except OSError as error:
        raise FileError(
            tr("{name!r} could not be saved: {reason}.").format(
                name=path.name, reason=_reason(error)
            ),
            tr("Nothing on disk was changed. Use Save As to save it elsewhere."),
        ) from error
    return replace(file, digest=digest(raw))


def is_read_only(path: Path) -> bool:
    """Return whether an existing file is read-only, for this user or for all."""
    try:
        marked = not path.stat().st_mode & 0o222
    except OSError:
        return False
    return marked or not os.access(path, os.W_OK)


def digest(raw: bytes) -> str:
    """Return a short digest of bytes."""
    return blake2b(raw, digest_size=16).hexdigest()


def digest_of(path: Path) -> str:
    """Return the digest of a file on disk; empty if it cannot be read."""
    try:
        return digest(read_bounded(path))
    except OSError:
        return ""


_READ_HINT = marked("Check that the file exists and that you may read it.")


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
