"""The inspector's Messages tab as a value: the sent messages with their changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from studio.application.run.text import Block, Blocks, Piece, plain_text
from studio.application.run.words import plural
from studio.application.words import tr
from studio.core.agent.values.state import known_common_length
from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.diff import changes

_FOLD_FROM = 6
"""Minimum unchanged lines in a row that are folded if only changes are shown."""

_KEPT = 2
"""Unchanged lines shown beside a change."""

_SHOWN = 200
"""Maximum messages shown of a longer conversation; the others were in the previous step too."""

_LONG = 100
"""Minimum messages of a very long conversation, whose messages must be folded to be shown."""

_SHOWN_OF_LONG = 40
"""Messages that are shown of such a conversation."""

_DIFF_LINES = 4_000
"""Maximum lines of a message that is compared line by line; a longer one is shown as new."""


@dataclass(frozen=True, slots=True)
class SentMessages:
    """The contents of the tab."""

    blocks: Blocks = ()
    """The text."""

    first_change: int = -1
    """Index of the first block that is new; -1 for none."""

    summary: str = ""
    """The difference on one line: "3 messages · 1 message added, 6 lines new"."""


def messages_view(
    sent: Sequence[Message],
    before: Sequence[Message],
    *,
    only_changes: bool = False,
    shown: int | None = None,
) -> SentMessages:
    """Return messages as sent, compared with those of the previous step.

    Args:
        sent: this step's messages.
        before: the previous step's; empty for the first step, which is then shown without marks.
        only_changes: whether to fold unchanged messages.
        shown: number of messages to show at the end; None for the default.
    """
    stable = _stable_prefix(sent, before)
    writer = _Writer(only_changes=only_changes)
    if shown is None:
        shown = _SHOWN if len(sent) <= _LONG else _SHOWN_OF_LONG
    first = max(0, min(stable, len(sent) - shown))
    writer.left_out(sent[:first])
    for index in range(first, len(sent)):
        message = sent[index]
        if before and index == stable:
            writer.remark(stable)
        text = message_text(message)
        writer.heading(index, message, is_new=bool(before) and index >= len(before))
        if index < stable or not before:
            writer.unchanged(text, folds=bool(before))
        elif index < len(before) and before[index].role == message.role:
            writer.compared(message_text(before[index]), text)
        else:
            writer.added(text)
    if before and stable == len(sent) and sent:
        writer.remark(stable)
    return SentMessages(tuple(writer.blocks), writer.first_change, writer.summary(sent, before))


def message_text(message: Message) -> str:
    """Return a message's content as text, including calls and media."""
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                pieces.append(part.text)
            case ToolCallPart():
                pieces.append(f"→ {part.name}({part.arguments})   [{part.id}]")
            case MediaPart():
                pieces.append(f"[{part.kind}: {part.alt or part.source[:80]}]")
            case _:
                assert_never(part)
    return "\n".join(pieces)


def _stable_prefix(sent: Sequence[Message], before: Sequence[Message]) -> int:
    """Count the equal first messages, which a provider can take from its cache."""
    count = known_common_length(before, sent)
    for index in range(count, min(len(before), len(sent))):
        old, new = before[index], sent[index]
        if old is not new and (old.role != new.role or message_text(old) != message_text(new)):
            break
        count += 1
    return count


class _Writer:
    """A builder that collects blocks."""

    def __init__(self, *, only_changes: bool) -> None:
        self.blocks: list[Block] = []
        self.first_change = -1
        self._only_changes = only_changes
        self._added = 0
        self._removed = 0

    def heading(self, index: int, message: Message, *, is_new: bool) -> None:
        notes = [f"#{index + 1}"]
        name = message.attributes.get("name")
        if isinstance(name, str) and name:
            notes.append(name)
        answers = message.attributes.get("tool_call_id")
        if isinstance(answers, str) and answers:
            notes.append(f"answers {answers}")
        if message.origin.source == "run":
            notes.append(tr("inserted by the loop"))
        if is_new:
            notes.append("new")
            self._mark()
        pieces = (Piece(message.role, "strong"), Piece("   " + " · ".join(notes), "muted"))
        self.blocks.append(Block("role", pieces, role=message.role))

    def left_out(self, messages: Sequence[Message]) -> None:
        if messages:
            words = tr(
                "{plural} before these, the same as in the iteration before; Copy takes all"
            ).format(plural=plural(len(messages), "message"))

            def whole() -> str:
                return plain_text(messages_view(messages, (), shown=len(messages)).blocks)

            self.blocks.append(Block("rule", (Piece(words, "muted"),), whole=whole))

    def remark(self, stable: int) -> None:
        if stable:
            text = tr("{plural} above: the same as in the iteration before").format(
                plural=plural(stable, "message")
            )
            self.blocks.append(Block("rule", (Piece(text, "muted"),)))

    def unchanged(self, text: str, *, folds: bool) -> None:
        if folds:
            self._fold_or_show(text.split("\n"), keep_start=0, keep_end=0)
        else:
            self._line("body", text)

    def added(self, text: str) -> None:
        self._added += text.count("\n") + 1
        self._mark()
        self._line("added", text)

    def compared(self, old: str, new: str) -> None:
        """Add the differences of one message, line by line."""
        before, after = old.split("\n"), new.split("\n")
        if len(before) + len(after) > _DIFF_LINES:
            self.added(new)
            return
        for tag, i1, i2, j1, j2 in changes(before, after):
            if tag == "equal":
                first, last = j1 == 0, j2 == len(after)
                self._fold_or_show(after[j1:j2], 0 if first else _KEPT, 0 if last else _KEPT)
                continue
            if i2 > i1:
                self._removed += i2 - i1
                self._mark()
                self._line("removed", "\n".join(before[i1:i2]))
            if j2 > j1:
                self.added("\n".join(after[j1:j2]))

    def summary(self, sent: Sequence[Message], before: Sequence[Message]) -> str:
        if not sent:
            return ""
        if not before:
            return plural(len(sent), "message")
        changes: list[str] = []
        if len(sent) > len(before):
            changes.append(
                tr("{plural} added").format(plural=plural(len(sent) - len(before), "message"))
            )
        if self._added:
            changes.append(tr("{plural} new").format(plural=plural(self._added, "line")))
        if self._removed:
            changes.append(tr("{plural} gone").format(plural=plural(self._removed, "line")))
        words = ", ".join(changes) or tr("nothing new")
        return f"{plural(len(sent), 'message')} · {words}"

    def _fold_or_show(self, lines: list[str], keep_start: int, keep_end: int) -> None:
        hidden = len(lines) - keep_start - keep_end
        if not self._only_changes or hidden < _FOLD_FROM:
            self._line("body", "\n".join(lines))
            return
        if keep_start:
            self._line("body", "\n".join(lines[:keep_start]))
        self._line("same", tr("{plural} as before").format(plural=plural(hidden, "line")))
        if keep_end:
            self._line("body", "\n".join(lines[-keep_end:]))

    def _line(self, kind: str, text: str) -> None:
        match kind:
            case "added":
                self.blocks.append(Block("added", (Piece(text),)))
            case "removed":
                self.blocks.append(Block("removed", (Piece(text, "muted"),)))
            case "same":
                self.blocks.append(Block("same", (Piece(text, "muted"),)))
            case _:
                self.blocks.append(Block("body", (Piece(text),)))

    def _mark(self) -> None:
        if self.first_change < 0:
            self.first_change = len(self.blocks)
