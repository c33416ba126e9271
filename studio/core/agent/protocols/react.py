"""ReAct text: `Thought:`, then `Action:` and `Args:` JSON, or `Final Answer:`.

Decisions on malformed replies: docs/design/agent-loop.md.

Also the mistakes that make a ReAct action unusable: each has a name and a repair.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from studio.core.agent.protocols.findings import (
    Findings,
    Label,
    ReadRules,
    find_labels,
    read_without_reasoning,
    remark,
)
from studio.core.agent.protocols.json_repair import ends_inside, read_value
from studio.core.agent.protocols.native import arguments_of, named_tool, near_name, read_call
from studio.core.agent.protocols.react_args import FENCE, ArgsReader, line_end
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.step import Action, Final, FormatError, Reading, Repair, RequestedCall
from studio.core.text.source import Span
from studio.core.text.values import Json
from studio.core.wire.reply import Reply

_FINAL = re.compile(r"[\s\"'`*\[]*final[ _]?answer[\s\"'`*\].]*", re.IGNORECASE)
_NOTHING = re.compile(
    r"[\s\"'`*\[(]*(?:none|null|nil|n/?a|nothing|-+"
    r"|no(?: further)? (?:action|tool)s?(?: \w{1,20}){0,2})[\s\"'`*\]).]*",
    re.IGNORECASE,
)
_ONE_LINE = re.compile(
    r"[\"'`*]*(?P<name>[^\W\d](?:[\w.:/-]{0,200}\w)?)[\"'`*]*[ \t]*[:,]?[ \t]*(?=\{)"
)


def find_slip(
    found: Findings, label: Label, start: int, end: int, thought: str
) -> FormatError | None:
    """Return the error in the line that names the tool; None if it is valid.

    Args:
        found: the reply.
        label: the `Action:` before the line.
        start: start of the line, after the label.
        end: end of the line.
        thought: the thought before it.
    """
    line = found.text[start:end]
    if not line.strip() or found.rules.tool(line.strip()) is not None:
        return None
    if _FINAL.fullmatch(line):
        return _final_as_action(found, label, end, thought)
    if _NOTHING.fullmatch(line):
        return _no_action(found, label, end, thought)
    one_line = _ONE_LINE.match(line, len(line) - len(line.lstrip()))
    if one_line is not None:
        return _arguments_beside(found, start, one_line, thought)
    return _call(found, start, end, thought)


def _final_as_action(found: Findings, label: Label, end: int, thought: str) -> FormatError:
    """Report `Action: Final Answer` that has the answer in its arguments."""
    text = found.text
    args = next(find_labels(text, lenient=True, start=end), None)
    is_args = args is not None and args.kind in ("args", "final")
    answer = text[args.end if args is not None and is_args else end :].strip()
    answer = _single(answer)
    message = "'Final Answer' is written as an action"
    if found.reply.finish_reason == "length":
        return found.error("truncated", f"{message}, and the reply was cut off", thought)
    if not answer:
        return found.error("bad_action", message, thought)
    piece = Span(label.start, len(text.rstrip()))
    after = f"Final Answer: {answer}"
    repair = Repair(
        "action_final", "Read it as the final answer", text[piece.start : piece.end], after, piece
    )
    return found.error("bad_action", message, thought, answer=answer, repairs=(repair,))


def _single(text: str) -> str:
    """Return the answer from a JSON value with a single text; else the text itself."""
    read = read_value(text, 0) if text.startswith(("{", '"')) else None
    if read is None or text[read[1] :].strip():
        return text
    value: Json = read[0]
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else text


def _no_action(found: Findings, label: Label, end: int, thought: str) -> FormatError | None:
    """Report `Action: None` before the final answer."""
    text = found.text
    final = next(
        (item for item in find_labels(text, lenient=True, start=end) if item.kind == "final"), None
    )
    if final is None:
        return None
    piece = Span(label.start, final.start)
    repair = Repair(
        "no_action", "Leave the empty action out", text[piece.start : piece.end], "", piece
    )
    message = "The action is none, and a final answer follows"
    answer = text[final.end :].strip()
    return found.error("bad_action", message, thought, answer=answer, repairs=(repair,))


def _arguments_beside(
    found: Findings, start: int, one_line: re.Match[str], thought: str
) -> FormatError:
    """Report `Action: tool {…}` on one line."""
    text, at = found.text, start + one_line.end()
    name = one_line["name"]
    message = "The arguments are after the tool's name, without 'Args:'"
    read = read_value(text, at)
    if read is None or not isinstance(read[0], dict):
        code = "truncated" if ends_inside(text, at) else "bad_args"
        return found.error(code, message, thought, tool=name)  # type: ignore[arg-type]
    piece = Span(start, read[1])
    after = f" {name}\nArgs: {json_text(read[0])}"
    repair = Repair(
        "one_line_action",
        "Write name and arguments on lines of their own",
        text[start : read[1]].strip(),
        after,
        piece,
    )
    return found.error("bad_action", message, thought, tool=name, repairs=(repair,))


def _call(found: Findings, start: int, end: int, thought: str) -> FormatError | None:
    """Report `Action: tool(a="b")`, possibly over several lines."""
    text = found.text
    after = next(find_labels(text, lenient=True, start=end), None)
    limit = after.start if after is not None else len(text)
    call = read_call(text[start:end].strip("`* \t"))
    stop = end
    if call is None:
        call, stop = read_call(text[start:limit].strip("`* \t\n")), limit
    opened = re.match(r"[ \t`*]*[^\W\d][\w.:/-]{0,200}\((?![^()\n]*\)[ \t]*\S)", text[start:end])
    if call is None:
        if opened is None or ")" in text[start:limit]:
            return None
        message = "The reply ended while the call was written"
        return found.error("truncated", message, thought)
    name, given = call
    tool = named_tool(name, found.rules)
    if tool is None and found.rules.tools:
        return None
    arguments = arguments_of(tool, given)
    message = "The action is written as a call; its name and its arguments have labels of their own"
    repairs: tuple[Repair, ...] = ()
    if arguments is not None:
        before = text[start:stop]
        written = f" {tool.name if tool is not None else name}\nArgs: {json_text(arguments)}"
        piece = Span(start, start + len(before.rstrip()))
        title = "Read the call as name and arguments"
        repairs = (Repair("call_syntax", title, before.strip(), written, piece),)
    return found.error("bad_action", message, thought, tool=name, repairs=repairs)


_DECISIVE = ("action", "final")
_MOST_WRAPPINGS = 8
_MOST_LABELS = 2000
_NOTE = re.compile(r"^(?P<name>[\w./:\"'`*“”‘’-]+)(?:[ \t]+\([^()]*\))+$")


def read_react(reply: Reply, rules: ReadRules) -> Reading:
    """Read a ReAct reply. The first action counts; labels count only at the start of a line."""
    return read_without_reasoning(reply, rules, lambda found: _Reader(found).read())


class _Reader:
    """One pass over one reply, which collects spans and warnings."""

    def __init__(self, found: Findings) -> None:
        self._found = found
        self._text = found.text

    def read(self) -> Reading:
        if (refused := self._found.refusal) is not None:
            return refused
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
        extra = self._found.rules.answer_labels
        strict = _to_the_first_decision(find_labels(self._text, lenient=False, extra_final=extra))
        if strict and strict[-1].kind in _DECISIVE:
            return strict
        loose = _to_the_first_decision(
            find_labels(self._text, lenient=True, extra_final=("Answer", *extra))
        )
        return loose if loose and loose[-1].kind in _DECISIVE else strict

    # No decision ----------------------------------------------------------------------------------

    def _nothing(self) -> Reading:
        if self._found.reply.tool_calls:
            return _from_native(self._found.reply)
        return self._found.without_text

    def _no_decision(self, labels: list[Label]) -> Reading:
        text = self._found.piece(0, len(self._text))
        if self._found.reply.tool_calls:
            return _from_native(self._found.reply)
        thought = next((label for label in labels if label.kind == "thought"), None)
        if thought is not None:
            self._found.label(thought)
            marked = self._found.mark("thought", thought.end, len(self._text))
            if self._found.reply.finish_reason == "length":
                return self._found.error(
                    "truncated", "The reply was cut off in its thought", marked
                )
            if any(label.kind == "args" for label in labels):
                message = "There are arguments but no 'Action:' before them"
                return self._found.error("bad_action", message, marked)
            message = "There is a thought, but neither an action nor a final answer"
            return self._found.error("thought_only", message, marked, answer=marked)
        if self._found.reply.finish_reason == "length":
            return self._found.error("truncated", "The reply was cut off before any action", text)
        if self._found.rules.plain_is_final:
            self._found.warn("plain_answer")
            answer = self._found.mark("answer", 0, len(self._text))
            self._found.warn_of_end()
            return Final(answer=answer, warnings=self._found.warnings, spans=self._found.spans)
        message = "The reply has none of the labels 'Thought:', 'Action:', 'Final Answer:'"
        return self._found.error("no_labels", message, answer=text)

    def _read_thought(self, labels: list[Label], decisive: Label) -> str:
        first = next((label for label in labels if label.kind == "thought"), None)
        if first is None or first.start > decisive.start:
            text = self._found.mark("thought", self._after_fence(0), decisive.start)
            return text.removesuffix("```").strip()
        self._found.label(first)
        return self._found.mark("thought", first.end, decisive.start)

    def _after_fence(self, start: int) -> int:
        blank = len(self._text) - len(self._text[start:].lstrip())
        fence = FENCE.match(self._text, blank)
        return fence.end() if fence else start

    # Final answer ---------------------------------------------------------------------------------

    def _final(self, label: Label, thought: str) -> Final:
        self._found.label(label)
        if label.word.lower() != "final answer":
            self._found.warn("answer_label", label.word)
        end = len(self._text)
        is_fenced = self._text.lstrip().startswith("```") and label.start > 0
        if is_fenced and self._text.rstrip().endswith("```"):
            end = len(self._text.rstrip()) - 3
        answer = self._found.mark("answer", label.end, end)
        if any(True for _ in find_labels(self._text, lenient=False, start=label.end)):
            self._found.warn("labels_after_final")
        if not answer:
            self._found.warn("empty_answer")
        self._found.warn_of_end()
        return Final(
            thought=thought, answer=answer, spans=self._found.spans, warnings=self._found.warnings
        )

    # Action ---------------------------------------------------------------------------------------

    def _action(self, label: Label, thought: str) -> Reading:
        self._found.label(label)
        name_start, name_end = self._name_line(label.end)
        raw_name = self._found.mark("tool", name_start, name_end)
        slip = find_slip(self._found, label, name_start, name_end, thought)
        if slip is not None:
            return slip
        tool = clean_name(raw_name)
        if not tool:
            return self._found.error("no_tool_name", "'Action:' names no tool", thought)
        if tool != raw_name:
            self._found.warn("name_cleaned", raw_name)
        if self._found.reply.finish_reason == "length" and not self._text[name_end:].strip():
            return self._found.error("truncated", "The reply was cut off after the action", thought)
        args = ArgsReader(self._found).read(name_end, tool, thought)
        if isinstance(args, FormatError):
            return args
        self._rest(args.end)
        near = near_name(tool, [each.name for each in self._found.rules.tools])
        line = Span(name_start, name_end)
        renamed = Repair("tool_name", f"Use the tool {near!r}", tool, f" {near}", line)
        call = RequestedCall(
            "call_1",
            tool,
            args.arguments,
            self._found.reply.text[args.start : args.end],
            repairs=(renamed,) if near else (),
        )
        return Action(
            thought=thought,
            calls=(call,),
            spans=self._found.spans,
            warnings=self._found.warnings,
            kept=self._kept(args.end),
        )

    def _kept(self, end: int) -> str:
        return self._found.raw(self._after_fence(0), end).strip()

    def _name_line(self, start: int) -> tuple[int, int]:
        """Return the span of the line with the tool's name: the label's, or the next nonblank."""
        end = line_end(self._text, start)
        if self._text[start:end].strip():
            return start, end
        following = start + len(self._text[start:]) - len(self._text[start:].lstrip())
        end = line_end(self._text, following)
        line_start = self._text.rfind("\n", 0, following) + 1
        label = next(find_labels(self._text[:end], lenient=True, start=line_start), None)
        return (start, start) if label is not None else (following, end)

    def _rest(self, end: int) -> None:
        """Report the text after the action, which is not used."""
        text = self._text
        rest = text[end:]
        blank = len(rest) - len(rest.lstrip())
        if rest.lstrip().startswith("```"):
            blank = rest.index("```") + 3
        if not rest[blank:].strip():
            return
        start = end + blank
        self._found.mark("ignored", start, len(text))
        labels = islice(find_labels(text, lenient=True, start=start), _MOST_LABELS)
        kinds = {label.kind for label in labels}
        before = len(self._found.warnings)
        if "observation" in kinds:
            self._found.warn("invented_observation")
        if "action" in kinds:
            self._found.warn("second_action_ignored")
        if "final" in kinds:
            self._found.warn("answer_after_action")
        if len(self._found.warnings) == before:
            self._found.warn("text_after_args")


def clean_name(raw: str) -> str:
    """Return a tool's name without surrounding quotes, backticks, stars, brackets and remarks."""
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
    """Return the labels up to the first action or answer."""
    found: list[Label] = []
    for label in islice(labels, _MOST_LABELS):
        found.append(label)
        if label.kind in _DECISIVE:
            break
    return found


def _from_native(reply: Reply) -> Reading:
    from studio.core.agent.protocols.native import read_native

    reading = read_native(reply, ReadRules())
    return replace(reading, warnings=(*reading.warnings, remark("native_call")))
