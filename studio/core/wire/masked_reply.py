"""A reply masked while it comes: a secret may be split between its pieces."""

from __future__ import annotations

from dataclasses import replace

from studio.core.masking.masker import MaskedStream, Masker
from studio.core.masking.walk import changed
from studio.core.wire.reply import (
    CarriedDelta,
    ChoiceDelta,
    Finished,
    ReasoningDelta,
    RefusalDelta,
    RefusedOption,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    UsageDelta,
)


class ReplyMask:
    """Masks the pieces of one reply, also where a secret is split between them."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self.found: set[str] = set()
        """References of the secrets that the reply holds."""
        self._streams: dict[tuple[type, int], MaskedStream] = {}

    def feed(self, delta: ReplyDelta) -> tuple[ReplyDelta, ...]:
        """What can be shown by now."""
        match delta:
            case TextDelta(text) | ReasoningDelta(text) | RefusalDelta(text):
                shown = self._stream(type(delta)).feed(text)
                if shown == text:
                    return (delta,)
                return (type(delta)(shown),) if shown else ()
            case ToolCallDelta():
                shown = self._stream(ToolCallDelta, delta.index).feed(delta.arguments)
                return (delta if shown == delta.arguments else replace(delta, arguments=shown),)
            case CarriedDelta(item):
                return (CarriedDelta(changed(item, self._mask)),)
            case ChoiceDelta(index, text):
                return (ChoiceDelta(index, self._stream(ChoiceDelta, index).feed(text)),)
            case ReplyNotice(text):
                return (ReplyNotice(self._mask(text)),)
            case RefusedOption(value=value):
                return (replace(delta, value=self._mask(value)),)
            case Finished():
                return (*self.close(), delta)
            case UsageDelta():
                return (delta,)

    def close(self) -> tuple[ReplyDelta, ...]:
        """What was held, now that nothing follows."""
        made: list[ReplyDelta] = []
        for (kind, index), stream in self._streams.items():
            text = stream.close()
            if text:
                if kind is ToolCallDelta:
                    made.append(ToolCallDelta(index, arguments=text))
                else:
                    made.append(ChoiceDelta(index, text) if kind is ChoiceDelta else kind(text))
        self._streams.clear()
        return tuple(made)

    def _mask(self, text: str) -> str:
        return self._masker.mask(text, self.found)

    def _stream(self, kind: type, index: int = 0) -> MaskedStream:
        stream = self._streams.get((kind, index))
        if stream is None:
            stream = self._streams[kind, index] = self._masker.stream(self.found)
        return stream
