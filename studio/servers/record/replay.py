"""Replay a recording in place of the models: equal requests get the recorded answers, offline.

Two requests are equal if their paths are equal and their bodies are equal as JSON values, except
for ignored keys, which are shown to the user. Each recorded call answers once, in the order of the
recording.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Literal, NamedTuple, TypeAlias, cast

from studio.core.agent.values.events import Event, ModelCalled, ModelFailed, ModelReplied
from studio.core.agent.values.json_text import json_text
from studio.core.masking.masker import Masker
from studio.core.runs.rows import RECORDING
from studio.core.runs.store import RunFilter, RunStore
from studio.core.text.amounts import counted, shortened
from studio.core.text.diff import ABSENT, common_start, json_difference
from studio.core.text.values import Json, parse_json
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import WireCall, marked_body
from studio.servers.record.answers import answer_of
from studio.servers.record.exchange import CUT_OFF, Exchange, Head, ProgramKeys

IGNORED = ("metadata", "prompt_cache_key", "safety_identifier", "user")
"""Keys of a body that differ between runs and do not affect the answer."""

_MOST_SHOWN = 200

_BEFORE = 40
"""Characters of a text that are shown before the place where it differs."""


def recorded_calls(store: RunStore, run: str) -> list[WireCall]:
    """Return the calls of a recording in order: those of a run and of all runs with its tag.

    A call without a complete answer is skipped: the program retried it.

    Raises:
        JournalError: a run cannot be read.
        LookupError: an answer was not stored.
    """
    summary = store.summary(run)
    tag = summary.shared_tag(RECORDING) if summary is not None else ""
    runs = store.runs(RunFilter(tag=tag, limit=-1)) if tag else ()
    found: list[tuple[float, WireCall]] = []
    lost = 0
    for name in {run, *(each.id for each in runs)}:
        for called in _answered(store.open(name).events):
            call = store.call(name, called.seq)
            if call is None or call.cut:
                lost += 1
            elif call.has_answer:
                found.append((called.at, call))
    if lost:
        raise LookupError(
            f"{counted(lost, 'answer')} of this recording cannot be replayed: an answer is not "
            "stored if it has a secret, is compressed without a request, or is over 8 MB long"
        )
    return [call for _, call in sorted(found, key=lambda item: item[0])]


def _answered(events: Iterable[Event]) -> Iterator[ModelCalled]:
    """Yield the calls whose answers are complete."""
    called: ModelCalled | None = None
    for event in events:
        match event:
            case ModelCalled():
                called = event
            case ModelReplied() | ModelFailed() if called is not None:
                if not (isinstance(event, ModelFailed) and event.kind == CUT_OFF):
                    yield called
                called = None
            case _:
                pass


OnDifference: TypeAlias = Literal["refuse", "take", "ask", "answer"]
"""Answer to a request that differs.

Either an error, the recorded answer of the next call of its path, the server's answer, or the
user's.
"""


class Decision(NamedTuple):
    """Answer of the user to a request that differs."""

    how: OnDifference
    """Kind of the answer."""

    text: str = ""
    """Text of the user's own answer; empty refuses the request."""


AskAnswer: TypeAlias = Callable[[Exchange, str], Awaitable[Decision]]
"""Asks the user how to answer a request, given the difference."""


class Change(NamedTuple):
    """The first difference between two recordings of a program."""

    before: str
    """Id of a run of the earlier recording."""

    number: int
    """Number of the call that differs, from 1; of the last call if all are equal."""

    words: str
    """Description of the difference; empty if all requests are equal."""


def change_since(store: RunStore, tag: str) -> Change | None:
    """Return the first difference between a recording and the previous one of the same program.

    Args:
        store: the history.
        tag: tag of the runs of the recording.

    Raises:
        JournalError: a run cannot be read.
        LookupError: an answer was not stored.
    """
    own = next(iter(store.runs(RunFilter(tag=tag, limit=1))), None)
    if own is None:
        return None
    program = _program(store, own.id)
    for each in store.runs(RunFilter()):
        other = each.shared_tag(RECORDING)
        is_named_so = each.prompt.rpartition(" ")[0] == own.prompt.rpartition(" ")[0]
        if other and other != tag and is_named_so:
            if _program(store, each.id) != program:
                continue
            pairs = zip_longest(recorded_calls(store, each.id), recorded_calls(store, own.id))
            number = 0
            for number, (was, now) in enumerate(pairs, 1):
                if words := _changed(was, now):
                    return Change(each.id, number, words)
            return Change(each.id, number, "")
    return None


def _program(store: RunStore, run: str) -> str:
    state = store.open(run).state
    return state.setup.program if state is not None else ""


def _changed(was: WireCall | None, now: WireCall | None) -> str:
    if was is None or now is None:
        return "it is new" if was is None else "it is missing"
    if _path(was.path.encode()) != _path(now.path.encode()):
        return f"{now.path}: it was {was.path}"
    old, new = (_compared(parse_json(each.body), IGNORED) for each in (was, now))
    return first_difference(old, new)


class Replay:
    """Answers the requests of a program from a recording, and reports the first that differs."""

    def __init__(
        self,
        calls: Sequence[WireCall],
        masker: Masker,
        ignored: Iterable[str] = IGNORED,
        on_difference: OnDifference = "refuse",
        ask_user: AskAnswer | None = None,
    ) -> None:
        """Create a replay of recorded calls.

        Args:
            calls: the calls in order.
            masker: replaces the secrets of the program by marks, as in the recording.
            ignored: keys of a body that are not compared.
            on_difference: answer to a request that differs.
            ask_user: asks the user for an answer, for `on_difference="answer"`.
        """
        self._on_difference, self._ask_user = on_difference, ask_user
        self._asking: set[asyncio.Task[None]] = set()
        self.difference = ""
        """The first request without a recorded answer, and the reason; empty if there is none."""
        self.others: list[str] = []
        """Method and path of each refused request that was not for a model."""
        self._left = list(calls)
        self._masker = masker
        self._keys = ProgramKeys(masker)
        self._ignored = frozenset(ignored)

    @property
    def left(self) -> int:
        """Return the number of recorded calls that were not used yet."""
        return len(self._left)

    def take(self, exchange: Exchange) -> None:
        """Answer a request from the recording."""
        self._keys.note(exchange)
        asked = _compared(parse_json(marked_body(exchange.body, self._masker)[0]), self._ignored)
        path, nearest = _path(exchange.target), ""
        instead: WireCall | None = None
        for at, call in enumerate(self._left):
            if not _path(call.path.encode()).endswith(path):
                continue
            difference = first_difference(_compared(parse_json(call.body), self._ignored), asked)
            if not difference:
                del self._left[at]
                _answer(exchange, call)
                return
            if not nearest:
                nearest, instead = difference, call
        words = nearest or "the recording has no further call to this path"
        self.difference = self.difference or words
        if self._on_difference != "answer":
            self._decide(exchange, words, Decision(self._on_difference), instead)
            return
        task = asyncio.create_task(self._by_hand(exchange, words, instead))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    def close(self) -> None:
        """Ask the user no further question."""
        for task in self._asking:
            task.cancel()

    async def _by_hand(self, exchange: Exchange, words: str, instead: WireCall | None) -> None:
        """Answer a request that differs as the user wants."""
        no = Decision("refuse")
        decision = await self._ask_user(exchange, words) if self._ask_user is not None else no
        self._decide(exchange, words, decision, instead)

    def _decide(
        self, exchange: Exchange, words: str, decision: Decision, instead: WireCall | None
    ) -> None:
        if decision.how == "take" and instead is not None and instead in self._left:
            self._left.remove(instead)
            _answer(exchange, instead)
        elif decision.how == "ask":
            exchange.pass_on()
        elif decision.how == "answer" and decision.text:
            exchange.answer(200, *answer_of(exchange, Reply(decision.text)))
        else:
            _refuse(exchange, words)


def _refuse(exchange: Exchange, words: str) -> None:
    exchange.refuse(409, f"This request differs from the recorded one: {words}")


def _compared(value: Json, ignored: Collection[str]) -> Json:
    """Return what of a body is compared: of Gemini's no ids of calls, which its clients make."""
    if not isinstance(value, Mapping):
        return value
    made = {key: each for key, each in value.items() if key not in ignored}
    if "contents" in made:
        made["contents"] = _without_ids(made["contents"])
    return made


def _without_ids(value: Json) -> Json:
    if isinstance(value, list):
        return [_without_ids(each) for each in value]
    if not isinstance(value, Mapping):
        return value
    return {
        key: {name: value for name, value in each.items() if name != "id"}
        if key in ("functionCall", "functionResponse") and isinstance(each, Mapping)
        else _without_ids(each)
        for key, each in value.items()
    }


def _path(target: bytes) -> bytes:
    """Return a path relative to the base URL, without the query."""
    return target.partition(b"?")[0]


def _answer(exchange: Exchange, call: WireCall) -> None:
    data = call.raw.encode("utf-8", "surrogateescape")
    kind = call.kind or ("text/event-stream" if exchange.streams else "application/json")
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(data)).encode())]
    exchange.give(Head(call.status or 200, headers))
    exchange.give(data)
    exchange.end()


def first_difference(recorded: Json, asked: Json) -> str:
    """Return the path and both shortened values of the first difference of two bodies, or ""."""
    found = json_difference(recorded, asked)
    if found is None:
        return ""
    if found.old is ABSENT:
        return f"{found.path} is new: {_short(found.new)}"
    if found.new is ABSENT:
        return f"{found.path} is missing: it was {_short(found.old)}"
    old, new = found.old, found.new
    if isinstance(old, str) and isinstance(new, str):
        start = max(0, common_start(old, new) - _BEFORE)
        old, new = (f"{'…' * bool(start)}{each[start:]}" for each in (old, new))
    return f"{found.path} is {_short(new)}: it was {_short(old)}"


def _short(value: object) -> str:
    return shortened(json_text(cast("Json", value)), _MOST_SHOWN)
