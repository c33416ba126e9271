"""Resolves media parts to an address or to data, and says what a provider cannot take."""

from __future__ import annotations

from collections.abc import Iterable

from studio.core.prompty.messages import MediaPart, Message
from studio.core.text.problem import Severity
from studio.core.wire.draft import UNSUPPORTED_ATTRIBUTE, UNSUPPORTED_MEDIA, RequestDraft
from studio.core.wire.media import MediaData, MediaFault, is_web, split_data_uri

_DETAILS = ("low", "high", "auto", "original")
_EVERYWHERE = frozenset(("type", "mediaType", "media_type", "alt", "name", "filename"))


def resolve_media(part: MediaPart, draft: RequestDraft) -> MediaData | str:
    """Data to send, or the source as it is (an address, or a path that nobody can read here)."""
    source = part.source
    data = split_data_uri(source)
    if data is not None:
        return data
    if is_web(source):
        return source
    media_type = declared_type(part)
    found = draft.media.read(source) if draft.media is not None and source else None
    if isinstance(found, MediaData):
        draft.media_types[source] = media_type or found.media_type
        return found if not media_type else MediaData(media_type, found.data, found.name)
    if media_type:
        # Prompty spec §7.5: with a media type beside it, the source is the data itself.
        return MediaData(media_type, source, "")
    if isinstance(found, MediaFault):
        draft.report(found.code, found.message, part.span, Severity.ERROR)
    return source


def declared_type(part: MediaPart) -> str:
    """The MIME type that the author or a thread gave."""
    value = part.attributes.get("mediaType", part.attributes.get("media_type"))
    return value if isinstance(value, str) else ""


def image_detail(part: MediaPart, draft: RequestDraft) -> str | None:
    """OpenAI's `detail`, also from the section dialect's `quality` where the word is known."""
    for name in ("detail", "quality"):
        value = part.attributes.get(name)
        if value is None:
            continue
        if value in _DETAILS:
            return str(value)
        draft.report(
            UNSUPPORTED_ATTRIBUTE,
            f"The attribute {name}={value!r} is not sent: the detail of an image is one of"
            f" {', '.join(_DETAILS)}.",
            part.span,
        )
    return None


def report_attributes(part: MediaPart, draft: RequestDraft, known: Iterable[str] = ()) -> None:
    """Report attributes of a part that have no place in the request."""
    for name in part.attributes:
        if name not in _EVERYWHERE and name not in known:
            draft.report(
                UNSUPPORTED_ATTRIBUTE,
                f"The attribute {name!r} of this {part.kind} is not sent: the provider has no"
                " place for it.",
                part.span,
            )


def report_text_only(message: Message, draft: RequestDraft, place: str) -> None:
    """Report media of a message that goes where a provider takes nothing but text."""
    for part in message.parts:
        if isinstance(part, MediaPart):
            draft.report(
                UNSUPPORTED_MEDIA,
                f"{place} is text alone: the {part.kind} {part.source[:60]!r} is left out.",
                part.span,
            )


def report_kind(part: MediaPart, draft: RequestDraft, provider: str) -> None:
    """Report a kind of media that the provider does not take."""
    draft.report(
        UNSUPPORTED_MEDIA,
        f"{provider} takes no {part.kind} here; {part.source[:60]!r} is left out.",
        part.span,
        Severity.ERROR,
    )


def file_name(part: MediaPart, data: MediaData) -> str:
    """The name that a file is sent under."""
    for name in ("filename", "name"):
        value = part.attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return data.name or "file"
