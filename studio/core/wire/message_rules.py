"""Rules for messages of each API: one table, from the providers' references.

The API references of OpenAI and Anthropic define which keys, names, ids and media a message may
have; their servers reject the whole request for an unknown one. Anything else is not sent, and
reported.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from studio.core.prompty.document import MediaPart, Message, Role
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, text_or_json
from studio.core.wire.draft import (
    UNSUPPORTED_ATTRIBUTE,
    UNSUPPORTED_MEDIA,
    RequestDraft,
    result_id,
    tool_calls,
)
from studio.core.wire.media import is_web, split_data_uri, type_by_name

NAME_CHANGED = "name-changed"
CALL_ID = "call-id-refused"

_WRITTEN_ELSEWHERE = frozenset({"role", "content", "type", "tool_calls", "tool_call_id"})
"""Attributes that are sent as the section and its parts, not as keys."""

_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


@dataclass(frozen=True, slots=True)
class MessageRules:
    """The rules of one API."""

    who: str
    """Provider or API, as the subject of a sentence."""

    attributes: Mapping[Role, frozenset[str]]
    """Keys that a message may have besides role, content and calls, by role."""

    refused_in_name: re.Pattern[str]
    """Matches characters that are not allowed in a `name`."""

    name_length: int
    """Maximum length of a `name`, in characters."""

    call_id: re.Pattern[str]
    """Pattern of a call's id."""

    call_id_words: str
    """The pattern in words."""

    addresses: frozenset[str]
    """Kinds of media that the API downloads from a URL."""

    data: Mapping[str, tuple[str, ...]]
    """Kinds of media accepted as data, with their MIME types (`text/*`); empty for any."""

    others: frozenset[str] = frozenset()
    """Kinds that the API rejects but other servers of the same form accept: they are sent."""


CHAT = MessageRules(
    who="OpenAI chat",
    attributes={
        **dict.fromkeys(("system", "developer", "user", "tool"), frozenset({"name"})),
        "assistant": frozenset({"name", "refusal", "audio"}),
    },
    # From the server's own message: string does not match pattern '^[^\s<|\\/>]+$'.
    refused_in_name=re.compile(r"[\s<|\\/>]+"),
    name_length=64,
    call_id=re.compile(r".{1,40}", re.DOTALL),
    call_id_words="at most 40 characters",
    addresses=frozenset({"image"}),
    data={"image": _PICTURES, "audio": ("audio/wav", "audio/mpeg", "audio/mp3"), "file": ()},
    others=frozenset({"video"}),
)

RESPONSES = MessageRules(
    who="The responses API",
    attributes={},
    refused_in_name=CHAT.refused_in_name,
    name_length=64,
    call_id=re.compile(r".{1,64}", re.DOTALL),
    call_id_words="at most 64 characters",
    addresses=frozenset({"image", "file"}),
    data={"image": _PICTURES, "file": ()},
)

ANTHROPIC = MessageRules(
    who="Anthropic",
    attributes=dict.fromkeys(
        ("system", "developer", "user", "assistant", "tool"), frozenset({"cache_control"})
    ),
    refused_in_name=CHAT.refused_in_name,
    name_length=64,
    call_id=re.compile(r"[A-Za-z0-9_-]+"),
    call_id_words="letters, digits, _ and - only",
    addresses=frozenset({"image", "file"}),
    data={"image": _PICTURES, "file": ("application/pdf", "text/*")},
)


OLLAMA = MessageRules(
    who="Ollama",
    attributes={},
    refused_in_name=CHAT.refused_in_name,
    name_length=64,
    call_id=re.compile(r".*", re.DOTALL),  # no id is sent
    call_id_words="anything",
    addresses=frozenset(),
    data={"image": _PICTURES},
)

GEMINI = MessageRules(
    who="Gemini",
    attributes={},
    refused_in_name=CHAT.refused_in_name,
    name_length=64,
    call_id=re.compile(r".*", re.DOTALL),
    call_id_words="anything",
    addresses=frozenset({"image", "audio", "video", "file"}),
    data={"image": (), "audio": (), "video": (), "file": ()},
)


def sent_attributes(message: Message, draft: RequestDraft, rules: MessageRules) -> JsonDict:
    """Return the attributes of a message that the provider accepts; report the others."""
    taken = rules.attributes.get(message.role, frozenset())
    made: JsonDict = {}
    for key, value in message.attributes.items():
        if key in _WRITTEN_ELSEWHERE or (key == "name" and value is None):
            continue
        if key not in taken:
            draft.report(
                UNSUPPORTED_ATTRIBUTE,
                f"{rules.who} does not accept the attribute {key!r} of a message; it is not sent.",
                message.origin.marker,
                Severity.HINT,
            )
        elif key == "name":
            name = _sent_name(value, message, draft, rules)
            if name:
                made["name"] = name
        else:
            made[key] = value
    return made


def sendable_name(name: str, rules: MessageRules) -> str:
    """Return a name with rejected characters replaced; empty if no valid one remains."""
    return rules.refused_in_name.sub("_", name).strip("_")[: rules.name_length]


def _sent_name(value: Json, message: Message, draft: RequestDraft, rules: MessageRules) -> str:
    written = text_or_json(value)
    is_fine = not rules.refused_in_name.search(written) and len(written) <= rules.name_length
    if is_fine:
        return written
    name = sendable_name(written, rules)
    how = f"it is sent as {name!r}" if name else "it is not sent"
    draft.report(
        NAME_CHANGED,
        f"{rules.who}: a name has no blanks, none of < | \\ / > and at most {rules.name_length} "
        f"characters, so {written[:80]!r} is refused; {how}.",
        message.origin.marker,
        Severity.HINT if name else Severity.WARNING,
    )
    return name


def report_calls(messages: Sequence[Message], draft: RequestDraft, rules: MessageRules) -> None:
    """Report ids of calls that the provider rejects, each once."""
    seen: set[str] = set()
    for message in messages:
        ids = [call.id for call in tool_calls(message)]
        ids += [result_id(message)] if message.role == "tool" else []
        for each in ids:
            if each and each not in seen and not rules.call_id.fullmatch(each):
                seen.add(each)
                draft.report(
                    CALL_ID,
                    f"{rules.who}: the id of a call has {rules.call_id_words}, so {each[:80]!r} "
                    "is refused.",
                    message.origin.marker,
                )


def report_media(messages: Sequence[Message], draft: RequestDraft, rules: MessageRules) -> None:
    """Report media that are sent but that the provider rejects."""
    for message in messages:
        for part in message.parts:
            if not isinstance(part, MediaPart):
                continue
            if text := _media_refusal(part, message, rules, _type_of(part, draft)):
                draft.report(UNSUPPORTED_MEDIA, f"{rules.who}: {text}", part.span)


def _type_of(part: MediaPart, draft: RequestDraft) -> str:
    """Return the MIME type of data to send; empty if unknown, and for URLs."""
    source = part.source
    data = split_data_uri(source)
    if data is not None:
        return data.media_type
    if is_web(source):
        return ""
    declared = part.attributes.get("mediaType", part.attributes.get("media_type"))
    if isinstance(declared, str):
        return declared
    found = draft.media_types.get(source) or type_by_name(source[-_LONGEST_SUFFIX:])
    return "" if found == _ANY_TYPE else found


_LONGEST_SUFFIX = 100
_ANY_TYPE = "application/octet-stream"


def _media_refusal(part: MediaPart, message: Message, rules: MessageRules, media_type: str) -> str:
    """Return why a part is rejected; empty if it is accepted, or was reported before."""
    if part.kind in rules.others:
        return f"{part.kind} is refused; only other servers with this API may accept it."
    if part.kind not in rules.data:
        return ""
    if message.role == "assistant":
        return f"media are only allowed in user messages; the {part.kind} in this one is refused."
    types = rules.data[part.kind]
    if media_type and types and not any(fnmatchcase(media_type, each) for each in types):
        return f"{part.kind} is {', '.join(types)}; {media_type} is refused."
    if is_web(part.source) and part.kind not in rules.addresses:
        return f"{part.kind} is sent as data and never downloaded; {part.source[:60]!r} is refused."
    return ""
