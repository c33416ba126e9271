"""Calls as programs write them, `tool(a="b")`, and named values, `a="b", c=3`: read for repairs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from studio.core.agent.protocols.base import ReadRules, only_parameter
from studio.core.agent.protocols.json_repair import LARGEST, read_value
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject

_CALL = re.compile(r"(?P<name>[^\W\d][\w.:/-]{0,200})(?P<open>[(\[])")
_CLOSERS = {"(": ")", "[": "]"}
_KEY = re.compile(r"[\"'“]?(?P<key>[^\W\d][\w.-]{0,100})[\"'”]?\s{0,20}[=:]\s{0,20}(?=\S)")
_BETWEEN = re.compile(r"[\s,;]*")
_PREFIX = re.compile(r"^(?:functions?|tools?|default_api|mcp|api)[.:/_]+", re.IGNORECASE)


def read_named_values(text: str) -> dict[str, Json] | None:
    """The values of `a="b", c=3`; None where the text is not that, from its start to its end."""
    made: dict[str, Json] = {}
    at = _end_of_blanks(text, 0)
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None or key["key"] in made or len(text) > LARGEST:
            return None
        # The blank behind it lets a bare number or word end with the text.
        read = read_value(f"{text} ", key.end())
        if read is None:
            return None
        made[key["key"]], end = read
        at = _end_of_blanks(text, min(end, len(text)))
        is_separated = at > end or at == len(text) or text[end - 1].isspace()
        if not is_separated:
            return None
    return made or None


def read_call(text: str) -> tuple[str, JsonObject | str] | None:
    """The tool and the arguments of `tool(…)` or `tool[…]`.

    Returns:
        Arguments by name, or the text of a single one; None where the text is no call.
    """
    text = text.strip().rstrip(";")
    found = _CALL.match(text)
    if found is None or not text.endswith(_CLOSERS[found["open"]]):
        return None
    inside = text[found.end() : -1].strip()
    if not inside:
        return found["name"], {}
    named = read_named_values(inside)
    if named is not None:
        return found["name"], named
    read = read_value(f"{inside} ", 0)
    if read is not None and read[1] >= len(inside):
        value = read[0]
        if isinstance(value, dict):
            return found["name"], value
        return found["name"], value if isinstance(value, str) else inside
    is_several = "=" in inside and '"' in inside
    return None if is_several else (found["name"], inside)


def hidden_arguments(text: str, tool: ToolSpec | None) -> tuple[JsonObject, str] | None:
    """Arguments that a text holds as a JSON object or as named values, and which slip that is.

    Named values count only where each is a parameter of the tool: `x = 5` may well be meant.
    """
    stripped = text.strip()
    if stripped.startswith("{") and (read := read_value(stripped, 0)) is not None:
        if isinstance(read[0], dict) and not stripped[read[1] :].strip():
            return read[0], "unwrapped_string"
        return None
    properties = tool.parameters.get("properties") if tool is not None else None
    named = read_named_values(stripped) if isinstance(properties, Mapping) else None
    if named is None or not isinstance(properties, Mapping) or not set(named) <= set(properties):
        return None
    return named, "named_values"


def arguments_of(tool: ToolSpec | None, given: JsonObject | str) -> JsonObject | None:
    """Arguments by name; a single value goes into the only parameter, where there is one."""
    if not isinstance(given, str):
        return given
    name = only_parameter(tool)
    return {name: given} if name is not None else None


def named_tool(name: str, rules: ReadRules) -> ToolSpec | None:
    """The tool that a name means, spelled exactly, or with another case or a prefix."""
    exact = rules.tool(name)
    if exact is not None:
        return exact
    near = near_name(name, [tool.name for tool in rules.tools])
    return rules.tool(near) if near else None


def near_name(name: str, known: Sequence[str]) -> str:
    """The one known name that differs by case, separators or a prefix (`functions.`) only."""
    if name in known:
        return ""
    wanted = {_bare(name), _bare(_PREFIX.sub("", name)), _bare(re.split(r"[.:/]", name)[-1])}
    found = [item for item in known if _bare(item) in wanted - {""}]
    return found[0] if len(found) == 1 else ""


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _end_of_blanks(text: str, start: int) -> int:
    found = _BETWEEN.match(text, start)
    return found.end() if found is not None else start
