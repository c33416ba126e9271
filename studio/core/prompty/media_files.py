"""Local media of messages: whether the file is there, inside the folder, and of a usable size."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator

from studio.core.prompty.messages import MediaPart, Message
from studio.core.prompty.reference_values import (
    NOT_TRUSTED,
    ReferenceContext,
    UnresolvedReference,
    confined_path,
)
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

MAX_MEDIA_BYTES = 20_000_000
"""Size up to which a file is sent."""

MOST_FILES = 100
"""Files that are looked at in one preview; each costs a look at the disk."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_LONGEST_PATH = 1000


def is_local(part: MediaPart) -> bool:
    """Whether a part names a file beside the prompt, and not an address or the data itself."""
    if "mediaType" in part.attributes or len(part.source) > _LONGEST_PATH:
        return False
    return bool(part.source) and _SCHEME.match(part.source) is None


def check_media(
    messages: tuple[Message, ...],
    context: ReferenceContext,
    start: int,
    *,
    preview: bool = False,
) -> Iterator[Problem]:
    """Problems of the local files that messages refer to.

    Args:
        messages: As they were read.
        context: The prompt's folder and granted roots.
        start: Place for problems of parts that have none.
        preview: Nothing is sent: that trust keeps a file from being read is only a hint.
    """
    unread = Severity.HINT if preview or context.shown else Severity.ERROR
    seen: set[tuple[str, str]] = set()
    for message in messages:
        for part in message.parts:
            if not isinstance(part, MediaPart) or not is_local(part):
                continue
            if (part.kind, part.source) in seen or len(seen) >= MOST_FILES:
                continue
            seen.add((part.kind, part.source))
            span = part.span or Span(start, start)
            yield from _check_file(part, context, span)
            if not context.trusted:
                text = (
                    f"The {part.kind} {part.source!r} is not read: files are not read in an "
                    "untrusted folder; trust the folder first."
                )
                yield Problem(NOT_TRUSTED, unread, text, span)


def _check_file(part: MediaPart, context: ReferenceContext, span: Span) -> Iterator[Problem]:
    try:
        path = confined_path(part.source, context)
        size = path.stat().st_size if path.is_file() else None
    except UnresolvedReference as error:
        yield Problem(error.code, Severity.ERROR, str(error), span)
        return
    except (OSError, ValueError):
        size = None
    if size is None:
        message = f"The {part.kind} {part.source!r} is not found beside the prompt."
        yield Problem("media-missing", Severity.ERROR, message, span)
        return
    if size > MAX_MEDIA_BYTES:
        message = (
            f"The {part.kind} {part.source!r} has {size} bytes; at most {MAX_MEDIA_BYTES} are sent."
        )
        yield Problem("media-too-large", Severity.ERROR, message, span)
    guessed = mimetypes.guess_type(path.name)[0]
    if guessed is None or (part.kind != "file" and not guessed.startswith(f"{part.kind}/")):
        message = f"The name {part.source!r} does not say which type of {part.kind} this is."
        yield Problem("media-type", Severity.WARNING, message, span)
