"""Requests that hold no conversation: embeddings and images (Prompty spec §7.2, §7.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from studio.core.prompty.messages import Message
from studio.core.text.values import Json
from studio.core.wire.draft import Draft
from studio.core.wire.origins import text_origin


def embedding_body(messages: Sequence[Message], draft: Draft) -> dict[str, Json]:
    """One text is sent alone, several as a list."""
    texts: list[Json] = [message.text for message in messages]
    for index, message in enumerate(messages):
        draft.origins.note(texts, index, text_origin(message))
    if len(texts) == 1:
        draft.origins.note_top("input", text_origin(messages[0]))
    return {
        "model": draft.model.id,
        "input": texts[0] if len(texts) == 1 else texts,
        **_further(draft, ("model", "input")),
    }


def image_body(messages: Sequence[Message], draft: Draft) -> dict[str, Json]:
    """The last message of the user is what is drawn."""
    own = [message for message in messages if message.role == "user"][-1:] or messages
    prompt = "\n\n".join(message.text for message in own)
    draft.origins.note_top("prompt", text_origin(*own, between="\n\n"))
    return {"model": draft.model.id, "prompt": prompt, **_further(draft, ("model", "prompt"))}


def _further(draft: Draft, taken: Sequence[str]) -> dict[str, Json]:
    """Sampling options mean nothing here; only the author's own further ones are sent."""
    further = draft.model.options.get("additionalProperties")
    if not isinstance(further, Mapping):
        return {}
    return {str(name): value for name, value in further.items() if name not in taken}
