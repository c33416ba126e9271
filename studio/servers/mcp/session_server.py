"""`prompt-studio tools serve session.jsonl`: replay the answers of a recorded MCP session."""

import json
import math
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from studio.core.text.amounts import counted, shortened
from studio.core.text.diff import json_difference
from studio.core.text.files import read_bounded
from studio.core.text.values import Json, JsonObject, object_of, parse_json, reason_of
from studio.core.tools.python_server.serve import (
    BAD_PARAMETERS,
    HANDSHAKE_VERSIONS,
    NOT_FOUND,
    UNREADABLE,
)
from studio.core.tools.source import is_whole

_MOST_BYTES = 64 * 1024 * 1024
_LONGEST_DELAY = 600.0
_MOST_SHOWN = 5
_LONGEST_SHOWN = 200
_OPENING = ("initialize", "server/discover")
"""Requests whose parameters differ from client to client."""


class SessionError(ValueError):
    """Error for a file that is not a recorded session; the text says why."""


@dataclass(slots=True)
class _Request:
    """A recorded request with its answer."""

    method: str
    parameters: JsonObject

    answer: JsonObject = field(default_factory=dict)
    """Object with the key `result` or `error`."""

    seconds: float = 0.0
    """Duration of the recorded call in seconds."""


class RecordedSession:
    """The requests of a session, each with its answer, in order."""

    def __init__(self, path: Path) -> None:
        """Read a log of the studio's MCP traffic, or a file with one MCP message per line.

        Raises:
            SessionError: the file has no answered request, or a line is not a message.
        """
        self.name = path.name
        """Name of the file."""
        self.cut = 0
        """Number of messages that are incomplete because they were too long for the log."""
        self._requests: list[_Request] = []
        waiting: dict[str, _Request] = {}
        try:
            text = read_bounded(path, _MOST_BYTES).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SessionError(f"{path.name} cannot be read: {reason_of(error)}") from None
        for message, seconds in self._messages(text):
            number, method = json.dumps(message.get("id")), message.get("method")
            if isinstance(method, str) and "id" in message:
                waiting[number] = _Request(method, _compared(message.get("params")))
            elif method is None and (asked := waiting.pop(number, None)) is not None:
                kept = {key: message[key] for key in ("result", "error") if key in message}
                asked.answer, asked.seconds = kept, seconds
                self._requests.append(asked)
        if not self._requests:
            raise SessionError(f"{path.name} contains no answered MCP request")
        self._given: set[int] = set()

    def _messages(self, text: str) -> Iterator[tuple[JsonObject, float]]:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            try:
                whole = object_of(parse_json(line))
                written, took = whole.get("text"), whole.get("seconds")
                if isinstance(written, str) and not is_whole(written):
                    self.cut += 1
                    continue
                message = object_of(parse_json(written)) if isinstance(written, str) else whole
            except ValueError:
                message, took = {}, None
            if not message.keys() & {"method", "result", "error"}:
                words = f"{self.name}, line {number}: it is not an MCP message"
                if "tool" in whole:
                    words += "; it is a saved call, which is for mocks"
                raise SessionError(words)
            known = float(took) if isinstance(took, int | float) and math.isfinite(took) else 0.0
            yield message, min(max(0.0, known), _LONGEST_DELAY)

    def answer(self, method: str, parameters: JsonObject) -> tuple[JsonObject, float]:
        """Return the recorded answer and its duration in seconds.

        Equal requests get their answers in order; further ones get the last answer again.
        """
        asked = _compared(parameters)
        alike = [at for at, each in enumerate(self._requests) if each.method == method]
        equal = [at for at in alike if method in _OPENING or self._is_equal(at, asked)]
        if not equal:
            return self._otherwise(method, parameters, alike), 0.0
        at = next((each for each in equal if each not in self._given), equal[-1])
        self._given.add(at)
        found = self._requests[at]
        return found.answer, found.seconds

    def _is_equal(self, at: int, asked: JsonObject) -> bool:
        return json_difference(self._requests[at].parameters, asked) is None

    def _otherwise(self, method: str, parameters: JsonObject, alike: list[int]) -> JsonObject:
        """Return the answer to a request that was not recorded: usually an error."""
        if method == "ping":
            return {"result": {}}
        if method == "initialize":  # the recorded protocol version has no handshake
            found = next(
                (each for each in self._requests if each.method == "server/discover"), None
            )
            told = object_of(found.answer.get("result")) if found is not None else {}
            wanted = parameters.get("protocolVersion")
            return {
                "result": {
                    "protocolVersion": wanted
                    if wanted in HANDSHAKE_VERSIONS
                    else HANDSHAKE_VERSIONS[0],
                    "capabilities": told.get("capabilities", {"tools": {}}),
                    "serverInfo": {"name": self.name, "version": ""},
                }
            }
        tool = parameters.get("name") if method == "tools/call" else None
        what = f"{method} of {tool!r}" if tool else method
        same = [self._requests[at].parameters for at in alike]
        same = [each for each in same if not tool or each.get("name") == tool]
        words = f"{self.name} has no {what}"
        if same:
            shown = (
                _shown(each.get("arguments") if tool else each)
                for each in (_compared(parameters), *same)
            )
            given, *held = dict.fromkeys(shown)
            words += f" with {given}; it has {', '.join(held[:_MOST_SHOWN])}"
            if len(held) > _MOST_SHOWN:
                words += f" and {counted(len(held) - _MOST_SHOWN, 'further one')}"
        if self.cut:
            words += f"; {counted(self.cut, 'message')} of it incomplete because of their length"
        code = NOT_FOUND if not same and tool is None else BAD_PARAMETERS
        return {"error": {"code": code, "message": words}}


def _compared(parameters: Json) -> JsonObject:
    """Return the parameters of a request that are compared."""
    return {key: value for key, value in object_of(parameters).items() if key != "_meta"}


def _shown(value: Json) -> str:
    return shortened(json.dumps(value, ensure_ascii=False), _LONGEST_SHOWN)


class SessionServer:
    """Answers a client over pipes, each request after its recorded duration."""

    def __init__(self, session: RecordedSession, output: BinaryIO) -> None:
        self._session = session
        self._output = output
        self._writing = threading.Lock()
        self._waiting: dict[str, threading.Timer] = {}

    def serve(self, lines: BinaryIO) -> None:
        """Answer requests until the client closes the input, then finish the open ones."""
        for line in lines:
            if not line.strip():
                continue
            try:
                asked = object_of(parse_json(line.decode("utf-8")))
            except ValueError:
                self._say({"id": None, "error": {"code": UNREADABLE, "message": "no JSON"}})
                continue
            method, parameters = asked.get("method"), object_of(asked.get("params"))
            if method == "notifications/cancelled":
                timer = self._waiting.pop(json.dumps(parameters.get("requestId")), None)
                if timer is not None:
                    timer.cancel()
            elif isinstance(method, str) and "id" in asked:
                self._take(asked["id"], method, parameters)
        for timer in self._waiting.copy().values():
            timer.join()

    def _take(self, number: Json, method: str, parameters: JsonObject) -> None:
        answer, seconds = self._session.answer(method, parameters)
        key = json.dumps(number)

        def say() -> None:
            self._waiting.pop(key, None)
            self._say({"id": number, **answer})

        self._waiting[key] = timer = threading.Timer(seconds, say)
        timer.daemon = True
        timer.start()

    def _say(self, message: JsonObject) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False)
        with self._writing, suppress(OSError):  # the client has disconnected
            self._output.write(line.encode("utf-8", "surrogatepass") + b"\n")
            self._output.flush()
