"""One conversation of a recorded program as a run, which the debugger can hold, edit and step.

The program replaces the prompt and the tools: its requests hold the messages of each step and the
results of the tool calls of the previous step.
"""

import asyncio
import re
import uuid
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

import httpx2

from studio.core.agent.loop.calls import NoTools, ToolboxAround
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.plan import OnStream, RunPlan
from studio.core.agent.run.runner import Run
from studio.core.agent.values import events
from studio.core.agent.values.commands import SendBack
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action, Call, Final, Limits, ResultOrigin, RunSetup
from studio.core.imports.request_json import schema_of, tools_of
from studio.core.masking.masker import Masker
from studio.core.masking.redact import DOTS
from studio.core.models.base import Capabilities, ModelPlace, ModelRequest, TellOpening
from studio.core.models.bodies import as_sent
from studio.core.models.capabilities import Price, listed_price, priced
from studio.core.models.connections import Connection
from studio.core.prompty.document import Message, ToolResultPart, ToolSpec
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.runs.rows import CALLED, RunWriter
from studio.core.runs.store import RunStore
from studio.core.text.values import JsonObject, reason_of
from studio.core.tools.source import ToolOutcome, tool_asked
from studio.core.wire.draft import result_id
from studio.core.wire.reply import ReplyDelta, ToolCall
from studio.servers.record.answers import answer_of, edited_body
from studio.servers.record.exchange import (
    CUT_OFF,
    Exchange,
    Head,
    Headers,
    ReplyReader,
    failure_of,
    left_failure,
    read_answer,
    sent_headers,
)
from studio.servers.record.results import ProgramResults, result_text

OnProgramEvent: TypeAlias = Callable[["ProgramRun", events.Event], None]
"""Called with each event of a conversation's run."""

_PUBLIC_HEADERS = re.compile(
    rb"accept|accept-encoding|anthropic-(beta|version)|content-(encoding|length|type)|openai-beta"
    rb"|user-agent|x-goog-api-client|x-stainless-.+"
)
"""Headers whose values are stored; any other header may hold a key."""


class ProgramRun:
    """A conversation: its requests in order, and the run that shows them."""

    def __init__(
        self,
        name: str,
        program: str,
        first: Exchange,
        masker: Masker,
        options: RunOptions,
        results: ProgramResults,
    ) -> None:
        """Start a conversation with its first request.

        Args:
            name: title of its run.
            program: command line of the program.
            first: the request.
            masker: replaces the secrets of the program.
            options: pause points; without them, answers are passed on as they arrive.
            results: tool results from the requests of all conversations.
        """
        self._all_results = results
        self.first_number = first.number
        """Number of its first request in the recording."""
        self.caller = ""
        """Run and iteration (`RUN@STEP`) with the call that it answers; empty for none."""
        self._keep_caller: Callable[[], None] = lambda: None
        self.exchange = first
        """The request that the run shows."""
        self.shown: tuple[Message, ...] = ()
        """The messages of the request as the run shows them: valid, and without secrets."""
        self._fresh: Exchange | None = None
        self._arrived = asyncio.Event()
        self._open: dict[str, asyncio.Future[ToolOutcome]] = {}
        self._is_edited = False
        self._results: dict[str, Message] = {}
        """The program's results of the last tool calls, by call id."""
        self._edits: list[tuple[Message, Message]] = []
        """Results of this request that the user edited: the original and the edited message."""
        self._replaces = False
        """Whether results were edited; they are then replaced in every later request."""
        self._writer: RunWriter | None = None
        self._on_event: OnProgramEvent | None = None
        model = ProgramModel(self)
        answers = run_model_of(model)
        setup = RunSetup(
            run=uuid.uuid4().hex[:12],
            prompt=name,
            program=program,
            question=_last_words(first),
            tools=tuple(_specs(first.data)),
            model=answers.name,
            model_id=answers.id,
            provider=answers.provider,
            server=answers.server,
            price=answers.price,
            limits=Limits(None, None, None, None),
            parallel=True,
            headless=options.headless,
        )
        self.on_stream: OnStream | None = None
        """Called with each delta of a reply and the reply so far."""
        self.plan = RunPlan(
            parse(""),
            {},
            model,
            ProgramTools(self),
            options=replace(options, backoff=0.0, repair="never"),
            references=ReferenceContext(environment={}, masker=masker),
            conversation=self._conversation,
            journal=self._write,
            shown=self._follow,
            stream=lambda delta, reply: self.on_stream(delta, reply) if self.on_stream else None,
            kept=lambda reply: self._writer.keep_reply(reply) if self._writer else None,
            keep_call=lambda seq, call: self._writer.keep_call(seq, call) if self._writer else None,
        )
        self.run = Run(self.plan, setup)
        """The run."""
        self.arrive(first)

    async def go(self, store: RunStore | None, tag: str, on_event: OnProgramEvent) -> None:
        """Drive the run until the program has its last answer.

        Args:
            store: history that stores it; None stores nothing.
            tag: tag of all runs of one recording.
            on_event: called with each event.
        """
        self._on_event = on_event
        if store is not None:
            self._writer = store.journal(self.run.state.setup.run)
            run = self.run.state.setup.run
            store.describe(run, tags=(tag,))
            self._keep_caller = lambda: store.describe(run, tags=(tag, f"{CALLED}{self.caller}"))
        try:
            await self.run.go()
            while self.run.state.status == "done":
                fresh = await self._next()
                await self.run.go(SendBack(_last_words(fresh)))
        finally:
            for waiting in (self.exchange, self._fresh):
                if waiting is not None:
                    self._refuse(waiting)

    # Requests -------------------------------------------------------------------------------------

    @property
    def latest(self) -> Exchange:
        """Return the newest request."""
        return self._fresh or self.exchange

    @property
    def holds(self) -> bool:
        """Whether a request or its answer may be held or changed; the answer waits for the run."""
        gate, options = self.run.gate, self.run.gate.options
        stands = gate.stepping or gate.wants_pause or gate.target or options.stop_at_entry
        return not options.headless and bool(
            stands or options.breakpoints or options.pause_at or self._replaces
        )

    @property
    def is_ending(self) -> bool:
        """Whether the program has its answer and the run only has to record it."""
        state = self.run.state
        waits = state.pause is not None or state.is_over or bool(self._open)
        return self.latest.is_answered and not waits

    def continues(self, exchange: Exchange) -> bool:
        """Return whether a request continues this conversation, or retries its last request."""
        latest = self.latest
        if self.run.state.is_over and self.run.state.status != "done":
            return False
        if exchange.is_again(latest):
            return True
        if not latest.is_answered or latest.is_failed:
            return False
        if exchange.continued:
            is_kept_there = exchange.continued.startswith("conversation ")
            return exchange.continued == (latest.continued if is_kept_there else latest.answer_id)
        before, now = latest.known, exchange.known
        return len(now) > len(before) and now[: len(before)] == before

    def arrive(self, exchange: Exchange) -> None:
        """Take the next request of the conversation, or a retry of the held one."""
        exchange.is_held = self.holds and exchange.passing is None
        latest = self.latest
        if exchange.is_again(latest) and not latest.is_failed:
            exchange.take_over(latest)
            if self.exchange is latest:
                self.exchange = exchange
            if self._fresh is not None:
                self._fresh = exchange
            return
        self._fresh = exchange
        self._arrived.set()
        self._settle(exchange)

    def _settle(self, exchange: Exchange) -> None:
        """Resolve every awaited tool call with its result from the next request."""
        for name, future in self._open.items():
            if future.done():
                continue
            if (found := self._result_in(exchange, name)) is None:
                words = "The program's next request contains no result of this call."
                future.set_result(ToolOutcome(words, "error"))
            else:
                self._results[name] = found
                future.set_result(ToolOutcome(result_text(found), "ok"))

    def _result_in(self, exchange: Exchange, call_id: str) -> Message | None:
        results = [each for each in exchange.messages if each.role == "tool"]
        if exchange.api in ("gemini", "ollama"):  # results are in the order of the calls
            calls = [call.id for call in self.run.state.step.calls]
            at = len(results) - len(calls) + calls.index(call_id)
            return results[at] if at >= 0 else None
        return next((each for each in results if result_id(each) == call_id), None)

    async def _next(self) -> Exchange:
        await self._arrived.wait()
        assert self._fresh is not None
        return self._fresh

    async def _conversation(self, state: RunState) -> events.Rendered:
        """Wait for the next request and replace its results that the user edited."""
        self._release(state)
        self.exchange = await self._next()
        self._fresh, self._is_edited = None, False
        self._arrived.clear()
        self._open.clear()
        self._edits = [
            (result, replace(result, parts=(ToolResultPart(call.observation or ""),)))
            for step in state.steps
            for call in step.calls
            if "observation" in call.edited and (result := self._results.get(call.id)) is not None
        ]
        messages = self.exchange.messages
        return events.Rendered(tuple(_looked_up(each, self._edits) for each in messages))

    async def retried(self) -> None:
        """Wait until the program retries a failed request; return at once for the first try."""
        if self.exchange.is_failed and not self.exchange.is_behind:
            self.exchange = await self._next()
            self._fresh = None
            self._arrived.clear()

    async def result(self, call_id: str) -> ToolOutcome:
        """Wait for the program's result of a tool call."""
        future = self._open[call_id] = self._all_results.waited(call_id, self.exchange)
        if self._fresh is not None:  # the request arrived before the run recorded the call
            self._settle(self._fresh)
        outcome = await future
        state, numbers = self.run.state, range(self.exchange.number + 1, self.latest.number)
        self._all_results.given(f"{state.setup.run}@{state.iteration}", numbers, outcome.text)
        return outcome

    @property
    def said(self) -> Iterator[str]:
        """Yield the text of the newest reply, and the texts in the arguments of its calls."""
        step = self.run.state.step
        if step.reply is not None:
            yield step.reply.text
        for call in step.calls:
            values = (call.arguments or {}).values()
            yield from (value for value in values if isinstance(value, str))

    def nest(self, caller: str) -> None:
        """Take the call of another conversation whose result is the answer of this one."""
        self.caller = caller
        self._keep_caller()

    # Facts ----------------------------------------------------------------------------------------

    def _write(self, event: events.Event) -> None:
        if self._writer is not None:
            self._writer(event)

    def _follow(self, event: events.Event) -> None:
        """Handle an event of the run; release a held answer when it is decided."""
        state = self.run.state
        match event:
            case events.Rendered():
                came = [(after, before) for before, after in self._edits]
                self.shown = tuple(_looked_up(each, came) for each in state.step.messages)
            case events.ObservationEdited():
                self._replaces = True
            case events.ReplyEdited():
                self._is_edited = True
            case events.ReplyRead(reading=reading) if not isinstance(reading, Action | Final):
                self._release(state)
            case events.ToolCalled() | events.AnswerChecked():
                self._release(state)
            case events.ModelFailed(message=words):
                self.exchange.fail(words)
            case events.Failed() | events.Stopped():
                self._refuse(self.exchange)
            case _:
                pass
        if isinstance(event, events.ReplyRead):
            self._all_results.replied(self)
        if self._on_event is not None:
            self._on_event(self, event)

    def _release(self, state: RunState) -> None:
        """Give the program the answer: the server's bytes, or the user's version."""
        step = state.step
        if self.exchange.is_answered or step.reply is None:
            return
        reply = step.reply
        if any("arguments" in call.edited for call in step.calls):
            reply = replace(reply, tool_calls=tuple(map(_asked, step.calls)))
        elif step.answer is not None:
            reply = replace(reply, text=state.answer or "")
        elif not self._is_edited:
            self.exchange.end()
            return
        kind, body = answer_of(self.exchange, reply)
        self.exchange.answer(200, kind, body)

    @staticmethod
    def _refuse(exchange: Exchange) -> None:
        """Refuse a request whose run was stopped."""
        exchange.refuse(503, "The run of this request was stopped in Prompt Studio.")


class ProgramModel:
    """The model of a program's run: passes the program's request on and reads the answer."""

    def __init__(self, conversation: ProgramRun) -> None:
        self._conversation = conversation
        first = conversation.exchange
        upstream = first.upstream
        self.capabilities = Capabilities()
        """All capabilities: requests are sent as the program wrote them."""
        self.label = first.model or upstream.name
        """Model id in the program's request."""
        server = httpx2.URL(upstream.address)
        address = f"{server.scheme}://{server.netloc.decode()}"
        self.place = ModelPlace(first.model, upstream.name, address)
        """Server that the program addresses."""
        connection = Connection(upstream.name, upstream.kind, base_url=upstream.address)
        self.price: Price | None = listed_price(first.model, connection)
        """Price of the tokens; None if unknown."""

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the body of the program's request."""
        del request
        return self._conversation.exchange.data

    async def prepare(self, tell: TellOpening) -> None:
        """Wait for a request to pass on; after a failure, this is the program's retry."""
        del tell
        await self._conversation.retried()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Pass on the request and the answer, and parse a copy of the answer.

        Raises: ModelError: the server refused, or its answer cannot be parsed; the program has it.
        """
        exchange, wire = self._conversation.exchange, request.wire
        if exchange.is_gone and exchange.passing is None:
            raise left_failure()
        exchange.is_asked = True
        try:
            answer = await self._answer(exchange, request)
            if wire is not None:
                wire.answered(answer.status_code, answer.headers)
            exchange.give(Head(answer.status_code, sent_headers(answer.headers.raw)))
            is_refused = answer.status_code >= 400
            kind = "" if is_refused else answer.headers.get("content-type", "").lower()
            reader = ReplyReader(exchange.api, kind)
            try:
                async for piece in read_answer(answer, exchange, reader, wire):
                    deltas = list(reader.feed(piece))
                    exchange.answer_id = reader.answer_id
                    for delta in deltas:
                        yield priced(delta, self.price)
            finally:
                await answer.aclose()
        finally:
            exchange.is_asked = False
        last = [priced(delta, self.price) for delta in reader.end()]
        exchange.answer_id = reader.answer_id
        if is_refused or reader.fault:
            words = reader.fault or f"{exchange.upstream.name} answered {answer.status_code}"
            error = failure_of(answer.status_code, words)
            error.kind = CUT_OFF if exchange.is_broken else error.kind
            raise error
        exchange.note()
        if not exchange.is_held:
            exchange.end()
        for delta in last:
            yield delta

    async def _answer(self, exchange: Exchange, request: ModelRequest) -> httpx2.Response:
        """Return the server's answer, or the injected error.

        Raises:
            ModelError: the server cannot be reached, or the program has closed its connection.
        """
        fault = exchange.fault
        if fault.delay:
            await exchange.while_there(asyncio.sleep(fault.delay))
        if not fault.status:
            return await self._send(exchange, request)
        body = {"error": {"message": "A fault injected by Prompt Studio.", "type": "fault"}}
        return httpx2.Response(fault.status, json=body, stream=None)

    async def _send(self, exchange: Exchange, request: ModelRequest) -> httpx2.Response:
        """Send the program's request with the user's edits.

        Raises:
            ModelError: the server cannot be reached, or the program has closed its connection.
        """
        body, headers, passing = exchange.body, exchange.headers, exchange.passing
        if exchange.edited or tuple(request.messages) != self._conversation.shown:
            if passing is not None:  # a pause that was requested within these milliseconds
                raise failure_of(0, "The request was sent before it was edited.")
            body = edited_body(exchange, self._conversation.shown, as_sent(request).messages)
            headers = sent_headers(headers, body)
        if request.wire is not None:
            path = exchange.upstream.path(exchange.target)
            request.wire.sent(path, _kept(headers), body)
        sending = (
            exchange.upstream.send("POST", exchange.target, headers, body)
            if passing is None
            else passing.copied()
        )
        try:
            return await exchange.while_there(sending)
        except (httpx2.HTTPError, OSError) as error:
            words = f"{exchange.upstream.address} cannot be reached ({reason_of(error)})."
            raise failure_of(502, words) from None

    async def close(self) -> None:
        """Do nothing: the owner of the server's connections closes them."""


def _kept(headers: Headers) -> Iterator[tuple[str, str]]:
    """Yield the headers for the history, with the values of unknown ones masked."""
    for name, value in headers:
        is_public = _PUBLIC_HEADERS.fullmatch(name) is not None
        yield name.decode("latin-1"), value.decode("latin-1") if is_public else DOTS


class ProgramTools(ToolboxAround):
    """The tools of a program, which calls them itself."""

    def __init__(self, conversation: ProgramRun) -> None:
        """Create the tools of a conversation, in which the results arrive."""
        super().__init__(NoTools())
        self._conversation = conversation

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools that the request offers and those that the reply calls."""
        step = self._conversation.run.state.step
        offered = tuple(_specs(self._conversation.exchange.data))
        names = {each.name for each in offered}
        called = {call.tool for call in step.calls} - names
        return (*offered, *(ToolSpec(name, source="program") for name in sorted(called)))

    def check(
        self, name: str, arguments: JsonObject, released: AbstractSet[str] = frozenset()
    ) -> tuple[str, ...]:
        """Return no problems: the program checks its own calls."""
        del name, arguments, released
        return ()

    def needs_approval(self, name: str) -> bool:
        """Return False: the program decides what it calls."""
        del name
        return False

    def origin(self, name: str) -> ResultOrigin:
        """Return the origin of every result: the program."""
        del name
        return "live"

    async def call(
        self,
        name: str,
        arguments: JsonObject,
        call_id: str = "",
        released: AbstractSet[str] = frozenset(),
    ) -> ToolOutcome:
        """Wait for the program's result of a tool call."""
        del name, arguments, released
        tool_asked()
        return await self._conversation.result(call_id)


def _specs(data: JsonObject) -> Iterator[ToolSpec]:
    """Yield the tools that a request offers."""
    for tool in tools_of(data):
        name = str(tool.get("name") or tool.get("type") or "")
        schema = schema_of(tool) or {"type": "object", "properties": {}}
        yield ToolSpec(name, str(tool.get("description") or ""), schema, source="program")


def _asked(call: Call) -> ToolCall:
    return ToolCall(call.id, call.tool, json_text(call.arguments or {}))


def _last_words(exchange: Exchange) -> str:
    return next((each.text for each in reversed(exchange.messages) if each.role == "user"), "")


def _looked_up(message: Message, pairs: Sequence[tuple[Message, Message]]) -> Message:
    """Return the second message of the pair whose first equals a message, or that message."""
    return next((second for first, second in pairs if first == message), message)
