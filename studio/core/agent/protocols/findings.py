"""What reading a reply finds on the way: spans, remarks and errors, for both text protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from studio.core.agent.protocols.base import ReadRules
from studio.core.agent.protocols.labels import Label
from studio.core.agent.protocols.thinking import TextWithoutReasoning, blank_reasoning
from studio.core.agent.protocols.unclosed_thinking import open_thinking
from studio.core.agent.protocols.warnings import remark
from studio.core.agent.values.reading import (
    FormatError,
    FormatErrorCode,
    ReadAs,
    Reading,
    ReadingWarning,
    ReadSpan,
    Refused,
    Repair,
)
from studio.core.text.span import Span
from studio.core.wire.reply import Reply


class Findings:
    """One pass over one reply; the lists collect what is found."""

    def __init__(self, reply: Reply, thinking: TextWithoutReasoning, rules: ReadRules) -> None:
        self.reply = reply
        """The reply, whole."""
        self.text = thinking.text
        """Its text, the model's thinking blanked."""
        self.rules = rules
        """What the reading depends on besides."""
        self._thinking = thinking
        self._spans: list[ReadSpan] = []
        self._warnings: list[ReadingWarning] = []

    @property
    def refusal(self) -> Refused | None:
        """What is to be read where the model would not answer."""
        if self.reply.refusal or self.reply.finish_reason == "refusal":
            return Refused(text=self.reply.refusal or self.reply.text.strip())
        return None

    @property
    def open_thinking(self) -> FormatError | None:
        """What is to be read where the reply is nothing but thinking that never ends."""
        return open_thinking(self.reply, self._thinking, decides=True)

    @property
    def without_text(self) -> FormatError:
        """What is to be read where the reply has no text."""
        match self.reply.finish_reason:
            case "length":
                return self.open_thinking or self.error(
                    "truncated", "The reply ended at the token limit before any text"
                )
            case "content_filter":
                return self.error("filtered", "The provider's filter removed the reply")
            case _:
                return self.open_thinking or self.error("empty", "The reply is empty")

    @property
    def spans(self) -> tuple[ReadSpan, ...]:
        """What was read as what."""
        return tuple(self._spans)

    @property
    def warnings(self) -> tuple[ReadingWarning, ...]:
        """The remarks."""
        return tuple(self._warnings)

    def raw(self, start: int, end: int) -> str:
        """A piece of the reply without the thinking in it."""
        return self._thinking.piece(start, end)

    def piece(self, start: int, end: int) -> str:
        """The same, blanks around it left out."""
        return self.raw(start, end).strip()

    def mark(self, label: ReadAs, start: int, end: int) -> str:
        """Note what `start`–`end` (blanks aside) was read as, and give its text."""
        piece = self.text[start:end]
        span = Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
        if span.end > span.start:
            self._spans.append(ReadSpan(label, span))
        return self.piece(start, end)

    def label(self, label: Label) -> None:
        """Note a label, and once that one is not written as it should be."""
        span = Span(label.start, label.end)
        self._spans.append(ReadSpan("label", span))
        known = any(item.code == "loose_label" for item in self._warnings)
        if not label.is_strict and not known:
            self.warn("loose_label", self.text[label.start : label.end], span=span)

    def warn(self, code: str, *words: str, span: Span | None = None) -> None:
        """Note a remark."""
        self._warnings.append(remark(code, *words, span=span))

    def warn_of_end(self, *, is_whole: bool = False) -> None:
        """Note that the answer was cut or filtered.

        Args:
            is_whole: whether the answer is known to be whole, because its JSON is closed.
        """
        match self.reply.finish_reason:
            case "length" if not is_whole:
                self.warn("cut_answer")
            case "content_filter":
                self.warn("filtered_answer")
            case _:
                pass

    def error(
        self,
        code: FormatErrorCode,
        message: str,
        thought: str = "",
        *,
        tool: str = "",
        answer: str = "",
        repairs: tuple[Repair, ...] = (),
    ) -> FormatError:
        """The reading of a reply that cannot be acted on."""
        return FormatError(
            code=code,
            message=message,
            thought=thought,
            tool=tool,
            answer=answer,
            repairs=repairs,
            spans=self.spans,
            warnings=self.warnings,
        )


def read_without_reasoning(
    reply: Reply, rules: ReadRules, read: Callable[[Findings], Reading]
) -> Reading:
    """Read a reply's text without what the model thought aloud, which is shown as reasoning."""
    thinking = blank_reasoning(reply.text)
    reasoning = "\n\n".join(piece for piece in (reply.reasoning, thinking.reasoning) if piece)
    reading = read(Findings(reply, thinking, rules))
    spans = [*reading.spans, *(ReadSpan("reasoning", span) for span in thinking.spans)]
    kept = reading.kept or thinking.piece(0, len(reply.text)).strip()
    return replace(
        reading,
        reasoning=reasoning,
        spans=tuple(sorted(spans, key=lambda item: item.span)),
        kept=kept,
    )
