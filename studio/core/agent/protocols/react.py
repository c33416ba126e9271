"""ReAct text: `Thought:`, then `Action:` and `Args:` JSON, or `Final Answer:` (seed: ReAct prompt).

The grammar and every decision on messy replies: LOOPS.md and section 6 of its study.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

from studio.core.agent.protocols.base import ReadRules, only_parameter, takes_text
from studio.core.agent.protocols.json_repair import ends_inside, find_repair, repair_of
from studio.core.agent.protocols.json_text import Decoded, decode_at
from studio.core.agent.protocols.labels import Label, find_labels
from studio.core.agent.protocols.thinking import Unthought, blank_thinking
from studio.core.agent.protocols.warnings import remark
from studio.core.agent.reading import (
    Action,
    AskedCall,
    Final,
    FormatError,
    FormatErrorCode,
    Reading,
    ReadingWarning,
    ReadSpan,
    Refused,
    Repair,
)
from studio.core.text.span import Span
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Reply

_FENCE = re.compile(r"[ \t]*```[\w-]*[ \t]*\r?\n?")
_TICKS = re.compile(r"`{3,}[\w-]*|`")
_DECISIVE = ("action", "final")
_MOST_WRAPPINGS = 8
_MOST_LABELS = 2000
_NOTE = re.compile(r"^(?P<name>[\w./:\"'`*“”‘’-]+)(?:[ \t]+\([^()]*\))+$")
_HALF_STOP = re.compile(r"\n[ \t]*Obs(?:e|er|erv|erva|ervat|ervati|ervatio|ervation)?[ \t]*\Z")


def read_react(reply: Reply, rules: ReadRules) -> Reading:
    """Read a ReAct reply. The first action wins; labels count only at the start of a line."""
    thinking = blank_thinking(reply.text)
    reasoning = "\n\n".join(piece for piece in (reply.reasoning, thinking.reasoning) if piece)
    reading = _Reader(reply, thinking, rules).read()
    spans = [*reading.spans, *(ReadSpan("reasoning", span) for span in thinking.spans)]
    kept = reading.kept or thinking.piece(0, len(reply.text)).strip()
    return replace(
        reading,
        reasoning=reasoning,
        spans=tuple(sorted(spans, key=lambda item: item.span)),
        kept=kept,
    )


@dataclass(frozen=True, slots=True)
class _Args:
    """The arguments of an action, read."""

    arguments: JsonObject
    start: int
    end: int


class _Reader:
    """One pass over one reply; the lists collect what is found on the way."""

    def __init__(self, reply: Reply, thinking: Unthought, rules: ReadRules) -> None:
        self._reply = reply
        self._thinking = thinking
        self._text = thinking.text
        self._rules = rules
        self._spans: list[ReadSpan] = []
        self._warnings: list[ReadingWarning] = []

    def read(self) -> Reading:
        if self._reply.refusal or self._reply.finish_reason == "refusal":
            return Refused(text=self._reply.refusal or self._reply.text.strip())
        if not self._text.strip():
            return self._nothing()
        labels = self._find_labels()
        decisive = next((label for label in labels if label.kind in _DECISIVE), None)
        if decisive is None:
            return self._no_decision(labels)
        thought = self._read_thought(labels, decisive)
        if decisive.kind == "final":
            return self._final(decisive, thought)
        return self._action(decisive, thought)

    def _find_labels(self) -> list[Label]:
        extra = self._rules.answer_labels
        strict = _to_the_first_decision(find_labels(self._text, lenient=False, extra_final=extra))
        if strict and strict[-1].kind in _DECISIVE:
            return strict
        loose = _to_the_first_decision(
            find_labels(self._text, lenient=True, extra_final=("Answer", *extra))
        )
        return loose if loose and loose[-1].kind in _DECISIVE else strict

    # No decision ----------------------------------------------------------------------------------

    def _nothing(self) -> Reading:
        if self._reply.tool_calls:
            return _from_native(self._reply)
        match self._reply.finish_reason:
            case "length":
                return self._error(
                    "truncated", "The reply ended at the token limit before any text"
                )
            case "content_filter":
                return self._error("filtered", "The provider's filter removed the reply")
            case _:
                return self._error("empty", "The reply is empty")

    def _no_decision(self, labels: list[Label]) -> Reading:
        text = self._piece(0, len(self._text))
        if self._reply.tool_calls:
            return _from_native(self._reply)
        thought = next((label for label in labels if label.kind == "thought"), None)
        if thought is not None:
            self._label(thought)
            said = self._mark("thought", thought.end, len(self._text))
            if self._reply.finish_reason == "length":
                return self._error("truncated", "The reply was cut off in its thought", said)
            if any(label.kind == "args" for label in labels):
                message = "There are arguments but no 'Action:' before them"
                return self._error("bad_action", message, said)
            message = "There is a thought, but neither an action nor a final answer"
            return self._error("thought_only", message, said, answer=said)
        if self._reply.finish_reason == "length":
            return self._error("truncated", "The reply was cut off before any action", text)
        if self._rules.plain_is_final:
            self._warnings.append(remark("plain_answer"))
            answer = self._mark("answer", 0, len(self._text))
            return Final(answer=answer, warnings=tuple(self._warnings), spans=tuple(self._spans))
        message = "The reply has none of the labels 'Thought:', 'Action:', 'Final Answer:'"
        return self._error("no_labels", message, answer=text)

    def _error(
        self,
        code: FormatErrorCode,
        message: str,
        thought: str = "",
        *,
        tool: str = "",
        answer: str = "",
        repairs: tuple[Repair, ...] = (),
    ) -> FormatError:
        return FormatError(
            code=code, message=message, thought=thought, tool=tool, answer=answer, repairs=repairs,
            spans=tuple(self._spans), warnings=tuple(self._warnings),
        )  # fmt: skip

    # Marking --------------------------------------------------------------------------------------

    def _piece(self, start: int, end: int) -> str:
        return self._thinking.piece(start, end).strip()

    def _mark(self, label: str, start: int, end: int) -> str:
        """Note what `start`–`end` (blanks aside) was read as, and give its text."""
        piece = self._text[start:end]
        span = Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
        if span.end > span.start:
            self._spans.append(ReadSpan(label, span))  # type: ignore[arg-type]
        return self._piece(start, end)

    def _label(self, label: Label) -> None:
        self._spans.append(ReadSpan("label", Span(label.start, label.end)))
        if not label.is_strict:
            written = self._text[label.start : label.end]
            known = any(item.code == "loose_label" for item in self._warnings)
            if not known:
                span = Span(label.start, label.end)
                self._warnings.append(remark("loose_label", written, span=span))

    def _read_thought(self, labels: list[Label], decisive: Label) -> str:
        first = next((label for label in labels if label.kind == "thought"), None)
        if first is None or first.start > decisive.start:
            text = self._mark("thought", self._after_fence(0), decisive.start)
            return text.removesuffix("```").strip()
        self._label(first)
        return self._mark("thought", first.end, decisive.start)

    def _after_fence(self, start: int) -> int:
        blank = len(self._text) - len(self._text[start:].lstrip())
        fence = _FENCE.match(self._text, blank)
        return fence.end() if fence else start

    # Final answer ---------------------------------------------------------------------------------

    def _final(self, label: Label, thought: str) -> Final:
        self._label(label)
        if label.word.lower() != "final answer":
            self._warnings.append(remark("answer_label", label.word))
        end = len(self._text)
        is_fenced = self._text.lstrip().startswith("```") and label.start > 0
        if is_fenced and self._text.rstrip().endswith("```"):
            end = len(self._text.rstrip()) - 3
        answer = self._mark("answer", label.end, end)
        if any(True for _ in find_labels(self._text, lenient=False, start=label.end)):
            self._warnings.append(remark("labels_after_final"))
        if not answer:
            self._warnings.append(remark("empty_answer"))
        if self._reply.finish_reason == "length":
            self._warnings.append(remark("cut_answer"))
        return Final(
            thought=thought, answer=answer, spans=tuple(self._spans),
            warnings=tuple(self._warnings),
        )  # fmt: skip

    # Action ---------------------------------------------------------------------------------------

    def _action(self, label: Label, thought: str) -> Reading:
        self._label(label)
        name_start, name_end = self._name_line(label.end)
        raw_name = self._mark("tool", name_start, name_end)
        tool = clean_name(raw_name)
        if not tool:
            return self._error("no_tool_name", "'Action:' names no tool", thought)
        if tool != raw_name:
            self._warnings.append(remark("name_cleaned", raw_name))
        if self._reply.finish_reason == "length" and not self._text[name_end:].strip():
            return self._error("truncated", "The reply was cut off after the action", thought)
        args = self._read_args(name_end, tool, thought)
        if isinstance(args, FormatError):
            return args
        self._rest(args.end)
        call = AskedCall("call_1", tool, args.arguments, self._reply.text[args.start : args.end])
        return Action(
            thought=thought, calls=(call,), spans=tuple(self._spans),
            warnings=tuple(self._warnings), kept=self._kept(args.end),
        )  # fmt: skip

    def _kept(self, end: int) -> str:
        text = self._thinking.piece(self._after_fence(0), end)
        return text.strip()

    def _name_line(self, start: int) -> tuple[int, int]:
        """The line that names the tool: the label's own, or the next one that is not blank."""
        end = _line_end(self._text, start)
        if self._text[start:end].strip():
            return start, end
        following = start + len(self._text[start:]) - len(self._text[start:].lstrip())
        end = _line_end(self._text, following)
        line_start = self._text.rfind("\n", 0, following) + 1
        label = next(find_labels(self._text[:end], lenient=True, start=line_start), None)
        return (start, start) if label is not None else (following, end)

    def _read_args(self, start: int, tool: str, thought: str) -> _Args | FormatError:
        """The arguments after the tool's name at `start`, which is a line's end."""
        lenient = not any(find_labels(self._text[start:], lenient=False))
        label = next(find_labels(self._text, lenient=lenient, start=start), None)
        if label is not None and label.kind == "args":
            if self._text[start : label.start].strip():
                self._warnings.append(remark("text_between"))
                self._mark("ignored", start, label.start)
            self._label(label)
            return self._args_value(label.end, tool, thought, label)
        value = self._skip_open_fence(start)
        if self._text.startswith("{", value) and (label is None or value < label.start):
            self._warnings.append(remark("missing_args_label"))
            return self._args_value(start, tool, thought, None)
        if self._reply.finish_reason == "length" and label is None:
            return self._error("truncated", "The reply was cut off before its arguments", thought)
        self._warnings.append(remark("no_args"))
        return _Args({}, start, start)

    def _skip_open_fence(self, start: int) -> int:
        text = self._text
        at = start + len(text[start:]) - len(text[start:].lstrip())
        fence = _FENCE.match(text, at)
        if fence is not None:
            inside = fence.end() + len(text[fence.end() :]) - len(text[fence.end() :].lstrip())
            if text.startswith("{", inside):
                return inside
        return at

    def _args_value(
        self, start: int, tool: str, thought: str, label: Label | None
    ) -> _Args | FormatError:
        text = self._text
        at = self._skip_open_fence(start)
        after = next(find_labels(text, lenient=False, start=_line_end(text, start)), None)
        limit = after.start if after is not None else len(text)
        if text.startswith("{", at):
            decoded = decode_at(text, at)
            if isinstance(decoded, Decoded) and isinstance(decoded.value, dict):
                if decoded.has_raw_breaks:
                    self._warnings.append(remark("raw_breaks"))
                self._mark("args", at, decoded.end)
                return _Args(decoded.value, at, decoded.end)
        if at >= limit or not _TICKS.sub("", text[at:limit]).strip():
            if self._reply.finish_reason == "length" and after is None:
                return self._error(
                    "truncated", "The reply was cut off before its arguments", thought
                )
            self._warnings.append(remark("no_args"))
            return _Args({}, at if at < limit else start, at if at < limit else start)
        if not text.startswith("{", at) and (bare := self._bare_value(at, limit, tool, thought)):
            return bare
        if self._allows_text(tool, label) and (plain := self._plain_text(start, limit, tool)):
            return plain
        return self._bad_args(at, limit, tool, thought)

    def _bare_value(
        self, at: int, limit: int, tool: str, thought: str
    ) -> _Args | FormatError | None:
        """JSON that is no object: null means none; another value is wrapped after a click."""
        decoded = decode_at(self._text, at)
        if not isinstance(decoded, Decoded) or self._text[decoded.end : limit].strip("`\n\r\t "):
            return None
        if decoded.value is None:
            self._warnings.append(remark("null_args"))
            self._mark("args", at, decoded.end)
            return _Args({}, at, decoded.end)
        if self._rules.free_text and isinstance(decoded.value, str):
            return self._wrapped(decoded.value, at, decoded.end, tool, "free_text_args")
        name = only_parameter(self._rules.tool(tool))
        repairs: tuple[Repair, ...] = ()
        if name is not None:
            value: Json = {name: decoded.value}
            repairs = (repair_of(self._text, at, decoded.end, value, ("wrap_argument",)),)
        self._mark("args", at, decoded.end)
        message = "The arguments are not a JSON object"
        return self._error("args_not_object", message, thought, tool=tool, repairs=repairs)

    def _wrapped(self, value: Json, start: int, end: int, tool: str, code: str) -> _Args:
        name = only_parameter(self._rules.tool(tool)) or "input"
        self._warnings.append(remark(code, name))
        self._mark("args", start, end)
        return _Args({name: value}, start, end)

    def _allows_text(self, tool: str, label: Label | None) -> bool:
        if self._rules.free_text:
            return True
        if label is None or label.word.lower() != "action input":
            return False
        known = self._rules.tool(tool)
        return known is None or takes_text(known)

    def _plain_text(self, start: int, limit: int, tool: str) -> _Args | None:
        """Free text up to the next label, unless it is JSON gone wrong."""
        text = self._text[start:limit]
        half = _HALF_STOP.search(text)
        if half is not None:
            limit = start + half.start()
            self._warnings.append(remark("half_stop"))
            self._mark("ignored", limit, start + len(text))
        if "{" in text and find_repair(self._text, start, limit) is not None:
            return None
        value = self._text[start:limit].strip()
        at = start + self._text[start:limit].find(value)
        return self._wrapped(value, at, at + len(value), tool, "free_text_args")

    def _bad_args(self, at: int, limit: int, tool: str, thought: str) -> FormatError:
        brace = self._text.find("{", at)
        code: FormatErrorCode = "bad_args"
        why = "no JSON object begins there"
        if brace >= 0:
            decoded = decode_at(self._text, brace)
            if not isinstance(decoded, Decoded):
                code, why = decoded.code, decoded.message
                if code == "bad_args" and ends_inside(self._text, brace):
                    code, why = "truncated", "the JSON is cut off"
            else:
                why = "other text stands before the JSON"
        if code == "bad_args" and self._reply.finish_reason == "length" and brace < 0:
            code, why = "truncated", "the reply was cut off"
        repairs: tuple[Repair, ...] = ()
        if code not in ("truncated", "too_deep", "not_finite", "duplicate_key", "lone_surrogate"):
            end = at + len(self._text[at:limit].rstrip("`\n\r\t "))
            found = find_repair(self._text, at, end)
            repairs = (found,) if found is not None else ()
        self._mark("args", at, limit)
        message = f"The arguments cannot be read: {why}"
        return self._error(code, message, thought, tool=tool, repairs=repairs)

    def _rest(self, end: int) -> None:
        """Say what stands after the action, which is not used."""
        text = self._text
        rest = text[end:]
        blank = len(rest) - len(rest.lstrip())
        if rest.lstrip().startswith("```"):
            blank = rest.index("```") + 3
        if not rest[blank:].strip():
            return
        start = end + blank
        self._mark("ignored", start, len(text))
        labels = islice(find_labels(text, lenient=True, start=start), _MOST_LABELS)
        kinds = {label.kind for label in labels}
        before = len(self._warnings)
        if "observation" in kinds:
            self._warnings.append(remark("invented_observation"))
        if "action" in kinds:
            self._warnings.append(remark("second_action_ignored"))
        if "final" in kinds:
            self._warnings.append(remark("answer_after_action"))
        if len(self._warnings) == before:
            self._warnings.append(remark("text_after_args"))


def clean_name(raw: str) -> str:
    """A tool's name without the quotes, backticks, stars, brackets and notes put around it."""
    name, before = raw.strip(), ""
    for _ in range(_MOST_WRAPPINGS):
        if name == before:
            break
        before, name = name, name.strip("\"'`*“”‘’ \t")
        if name.startswith("[") and name.endswith("]"):
            name = name[1:-1]
        noted = _NOTE.match(name)
        name = noted.group("name") if noted else name
    return name


def _to_the_first_decision(labels: Iterable[Label]) -> list[Label]:
    """Labels up to the first that acts or answers."""
    found: list[Label] = []
    for label in islice(labels, _MOST_LABELS):
        found.append(label)
        if label.kind in _DECISIVE:
            break
    return found


def _line_end(text: str, start: int) -> int:
    found = text.find("\n", start)
    return len(text) if found < 0 else found


def _from_native(reply: Reply) -> Reading:
    from studio.core.agent.protocols.native import read_native

    reading = read_native(reply, ReadRules())
    return replace(reading, warnings=(*reading.warnings, remark("native_call")))
