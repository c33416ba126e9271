"""The inspector's Reply tab as a value: the raw reply, colored by how each part was read."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from studio.application.run.cards.timeline import answer_of
from studio.application.run.text import Block, Blocks, Piece, Style, body, title
from studio.application.run.words import plural
from studio.application.words import marked, tr
from studio.core.agent.loop.setup import leaves_words
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import (
    Action,
    Final,
    FormatError,
    ReadAs,
    Reading,
    ReadingWarning,
    ReadSpan,
    Refused,
    Step,
    StepError,
)
from studio.core.wire.reply import FinishReason, Reply

STYLE_OF: dict[ReadAs, Style] = {
    "thought": "thought",
    "label": "label",
    "tool": "tool",
    "args": "args",
    "answer": "answer",
    "reasoning": "reasoning",
    "ignored": "ignored",
}
"""The style of each kind of span."""

_ENDED: dict[FinishReason, str] = {
    "stop": marked("ended normally"),
    "tool_calls": marked("ended with tool calls"),
    "length": marked("cut off at the token limit"),
    "content_filter": marked("blocked by the content filter"),
    "refusal": "refused",
    "cancelled": "stopped",
    "error": marked("broke off"),
    "unknown": "ended",
}


def reply_blocks(step: Step, error: StepError | None = None) -> Blocks:
    """Show a step's reply: raw text with spans, reasoning, native calls, and findings.

    Args:
        step: the step.
        error: the error at which the run is paused, if it is in this step.
    """
    blocks: list[Block] = []
    if error is not None and error.kind == "limit":
        error = None  # the error is not about this reply
    if error is not None and not isinstance(step.reading, FormatError):
        blocks.append(Block("error", (Piece(f"{error.message} {error.hint}".strip()),)))
    reply = step.reply or step.partial
    if reply is None:
        return tuple(blocks)
    blocks += _findings(step, error.message if error is not None else "")
    blocks += _streams(reply, step.reading)
    renamed = [each.sentence for each in reply.refused_options if each.instead]
    notices = [text for text in reply.notices if not is_passing(text)]
    blocks += [_note(text) for text in (*renamed, *notices)]
    blocks.append(Block("rule", (Piece(_ending(step, reply), "muted"),)))
    return tuple(blocks)


def streaming_blocks(reply: Reply, reading: Reading | None = None) -> Blocks:
    """Return a streaming reply, as far as it has arrived.

    Args:
        reply: the text so far.
        reading: how the text was read for display, if it was.
    """
    blocks = list(_streams(reply, reading))
    blocks += [_note(text) for text in reply.notices[-3:]]
    return tuple(blocks)


def is_passing(notice: str) -> bool:
    """Return whether a notice only reports progress ("Reading 300 tokens …")."""
    return notice.endswith("…")


def _note(text: str) -> Block:
    return Block("note", (Piece(text, "muted"),))


def _streams(reply: Reply, reading: Reading | None) -> list[Block]:
    blocks: list[Block] = []
    if reply.reasoning:
        blocks += [title(tr("Reasoning")), body(reply.reasoning, "reasoning")]
    if reply.text:
        if reply.reasoning or reply.tool_calls:
            blocks.append(title(tr("Text")))
        spans = reading.spans if reading is not None else ()
        blocks.append(Block("body", read_pieces(reply.text, spans)))
    if reply.refusal:
        blocks += [title(tr("Refusal")), body(reply.refusal)]
    for number, call in enumerate(reply.tool_calls, start=1):
        blocks.append(title(tr("Tool call {number}").format(number=number), call.id))
        pieces = (Piece(call.name, "tool"), Piece(" "), Piece(call.arguments, "args"))
        blocks.append(Block("body", pieces))
    return blocks


def read_pieces(text: str, spans: tuple[ReadSpan, ...]) -> tuple[Piece, ...]:
    """Split a raw reply at its spans; of overlapping ones the earlier wins."""
    pieces: list[Piece] = []
    done = 0
    for item in sorted(spans, key=lambda item: (item.span.start, item.span.end)):
        start, end = max(done, item.span.start), min(len(text), item.span.end)
        if end <= start:
            continue
        if start > done:
            pieces.append(Piece(text[done:start], "muted"))
        pieces.append(Piece(text[start:end], STYLE_OF[item.label]))
        done = end
    rest = text[done:]
    if pieces and rest and not rest.strip():
        # Blanks have no color; as separate pieces they would prevent appending to a growing text.
        pieces[-1] = Piece(pieces[-1].text + rest, pieces[-1].style)
    elif rest:
        pieces.append(Piece(rest, "muted" if spans else "plain"))
    return tuple(pieces)


def legend_of(step: Step) -> tuple[tuple[str, Style], ...]:
    """Return the kinds of spans in a step's reply, with their names, by first occurrence."""
    if step.reading is None:
        return ()
    names: dict[ReadAs, str] = {
        "thought": tr("thought"),
        "tool": tr("tool"),
        "args": tr("arguments"),
        "answer": tr("answer"),
        "reasoning": tr("reasoning"),
        "ignored": tr("ignored"),
    }
    seen: dict[str, Style] = {}
    for item in step.reading.spans:
        if item.label in names:
            seen.setdefault(names[item.label], STYLE_OF[item.label])
    return tuple(seen.items())


def _findings(step: Step, told: str) -> list[Block]:
    """Return the findings of a reply that the error does not name."""
    blocks: list[Block] = []
    if isinstance(step.reading, FormatError):
        blocks.append(Block("error", (Piece(step.reading.message),)))
        for repair in step.reading.repairs:
            blocks.append(
                Block("note", (Piece(tr("Repair offered: {title}").format(title=repair.title)),))
            )
    if step.partial is not None and step.reply is None:
        blocks.append(
            Block("error", (Piece(tr("The reply broke off here; this part was received.")),))
        )
    blocks += [_warning(each) for each in step.warnings if each.message not in told]
    return blocks


def _warning(warning: ReadingWarning) -> Block:
    return Block("warning", (Piece(warning.message),))


def _ending(step: Step, reply: Reply) -> str:
    parts = [
        {
            "live": "",
            "recorded": tr("replayed from the recording"),
            "mock": tr("mocked"),
            "person": tr("written by you"),
            "studio": tr("made by the studio"),
        }[step.reply_origin]
    ]
    parts.append(tr("read as ") + _read_as(step.reading) if step.reading is not None else "")
    codes = {each.code for each in step.warnings}
    said = {"stop": bool(step.stopped_by), "length": "cut_answer" in codes}
    if reply.finish_reason is not None and not said.get(reply.finish_reason):
        parts.append(tr(_ENDED[reply.finish_reason]))
    match step.stopped_by:
        case "server":
            parts.append(tr("ended normally, or at a stop sequence"))
        case "studio":
            parts.append(tr("cut by the studio at an invented observation"))
        case "user":
            parts.append(tr("cut off by you"))
    words = " · ".join(part for part in parts if part)
    return words[:1].upper() + words[1:]


def _read_as(reading: Reading) -> str:
    match reading:
        case Action():
            return plural(len(reading.calls), "call")
        case Final():
            return tr("the final answer")
        case Refused():
            return tr("a refusal")
        case FormatError():
            return tr("an error ({replace})").format(replace=reading.code.replace("_", " "))


# The answer of a run: the earlier questions and answers, and a long answer in parts.

_MOST_STEPS = 500
"""Maximum steps of a run that is read as a conversation; reading a longer one takes too long."""

_MARKS = re.compile(r"([\\`*_{}\[\]()#+\-.!|<>~])")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One question and its answer."""

    question: str
    """Question of the user."""

    answer: str = ""
    """Answer of the model; empty until there is one."""


def turns_of(state: RunState) -> tuple[ChatTurn, ...]:
    """Return all turns, the current answer's last; one turn for a run that was never continued."""
    question = state.setup.question
    made: list[ChatTurn] = []
    if len(state.steps) <= _MOST_STEPS:
        steps: Sequence[Step] = (*state.steps, state.step)
        for step, after in pairwise(steps):
            is_answered = answer_of(step) is not None and after.number > step.number
            if is_answered and not leaves_words(state.setup, step.reading):
                made.append(ChatTurn(question, _answered(step)))
                question = _asked(after)
    return (*made, ChatTurn(question, state.answer or ""))


def _answered(step: Step) -> str:
    texts = [message.text for message in step.appended if message.role == "assistant"]
    if texts:
        return texts[-1]
    return answer_of(step) or ""


def _asked(step: Step) -> str:
    asked = [message.text for message in step.messages if message.role == "user"]
    return asked[-1] if asked else ""


def thread_markdown(state: RunState) -> str:
    """Return the turns before the last answer, and its question, as Markdown; empty without any."""
    turns = turns_of(state)
    if len(turns) < 2:
        return ""
    parts: list[str] = []
    for turn in turns[:-1]:
        parts += [_quoted(turn.question), turn.answer or "*(empty)*", "---"]
    return "\n\n".join([*parts, _quoted(turns[-1].question)]) + "\n\n"


def _quoted(text: str) -> str:
    """Return the user's text as a Markdown quotation; it is not read as Markdown itself."""
    lines = text.strip().splitlines() or ["…"]
    words = [_MARKS.sub(lambda found: "\\" + found[0], line.strip()) for line in lines]
    return "\n".join(f"> **{line}**" if line else ">" for line in words)


PART_CHARACTERS = 1_500
"""Approximate characters of a part, a screenful; Qt lays it out in about 5 ms."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence of code."""

    opening: str
    """Its first line."""

    mark: str
    """The backticks or tildes that close it."""


def markdown_parts(text: str, most: int = PART_CHARACTERS) -> Iterator[str]:
    """Split Markdown at the ends of paragraphs, outside of fenced code.

    A part that reaches twice the length without such an end is split anyway: fenced code between
    two lines, with a fence of its own in each part; a paragraph at a line end or a space.

    Args:
        text: Markdown.
        most: length in characters after which a part ends at the next paragraph.
    """
    part: list[str] = []
    length = 0
    fence: _Fence | None = None
    for line in text.splitlines(keepends=True):
        for piece in _pieces(line, 2 * most):
            part.append(piece)
            length += len(piece)
            fence = _fence_after(piece, fence)
            if length >= most and fence is None and not piece.strip():
                yield "".join(part)
                part, length = [], 0
            elif length >= 2 * most:
                yield "".join(part) + (f"\n{fence.mark}\n" if fence is not None else "")
                part, length = ([fence.opening] if fence is not None else []), 0
    if part:
        yield "".join(part)


def _fence_after(line: str, fence: _Fence | None) -> _Fence | None:
    """Return the fence that is open after a line."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    if fence is None:
        return _Fence(line, match[1])
    closes = match[1].startswith(fence.mark) and not line[match.end() :].strip()
    return None if closes else fence


def _pieces(line: str, most: int) -> Iterator[str]:
    """Yield a line, split at spaces if it is very long."""
    while len(line) > most:
        space = _SPACE.search(line, most)
        at = space.end() if space is not None and space.end() < 2 * most else most
        yield line[:at]
        line = line[at:]
    yield line
