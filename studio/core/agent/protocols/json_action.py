"""One JSON object `{"action", "action_input"}` per reply (docs/design/agent-loop.md).

The published prompt ends inside a fence, so a reply may be bare JSON, have only a closing fence, or
be fully fenced: the decoder starts at the first `{` and ignores fences.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from studio.core.agent.protocols import findings
from studio.core.agent.protocols.json_repair import (
    LARGEST,
    ends_inside,
    find_repair,
    repair_object,
    repair_of,
)
from studio.core.agent.protocols.native import hidden_arguments, near_name
from studio.core.agent.values.json_text import Decoded, Undecoded, decode_at, json_text
from studio.core.agent.values.step import (
    Action,
    Final,
    FormatError,
    FormatErrorCode,
    Reading,
    ReadSpan,
    Repair,
    RequestedCall,
)
from studio.core.prompty.document import ToolSpec
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Reply

_ACTION_KEYS = ("action", "name", "tool", "tool_name")
_INPUT_KEYS = ("action_input", "arguments", "args", "input", "tool_input", "parameters")
_END_WORDS = frozenset({"finalanswer", "noaction"})
_TICKS = re.compile(r"`{3,}[\w-]*")
_MOST_ROOTS = 50


def read_json_action(reply: Reply, rules: findings.ReadRules) -> Reading:
    """Read a JSON-action reply. The first action counts; objects inside a broken one do not."""
    return findings.read_without_reasoning(reply, rules, lambda found: _Reader(found).read())


@dataclass(frozen=True, slots=True)
class _Root:
    """The JSON object of the reply."""

    value: JsonObject
    start: int
    end: int
    has_raw_breaks: bool


class _Reader:
    """One pass over one reply, which collects spans and warnings."""

    def __init__(self, found: findings.Findings) -> None:
        self._found = found
        self._text = found.text

    def read(self) -> Reading:
        if (refused := self._found.refusal) is not None:
            return refused
        if not self._text.strip() or self._found.reply.tool_calls:
            return self._no_text()
        root = self._find_root()
        if isinstance(root, FormatError):
            return root
        if root is None:
            return self._no_json()
        return self._object(root)

    # Finding the object ---------------------------------------------------------------------------

    def _find_root(self) -> _Root | FormatError | None:
        """Find the first object that names an action, or the error of a broken one."""
        at = self._text.find("{")
        for _ in range(_MOST_ROOTS):
            if at < 0:
                return None
            decoded = decode_at(self._text, at)
            if isinstance(decoded, Decoded):
                value = decoded.value
                if isinstance(value, dict) and _key(value, _ACTION_KEYS) is not None:
                    return _Root(value, at, decoded.end, decoded.has_raw_breaks)
                at = self._text.find("{", decoded.end)
                continue
            end = _end_of_root(self._text, at)
            if end is None or _looks_like_action(self._text[at:end]):
                if end is None and not _looks_like_action(self._text[at : at + 400]):
                    return None
                return self._broken(at, end, decoded)
            at = self._text.find("{", end)
        return None

    def _broken(self, at: int, end: int | None, why: Undecoded) -> FormatError:
        code: FormatErrorCode = why.code
        was_cut = end is None and self._found.reply.finish_reason == "length"
        if code == "bad_args" and (was_cut or ends_inside(self._text, at)):
            code = "truncated"
        repairs: tuple[Repair, ...] = ()
        if code == "bad_args":
            found = find_repair(self._text, at, end or len(self._text))
            repairs = (found,) if found is not None else ()
        self._found.mark("args", at, end or len(self._text))
        thought = self._thought(at)
        return self._found.error(
            code, f"The JSON cannot be read: {why.message}", thought, repairs=repairs
        )

    # No object ------------------------------------------------------------------------------------

    def _no_text(self) -> Reading:
        if self._found.reply.tool_calls:
            from studio.core.agent.protocols.native import read_native

            reading = read_native(self._found.reply, self._found.rules)
            return replace(reading, warnings=(*reading.warnings, findings.remark("native_call")))
        return self._found.without_text

    def _no_json(self) -> Reading:
        text = _TICKS.sub("", self._found.raw(0, len(self._text))).strip()
        if self._found.reply.finish_reason == "length":
            return self._found.error(
                "truncated", "The reply was cut off before its JSON action", text
            )
        if not text:
            return self._found.error("empty", "The reply is empty")
        if self._found.rules.plain_is_final:
            self._found.warn("plain_answer")
            self._found.mark("answer", 0, len(self._text))
            self._found.warn_of_end()
            return Final(answer=text, warnings=self._found.warnings, spans=self._found.spans)
        message = 'The reply has no JSON object with an "action"'
        return self._found.error("no_json_action", message, answer=text)

    # The object -----------------------------------------------------------------------------------

    def _object(self, root: _Root) -> Reading:
        thought = self._thought(root.start)
        action_key = _key(root.value, _ACTION_KEYS) or ""
        named = root.value[action_key]
        if root.has_raw_breaks:
            self._found.warn("raw_breaks")
        if action_key not in ("action", "name"):
            self._found.warn("key_variant", action_key, "action")
        self._found.mark("args", root.start, root.end)
        if not isinstance(named, str) or not named.strip():
            message = f'"{action_key}" is not the name of a tool'
            return self._found.error("no_tool_name", message, thought)
        tool = named.strip()
        given = self._input(root.value, action_key)
        self._rest(root)
        left = _left_over(root.value, action_key) if given in (None, {}, "") else ()
        if left:
            return self._unknown_keys(left, action_key, thought, root)
        if self._is_end(tool):
            return self._final(tool, given, thought, root)
        arguments = self._arguments(tool, given, root)
        if isinstance(arguments, FormatError):
            return replace(arguments, thought=thought)
        near = near_name(tool, [each.name for each in self._found.rules.tools])
        repairs = (self._renamed(root, action_key, tool, near),) if near else ()
        call = RequestedCall("call_1", tool, arguments, json_text(given), repairs=repairs)
        return Action(
            thought=thought,
            calls=(call,),
            spans=self._found.spans,
            warnings=self._found.warnings,
            kept=self._found.raw(0, root.end).strip(),
        )

    def _unknown_keys(
        self, left: tuple[str, ...], action_key: str, thought: str, root: _Root
    ) -> FormatError:
        """Report arguments under unknown keys; they are never ignored."""
        tool = str(root.value[action_key]).strip()
        held = {key: root.value[key] for key in left}
        key = _key(root.value, _INPUT_KEYS) or "action_input"
        given: Json = held
        if len(left) == 1 and not _is_parameter(left[0], self._found.rules.tool(tool)):
            given = held[left[0]]  # one key holds all of them: `params`, `action_inputs`, `answer`
        if self._is_end(tool) and len(left) > 1:
            given = None
        repairs: tuple[Repair, ...] = ()
        if isinstance(given, dict) or self._is_end(tool):
            kept = {name: item for name, item in root.value.items() if name not in left}
            value: Json = {**kept, key: given}
            if given is not None:
                found = repair_of(self._text, root.start, root.end, value, ("argument_keys",))
                repairs = (found,)
        names = ", ".join(repr(name) for name in left)
        message = f"There is no {key!r}, but there are keys that mean nothing here: {names}"
        return self._found.error("no_args", message, thought, tool=tool, repairs=repairs)

    def _input(self, value: JsonObject, action_key: str) -> Json:
        key = _key(value, _INPUT_KEYS)
        if key is None:
            self._found.warn("no_args")
            return None
        expected = "arguments" if action_key == "name" else "action_input"
        if key != expected:
            self._found.warn("key_variant", key, expected)
        return value[key]

    def _is_end(self, tool: str) -> bool:
        """Return whether the action ends the run; a tool of that name takes precedence."""
        if self._found.rules.tool(tool) is not None:
            return False
        word = _bare_word(tool)
        return word in _END_WORDS or word in {
            _bare_word(item) for item in self._found.rules.final_words
        }

    def _final(self, word: str, given: Json, thought: str, root: _Root) -> Final:
        if word not in ("final_answer", "Final Answer", *self._found.rules.final_words):
            self._found.warn("final_word", word)
        answer = given if isinstance(given, str) else "" if given is None else json_text(given)
        self._found.warn_of_end(is_whole=True)
        if not answer.strip() and given is not None:
            self._found.warn("empty_answer")
        without = [item for item in self._found.warnings if item.code != "no_args"]
        spans = [*self._found.spans]
        if answer:
            spans = [item for item in spans if item.label != "args"]
            spans.append(ReadSpan("answer", Span(root.start, root.end)))
        return Final(
            thought=thought,
            answer=answer,
            composed_elsewhere=given is None,
            spans=tuple(spans),
            warnings=tuple(without),
            kept=self._found.raw(0, root.end).strip(),
        )

    def _arguments(self, tool: str, given: Json, root: _Root) -> JsonObject | FormatError:
        if isinstance(given, dict):
            return given
        if given is None:
            if not any(item.code == "no_args" for item in self._found.warnings):
                self._found.warn("null_args")
            return {}
        known = self._found.rules.tool(tool)
        name = findings.only_parameter(known)
        hidden = hidden_arguments(given, known) if isinstance(given, str) else None
        if hidden is not None:
            arguments, slip = hidden
            message = '"action_input" is a text that contains the arguments'
            repair = self._wrap(root, arguments, slip)
            return self._found.error("args_not_object", message, tool=tool, repairs=(repair,))
        if known is None or (isinstance(given, str) and findings.takes_text(known)):
            self._found.warn("bare_value", name or "input")
            return {name or "input": given}
        repairs: tuple[Repair, ...] = ()
        if name is not None:
            repairs = (self._wrap(root, {name: given}, "wrap_argument"),)
        message = '"action_input" is not a JSON object'
        return self._found.error("args_not_object", message, tool=tool, repairs=repairs)

    def _renamed(self, root: _Root, action_key: str, tool: str, near: str) -> Repair:
        value: Json = {**root.value, action_key: near}
        repair = repair_of(self._text, root.start, root.end, value, ("tool_name",))
        return replace(repair, title=f"Use the tool {near!r}", before=tool)

    def _wrap(self, root: _Root, arguments: Json, name: str) -> Repair:
        key = _key(root.value, _INPUT_KEYS) or "action_input"
        value: Json = {**root.value, key: arguments}
        return repair_of(self._text, root.start, root.end, value, (name,))

    # Marking --------------------------------------------------------------------------------------

    def _thought(self, end: int) -> str:
        """Return the text before the object."""
        text = _TICKS.sub("", self._found.raw(0, end)).strip().removesuffix("[").strip()
        text = re.sub(r"\n?[ \t]*Action:\s*\Z", "", text).strip()
        text = text.removeprefix("Thought:").strip()
        if text:
            self._found.mark("thought", 0, end)
        return text

    def _rest(self, root: _Root) -> None:
        """Report the text after the object, which is not used."""
        rest = _TICKS.sub(lambda found: " " * len(found.group()), self._text[root.end :])
        if not rest.strip(" \t\r\n]"):
            return
        self._found.mark("ignored", root.end, len(self._text))
        if '"action_output"' in rest or re.search(r"(?m)^\s*Observation:", rest):
            self._found.warn("invented_observation")
        elif any(f'"{key}"' in rest for key in _ACTION_KEYS):
            self._found.warn("several_actions")
        else:
            self._found.warn("text_after_action")


def _key(value: JsonObject, keys: tuple[str, ...]) -> str | None:
    """Return the first of `keys` that the object has, ignoring case."""
    lowered = {key.strip().lower(): key for key in value}
    return next((lowered[key] for key in keys if key in lowered), None)


_BESIDE = frozenset(
    """
    thought thoughts thinking reasoning reason rationale explanation comment id type step plan
    status log confidence observation action_output
""".split()
)
"""Keys next to the action that are not its arguments."""


def _left_over(value: JsonObject, action_key: str) -> tuple[str, ...]:
    """Return the keys that are neither the action, its input, nor in `_BESIDE`."""
    known = {*_INPUT_KEYS, *_BESIDE, action_key.strip().lower()}
    return tuple(
        key for key, held in value.items() if key.strip().lower() not in known and held is not None
    )


def _is_parameter(name: str, tool: ToolSpec | None) -> bool:
    properties = tool.parameters.get("properties") if tool is not None else None
    return isinstance(properties, Mapping) and name in properties


def _bare_word(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).lower()


def _looks_like_action(piece: str) -> bool:
    return (
        re.search(r"""["'“]?\b(?:action|action_input|tool_name)\b["'”]?\s*:""", piece) is not None
    )


def _end_of_root(text: str, start: int) -> int | None:
    """Return the end of a broken object, by the tolerant reader, else by strings and braces.

    Returns:
        The offset; None if the text ends inside the object.
    """
    repaired = repair_object(text, start) if len(text) - start <= LARGEST else None
    if repaired is not None:
        return repaired.end
    depth, in_string = 0, False
    for found in re.compile(r'\\.|["{}]', re.DOTALL).finditer(text, start):
        match found.group():
            case '"':
                in_string = not in_string
            case "{" if not in_string:
                depth += 1
            case "}" if not in_string:
                depth -= 1
                if depth == 0:
                    return found.end()
    return None
