"""Local media files, read only when a request is made and only from granted folders."""

import base64
import mimetypes
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from studio.core.text.files import open_regular
from studio.core.text.values import reason_of

MEDIA_MISSING = "media-missing"
MEDIA_OUTSIDE = "media-outside"
MEDIA_TOO_LARGE = "media-too-large"
MEDIA_UNREADABLE = "media-unreadable"

_MOST_BYTES = 20 * 1024 * 1024
_START = 512
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
)


@dataclass(frozen=True, slots=True)
class MediaData:
    """A file's content, ready to send."""

    media_type: str
    """MIME type; `application/octet-stream` if it is not known."""

    data: str
    """Base64, or a placeholder text if the source only describes files."""

    name: str
    """File name without folders."""

    left_out: int = 0
    """Number of characters that the placeholder text is shorter than the content."""

    @property
    def uri(self) -> str:
        """The content as a data URI."""
        return f"data:{self.media_type};base64,{self.data}"

    @property
    def text(self) -> str:
        """The content of a text file as text; a placeholder text stays as it is."""
        try:
            return base64.b64decode(self.data, validate=True).decode("utf-8-sig", "replace")
        except ValueError:  # no base64
            return self.data


@dataclass(frozen=True, slots=True)
class MediaFault:
    """The reason why a file cannot be sent."""

    code: str
    """Problem code."""

    message: str
    """One plain sentence."""


class MediaSource(Protocol):
    """A source of local files' content."""

    def read(self, source: str) -> MediaData | MediaFault:
        """Read the file at a path as written by the author."""
        ...


@dataclass(frozen=True, slots=True)
class MediaReader:
    """A reader of files in the prompt's own folder and in granted folders; resolves links."""

    folder: Path | None
    """The prompt's folder; None for a prompt that was never saved."""

    roots: tuple[Path, ...] = ()
    """Further folders that the user granted."""

    limit: int = _MOST_BYTES
    """Largest file in bytes."""

    describe_only: bool = False
    """Whether to return a placeholder text with the size instead of the content, for display."""

    def read(self, source: str) -> MediaData | MediaFault:
        """Read the file at a path as written by the author, relative to the folder."""
        if self.folder is None:
            return MediaFault(
                MEDIA_MISSING,
                f"{source!r} cannot be found: save the prompt first, so that it has a folder.",
            )
        try:
            path = (self.folder / source).resolve()
            granted = [root.resolve() for root in (self.folder, *self.roots)]
            if not any(path.is_relative_to(root) for root in granted):
                return MediaFault(MEDIA_OUTSIDE, f"{source!r} is outside the prompt's folder.")
            content, size = self._bytes(path, source)
        except (OSError, ValueError) as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError):
                return MediaFault(MEDIA_MISSING, f"There is no file {source!r}.")
            return MediaFault(MEDIA_UNREADABLE, f"{source!r} cannot be read: {reason_of(error)}.")
        if isinstance(content, MediaFault):
            return content
        media_type = media_type_of(path.name, content)
        if self.describe_only:
            remark = f"… {size:,} bytes …"
            content_size = size if media_type.startswith("text/") else (size + 2) // 3 * 4
            return MediaData(media_type, remark, path.name, content_size - len(remark.encode()))
        return MediaData(media_type, base64.b64encode(content).decode("ascii"), path.name)

    def _bytes(self, path: Path, source: str) -> tuple[bytes | MediaFault, int]:
        """Return the content (for a described file, its start), and the full size."""
        with open_regular(path) as file:
            known = os.fstat(file.fileno())
            content = file.read(_START if self.describe_only else self.limit + 1)
            size = max(len(content), known.st_size)
        if size > self.limit:
            most = f"{self.limit / 1024 / 1024:g} MB"
            return MediaFault(MEDIA_TOO_LARGE, f"{source!r} is larger than {most}."), size
        return content, size


def is_web(source: str) -> bool:
    """Return whether a source is a URL that the provider downloads itself."""
    return source.startswith(("http://", "https://", "gs://"))


def split_data_uri(source: str) -> MediaData | None:
    """Return the parts of a `data:…;base64,…` URI; None for anything else."""
    if not source.startswith("data:"):
        return None
    head, comma, data = source[5:].partition(",")
    if not comma:
        return None
    media_type = head.split(";")[0]
    if ";base64" not in head:
        from urllib.parse import unquote_to_bytes

        data = base64.b64encode(unquote_to_bytes(data)).decode("ascii")
    return MediaData(media_type or "application/octet-stream", data, "")


def media_type_of(name: str, content: bytes) -> str:
    """Return the MIME type of a file: from its first bytes, else from its name."""
    for signature, media_type in _SIGNATURES:
        if content.startswith(signature):
            return media_type
    if content[:4] == b"RIFF":
        return {b"WAVE": "audio/wav", b"WEBP": "image/webp"}.get(content[8:12], "video/x-msvideo")
    return type_by_name(name) or "application/octet-stream"


def type_by_name(source: str) -> str:
    """Return the MIME type for the suffix of a path; empty for an unknown suffix."""
    guessed = mimetypes.guess_type(source)[0] or ""
    return {"audio/x-wav": "audio/wav"}.get(guessed, guessed)


# Kinds of files that a message can contain, by suffix.

_PICTURES = ".png .jpg .jpeg .gif .webp .bmp .svg .ico .avif .tif .tiff .heic .heif"
_SOUNDS = ".mp3 .wav .ogg .oga .flac .m4a .aac .opus .wma"
_FILMS = ".mp4 .m4v .webm .mov .mkv .avi .mpg .mpeg .wmv"
_DOCUMENTS = ".pdf .doc .docx .odt .rtf .xls .xlsx .ods .ppt .pptx .odp .epub .zip"

SUFFIXES_OF: Mapping[str, tuple[str, ...]] = {
    "image": tuple(_PICTURES.split()),
    "audio": tuple(_SOUNDS.split()),
    "video": tuple(_FILMS.split()),
    "file": tuple(_DOCUMENTS.split()),
}
"""Suffixes, in lower case, by the word of a part (docs/format.md)."""
