"""Slips in a ReAct action that no tool can be called by: each is named, and its repair offered."""

from __future__ import annotations

import re

from studio.core.agent.protocols.call_syntax import arguments_of, named_tool, read_call
from studio.core.agent.protocols.findings import Findings
from studio.core.agent.protocols.json_repair import ends_inside, read_value
from studio.core.agent.protocols.labels import Label, find_labels
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.reading import FormatError, Repair
from studio.core.text.span import Span
from studio.core.text.values import Json

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
    """What is wrong with the line that names the tool; None where it names one.

    Args:
        found: the reply.
        label: the `Action:` before the line.
        start: where the line begins, behind the label.
        end: where it ends.
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
    """`Action: Final Answer`, the answer in its arguments."""
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
    """The answer, where it stands in JSON with one text."""
    read = read_value(text, 0) if text.startswith(("{", '"')) else None
    if read is None or text[read[1] :].strip():
        return text
    value: Json = read[0]
    if isinstance(value, dict) and len(value) == 1:
        value = next(iter(value.values()))
    return value if isinstance(value, str) else text


def _no_action(found: Findings, label: Label, end: int, thought: str) -> FormatError | None:
    """`Action: None`, then the final answer."""
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
    """`Action: tool {…}` in one line."""
    text, at = found.text, start + one_line.end()
    name = one_line["name"]
    message = "The arguments stand beside the tool's name, without 'Args:'"
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
    """`Action: tool(a="b")`, maybe over several lines."""
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
