"""Ask on the terminal for input that an MCP server requests."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from functools import partial

from studio.cli.terminal import tell
from studio.core.text.invisible import reveal
from studio.core.text.values import Json, JsonDict, JsonObject, list_of
from studio.core.tools.mcp.connection import AskForInput, InputGiven, InputWanted

_TRUE, _FALSE = ("y", "yes", "true", "1"), ("n", "no", "false", "0")


def terminal_asker() -> AskForInput | None:
    """Return an asker for the terminal; None if there is no terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    return partial(_ask, input)


async def _ask(read: Callable[[str], str], wanted: InputWanted) -> InputGiven:
    # In a thread, so that messages of the server are read while the user types.
    return await asyncio.to_thread(ask_by_lines, read, wanted)


def ask_by_lines(read: Callable[[str], str], wanted: InputWanted) -> InputGiven:
    """Ask for one value a line; the end of input declines.

    Args:
        read: shows a question and returns the answered line, as `input` does.
        wanted: the request of the server.
    """
    _say(f"The MCP server {reveal(wanted.server, lines=False)} asks: {reveal(wanted.message)}")
    try:
        if wanted.url:
            _say(f"Open this page in your browser:\n{reveal(wanted.url)}")
            answer = read("Done? [y/N] ").strip().lower()
            return InputGiven("accept" if answer in _TRUE else "decline")
        _say("An empty line omits a value; Ctrl+D declines.")
        return InputGiven("accept", _values(read, wanted.schema))
    except EOFError:
        return InputGiven("decline")


def _values(read: Callable[[str], str], schema: JsonObject) -> JsonDict:
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list | tuple) else ()
    found: JsonDict = {}
    for name, part in properties.items() if isinstance(properties, Mapping) else ():
        field = part if isinstance(part, Mapping) else {}
        while True:
            line = read(_question(name, field, is_needed=name in needed)).strip()
            if not line and (name not in needed or "default" in field):
                break
            try:
                found[name] = _value(line, field)
                break
            except ValueError as error:
                _say(str(error))
    return found


def _question(name: str, field: JsonObject, *, is_needed: bool) -> str:
    notes = [str(field.get("type") or "value")]
    choices = _choices(field)
    if choices:
        notes.append("one of " + ", ".join(map(str, choices)))
    if "default" in field:
        notes.append(f"usually {json.dumps(field['default'], ensure_ascii=False)}")
    elif is_needed:
        notes.append("needed")
    about = field.get("description") or field.get("title")
    head = f"{name}: {about}" if about else name
    return reveal(f"{head} ({', '.join(notes)}): ", lines=False)


def _choices(field: JsonObject) -> list[Json]:
    listed = field.get("enum")
    if isinstance(listed, list):
        return listed
    return [each.get("const") for each in list_of(field.get("oneOf")) if isinstance(each, Mapping)]


def _value(line: str, field: JsonObject) -> Json:
    """Parse a line as a value; raises ValueError if it does not fit the type of the field."""
    choices = _choices(field)
    if choices:
        if line not in map(str, choices):
            raise ValueError(f"{line!r} is not one of them")
        return next(each for each in choices if str(each) == line)
    match field.get("type"):
        case "boolean":
            if line.lower() not in (*_TRUE, *_FALSE):
                raise ValueError("say yes or no")
            return line.lower() in _TRUE
        case "integer":
            return int(line)
        case "number":
            return float(line)
        case "array":
            return [part.strip() for part in line.split(",")]
        case _:
            if not line:
                raise ValueError("a value is needed")
            return line


def _say(text: str) -> None:
    tell(text)
