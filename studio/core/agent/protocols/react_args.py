"""Read the arguments of a ReAct action: JSON after `Args:`, and its usual variations."""

import re
from dataclasses import dataclass

from studio.core.agent.protocols import findings
from studio.core.agent.protocols.json_repair import ends_inside, find_repair, read_value, repair_of
from studio.core.agent.protocols.native import hidden_arguments
from studio.core.agent.values.json_text import Decoded, decode_at, json_text
from studio.core.agent.values.step import FormatError, FormatErrorCode, Repair
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject

FENCE = re.compile(r"[ \t]*```[\w-]*[ \t]*\r?\n?")
"""Matches the line that opens a fence."""

_TICKS = re.compile(r"`{3,}[\w-]*|`")
_OTHER_LABEL = re.compile(
    r"\s*(?:\*\*)?(?P<word>[^\W\d][\w _-]{0,30}?)(?:\*\*)?[ \t]{0,9}[:=：](?:\*\*)?\s{0,9}"
    r"(?:```\w{0,9}\s{0,9})?(?=\{)"
)
_MEANT_AS_JSON = re.compile(r"\{\s*(?:[\"'“‘`}]|[\w-]+\s*:)")
_HALF_STOP = re.compile(r"\n[ \t]*Obs(?:e|er|erv|erva|ervat|ervati|ervatio|ervation)?[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """The arguments of an action and their place."""

    arguments: JsonObject
    start: int
    end: int


class ArgsReader:
    """A reader for the arguments after an action's name."""

    def __init__(self, found: findings.Findings) -> None:
        self._found = found
        self._text = found.text

    def read(self, start: int, tool: str, thought: str) -> ReadArgs | FormatError:
        """Read the arguments after the tool's name; `start` is the end of its line."""
        lenient = not any(findings.find_labels(self._text[start:], lenient=False))
        label = next(findings.find_labels(self._text, lenient=lenient, start=start), None)
        if label is not None and label.kind == "args":
            if self._text[start : label.start].strip():
                self._found.warn("text_between")
                self._found.mark("ignored", start, label.start)
            self._found.label(label)
            return self._args_value(label.end, tool, thought, label)
        value = self._skip_open_fence(start)
        if self._text.startswith("{", value) and (label is None or value < label.start):
            self._found.warn("missing_args_label")
            return self._args_value(start, tool, thought, None)
        between = self._text[start : label.start if label is not None else len(self._text)]
        named = _OTHER_LABEL.match(between)
        if named is not None:
            return self._other_label(start, between, named, tool, thought)
        if self._found.reply.finish_reason == "length" and label is None:
            return self._found.error(
                "truncated", "The reply was cut off before its arguments", thought
            )
        self._found.warn("no_args")
        return ReadArgs({}, start, start)

    def _other_label(
        self, start: int, between: str, named: re.Match[str], tool: str, thought: str
    ) -> FormatError:
        """Report arguments under an unknown label; they are never ignored."""
        at, end = start + named.end(), start + len(between.rstrip("`\n\r\t "))
        place, word = start + named.start("word"), named["word"]
        decoded = decode_at(self._text, at)
        if not isinstance(decoded, Decoded) and ends_inside(self._text, at):
            message = "The arguments cannot be read: the JSON is cut off"
            return self._found.error("truncated", message, thought, tool=tool)
        read = read_value(self._text, at)
        repairs: tuple[Repair, ...] = ()
        if read is not None and isinstance(read[0], dict):
            written = f"Args: {json_text(read[0])}"
            piece = Span(place, max(read[1], at))
            before = self._text[piece.start : piece.end]
            title = f"Read {word!r} as 'Args'"
            repairs = (Repair("args_label", title, before, written, piece),)
        self._found.mark("args", place, end)
        message = f"There are no 'Args:', but {word!r}, which means nothing here"
        return self._found.error("no_args", message, thought, tool=tool, repairs=repairs)

    def _skip_open_fence(self, start: int) -> int:
        text = self._text
        at = start + len(text[start:]) - len(text[start:].lstrip())
        fence = FENCE.match(text, at)
        if fence is not None:
            inside = fence.end() + len(text[fence.end() :]) - len(text[fence.end() :].lstrip())
            if text.startswith("{", inside):
                return inside
        return at

    def _args_value(
        self, start: int, tool: str, thought: str, label: findings.Label | None
    ) -> ReadArgs | FormatError:
        text = self._text
        at = self._skip_open_fence(start)
        after = next(findings.find_labels(text, lenient=False, start=line_end(text, start)), None)
        limit = after.start if after is not None else len(text)
        if text.startswith("{", at):
            decoded = decode_at(text, at)
            if isinstance(decoded, Decoded) and isinstance(decoded.value, dict):
                if decoded.has_raw_breaks:
                    self._found.warn("raw_breaks")
                self._found.mark("args", at, decoded.end)
                return ReadArgs(decoded.value, at, decoded.end)
        if at >= limit or not _TICKS.sub("", text[at:limit]).strip():
            if self._found.reply.finish_reason == "length" and after is None:
                return self._found.error(
                    "truncated", "The reply was cut off before its arguments", thought
                )
            self._found.warn("no_args")
            return ReadArgs({}, at if at < limit else start, at if at < limit else start)
        if not text.startswith("{", at) and (bare := self._bare_value(at, limit, tool, thought)):
            return bare
        if self._allows_text(tool, label):
            is_last = after is None and self._found.reply.finish_reason == "length"
            if is_last and not text.startswith("{", at):
                message = "The reply was cut off in its arguments"
                return self._found.error("truncated", message, thought, tool=tool)
            if plain := self._plain_text(start, limit, tool, thought):
                return plain
        return self._bad_args(at, limit, tool, thought)

    def _bare_value(
        self, at: int, limit: int, tool: str, thought: str
    ) -> ReadArgs | FormatError | None:
        """Read JSON that is not an object: null means no arguments; others get a repair."""
        decoded = decode_at(self._text, at)
        if not isinstance(decoded, Decoded) or self._text[decoded.end : limit].strip("`\n\r\t "):
            return None
        known = self._found.rules.tool(tool)
        if isinstance(decoded.value, str) and (hidden := hidden_arguments(decoded.value, known)):
            return self._hidden(hidden, at, decoded.end, tool, thought)
        if decoded.value is None:
            self._found.warn("null_args")
            self._found.mark("args", at, decoded.end)
            return ReadArgs({}, at, decoded.end)
        if self._found.rules.free_text and isinstance(decoded.value, str):
            return self._wrapped(decoded.value, at, decoded.end, tool, "free_text_args")
        name = findings.only_parameter(self._found.rules.tool(tool))
        repairs: tuple[Repair, ...] = ()
        if name is not None:
            value: Json = {name: decoded.value}
            repairs = (repair_of(self._text, at, decoded.end, value, ("wrap_argument",)),)
        self._found.mark("args", at, decoded.end)
        message = "The arguments are not a JSON object"
        return self._found.error("args_not_object", message, thought, tool=tool, repairs=repairs)

    def _hidden(
        self, hidden: tuple[JsonObject, str], at: int, end: int, tool: str, thought: str
    ) -> FormatError:
        """Report a text that contains arguments: as JSON in a string, or as named values."""
        arguments, slip = hidden
        repair = repair_of(self._text, at, end, arguments, (slip,))
        self._found.mark("args", at, end)
        message = "The arguments are a text that contains them, not a JSON object"
        return self._found.error("args_not_object", message, thought, tool=tool, repairs=(repair,))

    def _wrapped(self, value: Json, start: int, end: int, tool: str, code: str) -> ReadArgs:
        name = findings.only_parameter(self._found.rules.tool(tool)) or "input"
        self._found.warn(code, name)
        self._found.mark("args", start, end)
        return ReadArgs({name: value}, start, end)

    def _allows_text(self, tool: str, label: findings.Label | None) -> bool:
        if self._found.rules.free_text:
            return True
        if label is None or label.word.lower() != "action input":
            return False
        known = self._found.rules.tool(tool)
        return known is None or findings.takes_text(known)

    def _plain_text(
        self, start: int, limit: int, tool: str, thought: str
    ) -> ReadArgs | FormatError | None:
        """Read free text up to the next label, unless it is malformed JSON."""
        text = self._text[start:limit]
        half = _HALF_STOP.search(text)
        if half is not None:
            limit = start + half.start()
            self._found.warn("half_stop")
            self._found.mark("ignored", limit, start + len(text))
        if "{" in text and find_repair(self._text, start, limit) is not None:
            return None
        value = self._text[start:limit].strip()
        if _MEANT_AS_JSON.match(value):
            return None
        at = start + self._text[start:limit].find(value)
        hidden = hidden_arguments(value, self._found.rules.tool(tool))
        if hidden is not None:
            return self._hidden(hidden, at, at + len(value), tool, thought)
        return self._wrapped(value, at, at + len(value), tool, "free_text_args")

    def _bad_args(self, at: int, limit: int, tool: str, thought: str) -> FormatError:
        brace = self._text.find("{", at)
        code: FormatErrorCode = "bad_args"
        why = "no JSON object starts there"
        if brace >= 0:
            decoded = decode_at(self._text, brace)
            if not isinstance(decoded, Decoded):
                code, why = decoded.code, decoded.message
                if code == "bad_args" and ends_inside(self._text, brace):
                    code, why = "truncated", "the JSON is cut off"
            else:
                why = "there is other text before the JSON"
        if code == "bad_args" and self._found.reply.finish_reason == "length" and brace < 0:
            code, why = "truncated", "the reply was cut off"
        repairs: tuple[Repair, ...] = ()
        if code not in ("truncated", "too_deep", "not_finite", "duplicate_key", "lone_surrogate"):
            end = at + len(self._text[at:limit].rstrip("`\n\r\t "))
            found = find_repair(self._text, at, end)
            repairs = (found,) if found is not None else ()
        self._found.mark("args", at, limit)
        message = f"The arguments cannot be read: {why}"
        return self._found.error(code, message, thought, tool=tool, repairs=repairs)


def line_end(text: str, start: int) -> int:
    """Return the end of the line that contains `start`."""
    found = text.find("\n", start)
    return len(text) if found < 0 else found
