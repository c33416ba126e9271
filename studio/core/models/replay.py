"""Record what a model answers, and answer the same again without it.

A recording is a file of JSON lines, one for each call: the request as it would be sent (without the
model's id, so that it does not matter whose answer it was), and the pieces of the answer. Replaying
never guesses: a request that was not recorded stops the run and names the nearest one that was.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from dataclasses import asdict, dataclass, fields
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from studio.core.masking.masker import Masker
from studio.core.models.base import Capabilities, ChatModel, ModelError, ModelRequest, WrappingModel
from studio.core.models.bodies import request_body
from studio.core.text.diff import json_difference
from studio.core.text.files import MOST_RECORD_BYTES, read_text
from studio.core.text.values import JsonObject, parse_json
from studio.core.wire.reply import (
    Finished,
    ReasoningDelta,
    RefusalDelta,
    RefusedOption,
    ReplyDelta,
    ReplyMask,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    Usage,
    UsageDelta,
)

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
    """The request, as `comparable` makes it."""

    deltas: tuple[ReplyDelta, ...]
    """Deltas of the reply, in order."""

    error: tuple[str, str, str] | None = None
    """(kind, message, hint) of the error that ended it."""


def comparable(request: ModelRequest) -> JsonObject:
    """Return the part of a request that must be equal: all but the model's id."""
    return request_body(request, model_id="", capabilities=Capabilities(vision=True))


class RecordingModel(WrappingModel[ChatModel]):
    """Answers by another model and writes down every call that it ended."""

    def __init__(self, model: ChatModel, path: Path, masker: Masker | None = None) -> None:
        """Take the model that answers, and the file; new calls are added at its end.

        Args:
            model: what answers.
            path: the file.
            masker: knows the secrets that are not written into it.
        """
        self._masker = masker if masker is not None else Masker()
        super().__init__(model)
        self._path = path

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer; a call that was cancelled leaves no record.

        Raises:
            ModelError: as the answering model does; recorded too.
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
        """Let go of the answering model."""
        await self._inner.close()

    def _write(
        self,
        request: ModelRequest,
        deltas: list[ReplyDelta],
        error: tuple[str, ...] | None,
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
                f"The reply came, and could not be recorded: {self._path}: {refused.strerror}.",
                "Record into another file, or without.",
            ) from refused


class ReplayModel:
    """Answers from a recording. Equal requests get their answers in the recorded order."""

    def __init__(self, path: Path) -> None:
        """Take the recording; it is read at the first request."""
        self._path = path
        self._calls: tuple[RecordedRequest, ...] | None = None
        self._given: Counter[str] = Counter()

    @property
    def label(self) -> str:
        """The model's name for people."""
        return f"Replay of {self._path.name}"

    @property
    def capabilities(self) -> Capabilities:
        """Return all abilities that a recording can have."""
        return Capabilities(vision=True)

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the request that is looked up in the recording."""
        return comparable(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer as recorded.

        Raises:
            ModelError: "no-recording", or the error that was recorded.
        """
        call = self._find(comparable(request))
        for delta in call.deltas:
            yield delta
        if call.error is not None:
            raise ModelError(*call.error)

    async def close(self) -> None:
        """Nothing to let go of."""

    def _find(self, request: JsonObject) -> RecordedRequest:
        if self._calls is None:
            self._calls = read_recording(self._path)
        wanted = _key(request)
        same = [call for call in self._calls if _key(call.request) == wanted]
        if not same:
            raise self._miss(request, self._calls)
        # Past the last one the last is given again: asking more often is not another request.
        index = min(self._given[wanted], len(same) - 1)
        self._given[wanted] += 1
        return same[index]

    def _miss(self, request: JsonObject, calls: tuple[RecordedRequest, ...]) -> ModelError:
        hint = "Record it with the connection that answered, or change the prompt back."
        if not calls:
            return ModelError("no-recording", f"{self._path.name!r} holds no calls.", hint)
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
    """Every call of a recording.

    Raises:
        ModelError: "no-recording"; the file is missing or not a recording.
    """
    hint = "Choose another recording, or make one."
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
    # The ends of long conversations tell them apart; the beginnings are the same prompt.
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
