"""A model that answers from a script: for stepping without a key, and for tests."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, TypeAlias, get_args

from studio.core.masking.masker import Masker
from studio.core.models.base import Capabilities, ChatModel, ModelError, ModelRequest, WrappingModel
from studio.core.models.bodies import request_body
from studio.core.text.amounts import counted
from studio.core.text.diff import json_difference
from studio.core.text.files import MOST_RECORD_BYTES, read_text
from studio.core.text.values import Json, JsonObject, parse_json, reason_of, text_of
from studio.core.wire.reply import (
    Finished,
    FinishReason,
    ReasoningDelta,
    RefusalDelta,
    RefusedOption,
    Reply,
    ReplyDelta,
    ReplyMask,
    ReplyNotice,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
    UsageDelta,
)

DEFAULT_CHUNK = 16
"""Characters per delta; small enough to make the streaming of a short reply visible."""


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """One reply of a script, including the failures of real models."""

    reply: Reply
    """Reply of the model; without a finish reason, one is chosen by its content."""

    error: ModelError | None = None
    """Error raised after all of `reply`: a stream that breaks off."""

    delay: float | None = None
    """Seconds before each delta; None for the model's own delay."""

    hangs: bool = False
    """Whether the model never ends after `reply`; the task must be canceled."""


ScriptedReply: TypeAlias = ScriptedTurn | Reply | ModelError | str
"""A turn, a reply, an error to raise at once, or the text of a reply."""


class ScriptedModel:
    """A model that returns the replies of a script in order, one per call."""

    def __init__(
        self,
        replies: Sequence[ScriptedReply],
        *,
        chunk: int = DEFAULT_CHUNK,
        label: str = "Scripted",
        repeat: bool = False,
    ) -> None:
        """Take a script.

        Args:
            replies: one reply for each call.
            chunk: characters per delta, at least 1.
            label: the model's name for the user.
            repeat: whether to start again at the end of the script instead of failing.
        """
        self._turns = tuple(_turn(reply) for reply in replies)
        self._chunk = max(1, chunk)
        self.label = label
        """The model's name for the user."""
        self.capabilities = Capabilities()
        """Abilities of the model."""
        self._repeat = repeat
        self._requests: list[ModelRequest] = []

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """All requests so far, in order."""
        return tuple(self._requests)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the body that a chat-completions server would get."""
        return request_body(request, model_id="scripted", capabilities=self.capabilities)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the next reply of the script.

        Raises:
            ModelError: the script contains an error, or no more replies ("script-ended").
        """
        turn = self._next(request)
        for delta in deltas_of(turn.reply, self._chunk):
            # Even without a delay: other tasks get a turn between two deltas.
            await asyncio.sleep(turn.delay or 0)
            yield delta
        if turn.error is not None:
            raise turn.error
        if turn.hangs:
            await asyncio.Event().wait()
        yield Finished(turn.reply.finish_reason or suggested_reason(turn.reply))

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _next(self, request: ModelRequest) -> ScriptedTurn:
        index = len(self._requests)
        self._requests.append(request)
        if self._repeat and self._turns:
            index %= len(self._turns)
        if index >= len(self._turns):
            raise ModelError(
                "script-ended",
                f"The script has {counted(len(self._turns), 'reply', 'replies')} and was asked for "
                f"number {index + 1}.",
                "Add a reply to the script, or choose another model.",
            )
        return self._turns[index]


def deltas_of(reply: Reply, chunk: int = DEFAULT_CHUNK) -> Iterator[ReplyDelta]:
    """Yield the deltas of a reply, without `Finished`.

    Args:
        reply: the complete reply; `accumulate` restores it from the deltas.
        chunk: characters per delta.
    """
    for text in reply.notices:
        yield ReplyNotice(text)
    for text in _pieces(reply.reasoning, chunk):
        yield ReasoningDelta(text)
    for text in _pieces(reply.text, chunk):
        yield TextDelta(text)
    for text in _pieces(reply.refusal, chunk):
        yield RefusalDelta(text)
    for index, call in enumerate(reply.tool_calls):
        yield ToolCallDelta(index, call.id or f"call_{index + 1}", call.name)
        for text in _pieces(call.arguments, chunk):
            yield ToolCallDelta(index, arguments=text)
    if reply.usage is not None:
        yield UsageDelta(reply.usage)


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _turn(reply: ScriptedReply) -> ScriptedTurn:
    match reply:
        case ScriptedTurn():
            return reply
        case Reply():
            return ScriptedTurn(reply)
        case ModelError():
            return ScriptedTurn(Reply(), error=reply)
        case str():
            return ScriptedTurn(Reply(text=reply))


def suggested_reason(reply: Reply) -> FinishReason:
    """Return the finish reason for a reply without one."""
    if reply.tool_calls:
        return "tool_calls"
    return "refusal" if reply.refusal else "stop"


# Script files, written by users: JSON with one reply for each call.

_HINT = "A script is a JSON list; each item is a reply's text, or an object with `text`, "
_HINT += "`tool_calls`, `refusal`, `finish_reason`, `error` or `delay`."


def read_script(path: Path) -> tuple[ScriptedReply, ...]:
    """Read the replies of a script file.

    Each item of its list is a text, or an object with some of `text`, `reasoning`, `refusal`,
    `tool_calls` (a list of `{"name", "arguments"}`), `finish_reason`, `error` (`{"kind",
    "message"}`) and `delay` (seconds before each piece).

    Raises:
        ModelError: "no-script"; the file is missing or not a script.
    """
    try:
        items = parse_json(read_text(path))
    except OSError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} cannot be read: {error.strerror}.", _HINT
        ) from error
    except ValueError as error:
        raise ModelError(
            "no-script", f"The script {path.name!r} is not JSON: {reason_of(error)}.", _HINT
        ) from error
    if not isinstance(items, list) or not items:
        raise ModelError("no-script", f"The script {path.name!r} is not a list of replies.", _HINT)
    return tuple(_reply(item, number, path) for number, item in enumerate(items, 1))


def _reply(item: Json, number: int, path: Path) -> ScriptedReply:
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        raise ModelError("no-script", f"Reply {number} of {path.name!r} is not a reply.", _HINT)
    reason = item.get("finish_reason")
    if reason is not None and reason not in get_args(FinishReason):
        raise ModelError(
            "no-script", f"Reply {number} of {path.name!r} ends with {reason!r}.", _HINT
        )
    delay = item.get("delay")
    return ScriptedTurn(
        Reply(
            text=_text(item, "text"),
            reasoning=_text(item, "reasoning"),
            refusal=_text(item, "refusal"),
            tool_calls=_calls(item.get("tool_calls")),
            finish_reason=next((each for each in get_args(FinishReason) if each == reason), None),
        ),
        error=_error(item.get("error")),
        delay=float(delay) if isinstance(delay, int | float) else None,
    )


def _calls(value: Json) -> tuple[ToolCall, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    calls: list[ToolCall] = []
    for each in value:
        if isinstance(each, Mapping):
            arguments = each.get("arguments", {})
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            calls.append(ToolCall(_text(each, "id"), _text(each, "name"), text))
    return tuple(calls)


def _error(value: Json) -> ModelError | None:
    if not isinstance(value, Mapping):
        return None
    return ModelError(
        _text(value, "kind") or "server-error",
        _text(value, "message") or "The script fails here.",
        _text(value, "hint") or "The script ends here.",
    )


def _text(item: JsonObject, key: str) -> str:
    return text_of(item.get(key))


# Record the replies of a model, and replay them without it.

_KINDS: Mapping[str, type] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
    "refusal": RefusalDelta,
    "tool_call": ToolCallDelta,
    "usage": UsageDelta,
    "finished": Finished,
    "notice": ReplyNotice,
    "refused_option": RefusedOption,
}
_COMPARED = 4000


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """One call of a recording."""

    request: JsonObject
    """The request, normalized by `comparable`."""

    deltas: tuple[ReplyDelta, ...]
    """Deltas of the reply, in order."""

    error: tuple[str, str, str] | None = None
    """(kind, message, hint) of the error that ended it."""


def comparable(request: ModelRequest) -> JsonObject:
    """Return the part of a request that must be equal: all but the model's id."""
    return request_body(request, model_id="", capabilities=Capabilities(vision=True))


class RecordingModel(WrappingModel[ChatModel]):
    """A model that forwards to another one and records every completed call."""

    def __init__(self, model: ChatModel, path: Path, masker: Masker | None = None) -> None:
        """Take the model and the file; calls are appended to it.

        Args:
            model: the model that answers.
            path: the file.
            masker: masks secrets before they are written.
        """
        self._masker = masker if masker is not None else Masker()
        super().__init__(model)
        self._path = path

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the inner model's reply; a canceled call is not recorded.

        Raises:
            ModelError: the inner model raises it; it is recorded too.
        """
        deltas: list[ReplyDelta] = []
        mask = ReplyMask(self._masker)
        try:
            async for delta in self._inner.stream(request):
                deltas += mask.feed(delta)
                yield delta
        except ModelError as error:
            deltas += mask.close()
            texts = (self._masker.mask(text) for text in (error.message, error.hint))
            self._write(request, deltas, (error.kind, *texts))
            raise
        deltas += mask.close()
        self._write(request, deltas, None)

    async def close(self) -> None:
        """Close the inner model."""
        await self._inner.close()

    def _write(
        self, request: ModelRequest, deltas: list[ReplyDelta], error: tuple[str, ...] | None
    ) -> None:
        line = json.dumps(
            {
                "request": comparable(request),
                "deltas": [_written(delta) for delta in deltas],
                "error": error,
            },
            ensure_ascii=False,
        )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
        except OSError as refused:
            raise ModelError(
                "unwritten",
                f"The reply arrived but could not be recorded: {self._path}: {refused.strerror}.",
                "Record to another file, or do not record.",
            ) from refused


class ReplayModel:
    """A model that answers from a recording. Equal requests get their replies in order."""

    def __init__(self, path: Path) -> None:
        """Take the path of the recording, which is read at the first request."""
        self._path = path
        self._calls: tuple[RecordedRequest, ...] | None = None
        self._given: Counter[str] = Counter()

    @property
    def label(self) -> str:
        """The model's name for the user."""
        return f"Replay of {self._path.name}"

    @property
    def capabilities(self) -> Capabilities:
        """All abilities, since a recording can use any."""
        return Capabilities(vision=True)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the request in the form in which the recording is searched."""
        return comparable(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the recorded reply.

        Raises:
            ModelError: "no-recording", or the error that was recorded.
        """
        call = self._find(comparable(request))
        for delta in call.deltas:
            yield delta
        if call.error is not None:
            raise ModelError(*call.error)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _find(self, request: JsonObject) -> RecordedRequest:
        if self._calls is None:
            self._calls = read_recording(self._path)
        wanted = _key(request)
        same = [call for call in self._calls if _key(call.request) == wanted]
        if not same:
            raise self._miss(request, self._calls)
        # After the last recorded reply it is repeated: a further equal call is no new request.
        index = min(self._given[wanted], len(same) - 1)
        self._given[wanted] += 1
        return same[index]

    def _miss(self, request: JsonObject, calls: tuple[RecordedRequest, ...]) -> ModelError:
        hint = "Record it with the original connection, or undo the change of the prompt."
        if not calls:
            return ModelError("no-recording", f"{self._path.name!r} contains no calls.", hint)
        ratios = [_likeness(request, call.request) for call in calls]
        nearest = max(range(len(calls)), key=ratios.__getitem__)
        found = json_difference(request, calls[nearest].request)
        where = found.path if found is not None and found.path else "the whole"
        return ModelError(
            "no-recording",
            f"This request is not in {self._path.name!r}. The nearest is number {nearest + 1} of "
            f"{len(calls)}, {ratios[nearest]:.0%} alike; they differ first at {where}.",
            hint,
        )


def read_recording(path: Path) -> tuple[RecordedRequest, ...]:
    """Read every call of a recording.

    Raises:
        ModelError: "no-recording"; the file is missing or not a recording.
    """
    hint = "Choose or create another recording."
    try:
        lines = read_text(path, MOST_RECORD_BYTES).splitlines()
    except (OSError, UnicodeError) as error:
        raise ModelError(
            "no-recording", f"The recording {path.name!r} cannot be read.", hint
        ) from error
    calls: list[RecordedRequest] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry: Any = parse_json(line)
            failed = entry["error"]
            calls.append(
                RecordedRequest(
                    entry["request"],
                    tuple(_read(delta) for delta in entry["deltas"]),
                    None if failed is None else (failed[0], failed[1], failed[2]),
                )
            )
        except (ValueError, KeyError, TypeError, IndexError) as problem:
            raise ModelError(
                "no-recording", f"Line {number} of {path.name!r} is not a recorded call.", hint
            ) from problem
    return tuple(calls)


def _key(request: JsonObject) -> str:
    return json.dumps(request, sort_keys=True, ensure_ascii=False)


def _likeness(ours: JsonObject, theirs: JsonObject) -> float:
    # Compared from the end, since long conversations begin with the same prompt.
    first, second = (_key(each)[-_COMPARED:] for each in (ours, theirs))
    return min(0.99, SequenceMatcher(None, first, second, autojunk=False).quick_ratio())


def _written(delta: ReplyDelta) -> dict[str, object]:
    kind = next(name for name, cls in _KINDS.items() if type(delta) is cls)
    return {"kind": kind, **asdict(delta)}


def _read(entry: dict[str, Any]) -> ReplyDelta:
    cls = _KINDS[entry["kind"]]
    known = {each.name for each in fields(cls)}
    values = {name: value for name, value in entry.items() if name in known}
    if cls is UsageDelta:
        values = {"usage": Usage(**values["usage"])}
    delta: ReplyDelta = cls(**values)
    return delta
