"""Kinds of files that a message can carry, by how their names end."""

from __future__ import annotations

from collections.abc import Mapping

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
"""Word of a part (docs/format.md) to the endings of its files, in small letters."""
