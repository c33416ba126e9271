"""Run one cell: build its request, and get its answer."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from studio.application.connections.model import Answerers
from studio.application.experiments import providers
from studio.application.experiments.asked_cell import AskedCell, asked_cell
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.planned_variants import PlannedVariant
from studio.application.experiments.prompts import CONVERSATION, for_row
from studio.application.experiments.stepping import MockedToolbox, read_mocks
from studio.application.experiments.turns import (
    ConnectionLimiter,
    LeasedCell,
    LimitedModel,
    LimitedTurns,
    Turns,
)
from studio.application.run.start.session import begin_run, open_tools, tool_scores_of
from studio.application.trust import references_of
from studio.core.agent.loop.calls import NoTools, RunToolbox
from studio.core.agent.loop.machine import advance
from studio.core.agent.loop.setup import BY_WORDS, limits_of, make_setup, with_inputs
from studio.core.agent.loop.steps import new_state, request_of
from studio.core.agent.run.performer import Performer
from studio.core.agent.run.plan import OnStream, RunPlan
from studio.core.agent.run.secrets import run_secrets
from studio.core.agent.values.events import Event, Rendered, Started
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import RunSetup
from studio.core.experiments.assertions.result import UndecidedError
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.values import ExperimentRow, SentCell
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.choice import EmbeddedServers
from studio.core.models.remote.faults import LearnedRefusal
from studio.core.models.remote.model import RemoteModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.prepare import settled_document
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.files import read_bounded
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolSourceError
from studio.core.wire.reply import RefusedOption, Reply, ReplyDelta
from studio.core.wire.request import history_problems
from studio.core.wire.wire_call import KeptCall, WireCall

if TYPE_CHECKING:
    from studio.core.tools.document_tools import ToolSession

_MOST_CELLS = 200

_MOST_DRAFTS = 20_000
"""Maximum number of drafts kept in memory; further cells are rendered again for their run."""

LOCAL_AT_ONCE = 1.0
"""Parallel requests to the embedded model, which answers one after another."""


@dataclass(frozen=True, slots=True)
class _CellDraft:
    """A cell up to its first request, rendered once for its identity and its run."""

    document: PromptDocument
    values: JsonObject
    options: RunOptions
    setup: RunSetup
    rendered: Rendered


@dataclass(frozen=True, slots=True)
class CellProgress:
    """The progress of a running cell."""

    text: str = ""
    """The answer so far."""

    waits: str = ""
    """Reason of the server's delay, and the time of the next attempt; empty if it answers."""


OnProgress: TypeAlias = Callable[[CellKey, CellProgress], None]

_PROGRESS_SECONDS = 1 / 30


class Asker:
    """A runner of an experiment's cells in this process, with models and tools opened once."""

    price_share = 1.0
    """Cost of a request, as a share of its normal price."""

    def __init__(
        self,
        plan: ExperimentPlan,
        services: ExperimentServices,
        turns: Turns | None = None,
        *,
        is_leader: bool = False,
    ) -> None:
        """Store the settings; nothing is opened yet.

        Args:
            plan: the plan of the run.
            services: the shared services.
            turns: decides when requests are sent; None to send at once if a limiter allows it.
            is_leader: whether cells run elsewhere, so that no drafts are kept.
        """
        self.turns: Turns = turns if turns is not None else LimitedTurns(self.limiter)
        """Policy for when the requests of cells and judges are sent."""
        self.on_progress: OnProgress | None = None
        """Callback for each part of an answer, at most 30 times a second for a cell."""
        self._plan = plan
        self._services = services
        self._answerers = Answerers(services.connections, services.secrets)
        self._embedded = EmbeddedServers(services.embedded, services.sharers)
        self._models: dict[int, ChatModel] = {}
        self._limiters: dict[str, ConnectionLimiter] = {}
        self._tools: dict[int, ToolSession] = {}
        self._sources: dict[int, str] = {}
        self._contexts: dict[str, ReferenceContext] = {}
        self._mocks = read_mocks(plan.file.mocks, plan.folder)
        self._drafts: dict[tuple[int, int], _CellDraft] = {}
        self._setups: dict[int, RunSetup] = {}
        self._most_drafts = 0 if is_leader else _MOST_DRAFTS

    @property
    def room(self) -> int:
        """Approximate number of cells to run at once."""
        # More than the parallel requests: while one cell is marked and stored, another sends its
        # request.
        found = sum(int(1.25 * each.limit) + 1 + each.resting for each in self._limiters.values())
        return min(found, self._plan.options.concurrency or _MOST_CELLS)

    @property
    def refused(self) -> int:
        """Number of requests that servers rejected so far (429)."""
        return sum(each.refused for each in self._limiters.values())

    def limiter(self, connection: str, *, is_local: bool = False) -> ConnectionLimiter:
        """Return the limiter of a connection, which cells and judges share."""
        if connection not in self._limiters:
            most = self._plan.options.concurrency or 100
            local = LOCAL_AT_ONCE if is_local else float(most)
            self._limiters[connection] = ConnectionLimiter(most=min(float(most), local))
        return self._limiters[connection]

    async def open(self) -> None:
        """Open the models and start the tools.

        Raises:
            ModelError: a connection is incomplete.
            ToolSourceError: the tools cannot be started.
        """
        for at, variant in enumerate(self._plan.variants):
            self._models[at] = self._model(variant)
            self._limiter_of(variant)
            if wants_tools(variant.document):
                # Importing tool sources takes 60 ms, which a prompt without tools does not need.
                from studio.application.connections.model import tool_session

                services = self._services
                session = tool_session(
                    services.trust, services.connections, services.secrets, allowed=services.allowed
                )
                self._tools[at] = session
                await self._load_tools(at, variant, session)

    async def start(self, result: int) -> None:
        """Prepare for the cells of a result; nothing to do in this class."""

    def begin_cell(self) -> None:
        """Register a new cell before its run; nothing to do in this class."""

    def end_cell(self) -> None:
        """Register the end of a cell: marked and stored, or given up."""

    def _model(self, variant: PlannedVariant) -> ChatModel:
        if variant.choice is None:
            return providers.EchoModel()
        answerers = replace(self._answerers, embedded=self._embedded.of(variant.choice))
        return answerers.open(
            providers.without_retries(variant.choice),
            variant.document.source.path,
            trusted=self._plan.folder.trusted,
            project=self._plan.file.path,
        )

    def _limiter_of(self, variant: PlannedVariant) -> ConnectionLimiter:
        choice = variant.choice
        if choice is None:
            return self.limiter("echo")
        return self.limiter(choice.connection.name, is_local=choice.connection.kind == "embedded")

    async def _load_tools(self, at: int, variant: PlannedVariant, session: ToolSession) -> None:
        references = self._references(variant)
        values = self._plan.first_values(at)
        document = settled_document(variant.document, values, references)
        await open_tools(session, document, values, references)
        await session.load(document)
        if self._services.allow_tools:
            session.current.allow_own_tools()
        self._sources[at] = _hash_of_files(session.current.watched)

    def _references(self, variant: PlannedVariant) -> ReferenceContext:
        """Return the resolver of a variant's references, shared by all its cells."""
        if variant.name not in self._contexts:
            self._contexts[variant.name] = references_of(
                variant.document.source.path,
                self._services.trust,
                masker=self._services.secrets.masker,
            )
        return self._contexts[variant.name]

    async def _toolbox(
        self,
        at: int,
        document: PromptDocument,
        values: JsonObject,
        references: ReferenceContext,
    ) -> RunToolbox:
        session = self._tools.get(at)
        box: RunToolbox = NoTools()
        if session is not None:
            box = await open_tools(session, document, values, references)
        return MockedToolbox(box, self._mocks) if self._mocks else box

    def _run_options(self, variant: PlannedVariant, document: PromptDocument) -> RunOptions:
        timeout = self._plan.options.timeout_ms
        limits = limits_of(document)
        if providers.offered_tools(document) is not None:
            limits = replace(limits, iterations=1)
        if timeout:
            limits = replace(limits, seconds=min(limits.seconds or 3600.0, timeout / 1000))
        protocol = cast("ProtocolName | None", variant.entry.prompt.protocol or None)
        return RunOptions(
            protocol=protocol,
            limits=limits,
            headless=True,
            approve="always" if self._services.approve else "ask",
            attempts=1,
        )

    async def sent(self, at: int, row: ExperimentRow) -> SentCell | str:
        """Return the first request of a cell, or why it cannot be rendered."""
        variant = self._plan.variants[at]
        draft = self._kept_draft(at, row) or await self._drafted(at, row)
        if isinstance(draft, str):
            return draft
        if len(self._drafts) < self._most_drafts and CONVERSATION not in row.case.variables:
            self._drafts[at, row.number] = draft
        document, setup = draft.document, draft.setup
        state, _ = advance(new_state(setup), Started(setup))
        state, _ = advance(state, draft.rendered)
        model, request = self._models[at], request_of(state)
        refused: tuple[RefusedOption, ...] = ()
        if isinstance(model, RemoteModel):
            body, refused = model.sent_body(request)
        else:
            body = model.request_body(request)
        asked_body = body
        if isinstance(model, RemoteModel) and refused:
            asked_body = model.whole_body(request)
        choice = variant.choice
        later = ""
        if setup.protocol != "native" or setup.compose:
            later = (
                document.source.slice(document.body)
                + setup.compose
                + json.dumps(dict(draft.values), sort_keys=True, default=str)
            )
        limits = setup.limits
        return SentCell(
            body,
            providers.endpoint_of(choice.connection) if choice is not None else "echo",
            setup.protocol,
            tuple(
                {"name": each.name, "description": each.description, "parameters": each.parameters}
                for each in setup.tools
            ),
            self._sources.get(at, "") + _hash(self._plan.file.mocks),
            (limits.iterations, limits.tokens, limits.cost, limits.seconds),
            later,
            {"approve": draft.options.approve, "stop": list(setup.stop)},
            asked_body,
            refused,
        )

    def _kept_draft(self, at: int, row: ExperimentRow) -> _CellDraft | None:
        """Return the stored draft of a cell; None for a row with earlier turns, rendered again."""
        return None if CONVERSATION in row.case.variables else self._drafts.get((at, row.number))

    async def _drafted(self, at: int, row: ExperimentRow) -> _CellDraft | str:
        """Return a cell up to its first request, or why it cannot be rendered."""
        if (fault := self._plan.faults.get((at, row.number))) is not None:
            return fault
        variant = self._plan.variants[at]
        references = self._references(variant)
        try:
            prompt, values = for_row(
                variant.document, variant.entry.prompt, row.case, self._plan.values_of(at, row)
            )
        except UndecidedError as error:
            return str(error)
        document = settled_document(prompt, values, references)
        options = self._run_options(variant, document)
        toolbox = await self._toolbox(at, document, values, references)
        model = self._models[at]
        setup = self._setup(at, document, values, toolbox, options)
        state, _ = advance(new_state(setup), Started(setup))
        facts: list[Event] = []
        plan = RunPlan(document, values, model, toolbox)
        secrets = run_secrets(references, document, None)
        performer = Performer(plan, model, options, facts.append, secrets=secrets)
        performer.render(state)
        rendered = facts[0]
        if not isinstance(rendered, Rendered):
            return str(getattr(rendered, "message", "the prompt cannot be rendered"))
        if setup.protocol == "native" and (lost := history_problems(rendered.messages)):
            return f"{lost[0].message} An experiment sends a prompt as it is."
        return _CellDraft(document, values, options, setup, rendered)

    def _setup(
        self,
        at: int,
        document: PromptDocument,
        values: JsonObject,
        toolbox: RunToolbox,
        options: RunOptions,
    ) -> RunSetup:
        """Build the setup of a cell, shared by rows that only differ in their values."""
        is_shared = document is self._plan.variants[at].document and not toolbox.specs
        kept = self._setups.get(at) if is_shared else None
        if kept is not None:
            return with_inputs(kept, document, values)
        made = make_setup(document, values, toolbox.specs, self._models[at], options, run="")
        if is_shared:
            self._setups[at] = made
        return made

    async def ask(self, cell: LeasedCell, row: ExperimentRow) -> AskedCell:
        """Run a cell to its end. Never raises for errors of model and tools."""
        at = cell.key.variant
        variant = self._plan.variants[at]
        references = self._references(variant)
        model = self.turns.model(self._models[at], variant.choice, cell, "s")
        on_progress = self.on_progress
        if on_progress is not None and isinstance(model, LimitedModel):
            model.on_wait = lambda words: on_progress(cell.key, CellProgress(waits=words))
        try:
            draft = self._kept_draft(at, row) or await self._drafted(at, row)
            if isinstance(draft, str):
                return AskedCell(None, draft, b"")
            document, values = draft.document, draft.values
            toolbox = await self._toolbox(at, document, values, references)
        except ToolSourceError as error:
            return AskedCell(None, str(error), b"")
        options, setup = draft.options, replace(draft.setup, run=uuid.uuid4().hex[:12])
        if not self.turns.is_timed and options.limits is not None:
            limits = replace(options.limits, seconds=None)
            options, setup = replace(options, limits=limits), replace(setup, limits=limits)
        plan = RunPlan(document, values, model, toolbox, options=options, references=references)
        events: list[Event] = []
        calls: dict[int, WireCall] = {}

        def keep_call(seq: int, call: WireCall | KeptCall) -> None:
            if isinstance(call, WireCall):
                calls[seq] = call

        scores = await tool_scores_of(plan)
        is_drafted = scores is BY_WORDS
        plan = replace(
            plan,
            journal=events.append,
            keep_call=keep_call,
            stream=None if on_progress is None else _stream(cell.key, on_progress),
            rendered=draft.rendered if is_drafted else None,
        )
        run = begin_run(plan, scores=scores, setup=setup if is_drafted else None)
        state = await self._timed(run.go())
        from studio.core.runs.exchange import write_journal  # not before the first answer

        journal = write_journal(events, calls.get).rstrip("\n").encode("utf-8", "surrogatepass")
        if isinstance(state, str):
            return AskedCell(None, state, journal)
        asked = asked_cell(state, journal, model.waited, is_timed=self.turns.is_timed)
        offered = providers.offered_tools(document)
        if offered is None or asked.answer is None:
            return asked
        return replace(asked, answer=offered.answer(asked.answer, state.step.reply))

    def refusals_of(self, at: int) -> tuple[LearnedRefusal, ...]:
        """Return the options that the server of a variant is known to reject."""
        model = self._models[at]
        return model.known_refusals() if isinstance(model, RemoteModel) else ()

    def learn(self, at: int, refusals: Iterable[LearnedRefusal]) -> None:
        """Store options that the server of a variant rejected elsewhere."""
        model = self._models[at]
        if isinstance(model, RemoteModel):
            model.learn(refusals)

    async def _timed(self, going: Awaitable[RunState]) -> RunState | str:
        milliseconds = self._plan.options.timeout_ms
        if not milliseconds or not self.turns.is_timed:
            return await going
        try:
            # Waiting for the limiter is not part of the cell, so the run's time limit excludes it.
            return await asyncio.wait_for(going, 20 * milliseconds / 1000 + 60)
        except TimeoutError:
            return f"The cell did not end in {milliseconds} ms."

    async def close(self) -> None:
        """Close models and tools."""
        for session in self._tools.values():
            await session.close()
        for model in self._models.values():
            with suppress(ModelError):
                await model.close()
        await self._embedded.close()
        self._models.clear()
        self._tools.clear()


def _stream(key: CellKey, on_progress: OnProgress) -> OnStream:
    """Return the callback that reports the answer of a cell while it arrives."""
    told = 0.0

    def stream(_delta: ReplyDelta, reply: Reply) -> None:
        nonlocal told
        if (now := time.monotonic()) - told >= _PROGRESS_SECONDS:
            told = now
            on_progress(key, CellProgress(reply.text))

    return stream


def wants_tools(document: PromptDocument) -> bool:
    """Return whether a prompt has tools of any kind."""
    named = agent_settings(document).get("tools")
    return bool(document.tools or named) or any(
        section.role == "tools" for section in document.sections
    )


def _hash(value: JsonObject) -> str:
    text = json.dumps(value, sort_keys=True, default=str) if value else ""
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def _hash_of_files(paths: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with suppress(OSError):
            digest.update(read_bounded(path))
    return digest.hexdigest()[:16]
