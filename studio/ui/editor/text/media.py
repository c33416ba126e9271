"""What a file becomes in a prompt: pure rules."""

from __future__ import annotations

import os
import re
from pathlib import Path

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.edits import insert_below, write_scalar
from studio.core.text.problem import TextEdit
from studio.core.text.span import Span

_KINDS = {
    "image": (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".svg", ".avif", ".tif", ".tiff"),
    "audio": (".mp3", ".wav", ".ogg", ".flac", ".m4a", ".aac", ".opus"),
    "video": (".mp4", ".webm", ".mov", ".mkv", ".avi"),
}
_NUMBERED = re.compile(r"image-(\d+)\.png")


def media_word(path: Path) -> str:
    """What kind of part a file is: `image`, `audio`, `video` or `file` (docs/format.md)."""
    suffix = path.suffix.lower()
    return next((word for word, suffixes in _KINDS.items() if suffix in suffixes), "file")


def address(path: Path, folder: Path | None) -> str:
    """The path as a prompt writes it: from the prompt's folder, with slashes.

    A file on another drive, or a prompt that has no folder yet, gives the whole path.
    """
    if folder is not None:
        try:
            path = Path(os.path.relpath(path, folder))
        except ValueError:
            path = path.absolute()
    return path.as_posix()


def edits_for(
    document: PromptDocument, path: Path, folder: Path | None, at: int, *, yaml: bool
) -> tuple[TextEdit, ...]:
    """Edits that put a file into a prompt at an offset, in the words of its dialect.

    YAML gets a reference, a body of the section dialect a media token. The other dialects have no
    such token: they get an input of that kind whose default is the path, and its use.
    """
    written, word = address(path, folder), media_word(path)
    here = Span(at, at)
    if yaml:
        return (TextEdit(here, f"${{file:{written}}}"),)
    if document.dialect == "section":
        target = f"<{written}>" if ' "' in written else written
        return (TextEdit(here, f"![{word}]({target})"),)
    kind = word if word != "video" else "file"
    name = _free_name(document, path)
    key = "type" if document.dialect == "legacy" else "kind"
    value = write_scalar(written)
    if isinstance(document.data.get("inputs"), list):
        lines = [f"- name: {name}", f"  {key}: {kind}", f"  default: {value}"]
    else:
        lines = [f"{name}:", f"  {key}: {kind}", f"  default: {value}"]
    inner = f"{key}: {kind}, default: {value}"
    listed = isinstance(document.data.get("inputs"), list)
    flow = f"{{name: {name}, {inner}}}" if listed else f"{name}: {{{inner}}}"
    use = f"{{{name}}}" if document.template.format == "fstring" else f"{{{{ {name} }}}}"
    return (*insert_below(document, ("inputs",), lines, flow), TextEdit(here, use))


def _free_name(document: PromptDocument, path: Path) -> str:
    stem = re.sub(r"\W+", "_", path.stem).strip("_").lower() or "file"
    name = stem if not stem[0].isdigit() else f"file_{stem}"
    number = 1
    while document.input(name) is not None:
        number += 1
        name = f"{stem}_{number}"
    return name


def free_image_name(folder: Path) -> str:
    """A name for a pasted picture that no file beside the prompt has."""
    taken = [
        int(match[1]) for each in folder.iterdir() if (match := _NUMBERED.fullmatch(each.name))
    ]
    return f"image-{max(taken, default=0) + 1}.png"
