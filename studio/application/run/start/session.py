"""Check whether a prompt can run, and drive a run from its plan to its end in the loop's thread."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias

from studio.application.words import tr
from studio.core.agent.loop.setup import (
    BY_WORDS,
    USUAL_COST,
    ToolScores,
    embedding_wish,
    make_setup,
    question_of,
)
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import Command
from studio.core.agent.values.events import Event, Started
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import RunSetup
from studio.core.models.base import EmbeddingModel, ModelError, WrappingModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import InputResolution, resolve_inputs
from studio.core.prompty.loop_format import question_input
from studio.core.prompty.parameters import lacking_parameters, missing_parameters
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.prompty.reference_values import NOT_TRUSTED, ReferenceContext
from studio.core.runs.database import StoreError
from studio.core.text.amounts import money
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import JsonDict, JsonObject
from studio.core.tools.source import ToolSourceError
from studio.core.wire.reply import Reply, ReplyDelta, ReplyNotice
from studio.core.wire.wire_call import KeptCall, WireCall

if TYPE_CHECKING:
    from studio.core.tools.document_tools import ToolSession
    from studio.core.tools.toolbox import AskUser, Toolbox


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a prompt cannot run."""

    problems: tuple[Problem, ...]
    """The problems, each with its span."""

    text: str
    """The reason as one plain sentence."""

    hint: str
    """Advice to the user."""

    missing: tuple[str, ...] = ()
    """Names of the inputs and parameters without a value, in the order of the document."""

    samples: JsonObject = field(default_factory=dict)
    """Samples of the preview by name, if a run could start with them. A run uses them only when the
    user agrees.
    """

    wants_trust: bool = False
    """Whether only trust in the prompt's folder is missing."""

    @property
    def span(self) -> Span:
        """The span in the document to look at first."""
        return self.problems[0].span


def refusal_of(
    document: PromptDocument, values: JsonObject, references: ReferenceContext | None = None
) -> Refusal | None:
    """Return what prevents a run; None if it can start.

    A run uses the given values and the declared defaults. A sample is for previewing the prompt: no
    run uses it by itself (docs/format.md, "Inputs"). A user message that would be empty without its
    sample is not sent.

    Args:
        document: the prompt.
        values: the values given for its inputs and parameters, by name.
        references: context that reads its files; None if its references are resolved already.
    """
    broken = tuple(item for item in document.problems if item.severity is Severity.ERROR)
    if broken:
        count = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return Refusal(
            broken,
            tr("The prompt has an error: {message}{count}").format(
                message=broken[0].message, count=count
            ),
            tr("Fix it, then run again."),
        )
    if references is not None:
        kept = () if references.trusted else _kept_back(document, values, references)
        if kept:
            hint = tr("Trust the folder, then run again.")
            return Refusal(kept, kept[0].message, hint, wants_trust=True)
        document = settled_document(document, values, references)
    resolution = resolve_inputs(document, values)
    parameters = missing_parameters(document, values)
    names = [item.name for item in resolution.missing]
    asked = question_input(document)
    inputs = resolution.problems
    if not asked or str(resolution.sent.get(asked) or "").strip():
        asked = _sample_alone(document, resolution)
    if asked and asked not in names:
        names.append(asked)
        inputs = (*inputs, _no_question(document, asked))
    problems = (*inputs, *parameters)
    if not problems:
        return None
    names += [item.name for item in lacking_parameters(document, values)]
    samples = _samples(document, values, names)
    return Refusal(problems, _words(problems, names), _hint(samples), tuple(names), samples)


def _sample_alone(document: PromptDocument, resolution: InputResolution) -> str:
    """Return the input that is a whole user message and has only a sample; empty without one."""
    own = resolution.samples.intersection(each.name for each in document.inputs if each.has_sample)
    text = document.source
    for use in document.variables:
        if use.name in own:
            written = text.slice(use.expression)
            for section in document.sections:
                if section.role == "user" and text.slice(section.content).strip() == written:
                    return use.name
    return ""


def _kept_back(
    document: PromptDocument, values: JsonObject, references: ReferenceContext
) -> tuple[Problem, ...]:
    """Return the problems of files and variables that a run cannot read in an untrusted folder."""
    prepared = prepare(document, values, references=references)
    return tuple(
        problem
        for problem in prepared.problems
        if problem.code == NOT_TRUSTED and problem.severity is Severity.ERROR
    )


def _samples(document: PromptDocument, values: JsonObject, names: Sequence[str]) -> JsonDict:
    """Return the samples that replace missing values; empty if a required one has none."""
    without = {name: value for name, value in values.items() if name not in names}
    resolution = resolve_inputs(document, without)
    found = {
        name: value
        for name, value in resolution.shown.items()
        if resolution.origins[name] == "sample"
    }
    return found if found.keys() >= set(names) else {}


def _no_question(document: PromptDocument, name: str) -> Problem:
    """Report a prompt whose part for the user's question is empty."""
    uses = {item.name: item.span for item in reversed(document.variables)}
    place = uses.get(name) or uses.get("chat_history")
    message = f"The prompt needs the user's {name!r}, and it is empty."
    start = document.body.start
    return Problem("missing-input", Severity.ERROR, message, place or Span(start, start))


def _words(problems: Sequence[Problem], names: Sequence[str]) -> str:
    if len(problems) == 1:
        return problems[0].message
    return tr("These have no value: {names}.").format(names=", ".join(map(repr, names)))


def _hint(samples: JsonObject) -> str:
    if not samples:
        return tr("Fill it in under Inputs, then run again.")
    return tr("Fill it in under Inputs, or run with the samples of the preview: {names}.").format(
        names=", ".join(samples)
    )


# From a plan to a run that can be driven, in the window and on the command line.


async def open_tools(
    session: ToolSession,
    document: PromptDocument,
    values: JsonObject,
    references: ReferenceContext,
    ask: AskUser | None = None,
    *,
    is_safe: bool = False,
) -> Toolbox:
    """Return the tools of a run; their servers are started if the folder is trusted.

    Args:
        session: owns the tools.
        document: the prompt of the run.
        values: the run's values; a tool may be bound to one.
        references: context that resolves the prompt's references.
        ask: asks the user for the answer of a tool that is mocked manually.
        is_safe: whether to start nothing.
    """
    prepared = prepare(document, values, references=references)
    if is_safe:
        return session.current.toolbox(prepared.inputs, ask)
    return await session.open_toolbox(document, prepared.messages.tools, prepared.inputs, ask)


async def tool_scores_of(plan: RunPlan) -> ToolScores:
    """Score how well the tools fit the question, if not all of them are sent.

    Uses embeddings if the prompt names a model for them: that model is called at the run's own
    connection, which receives the question and the tools anyway. If it returns none, words are
    compared, and the run reports the reason.
    """
    values = resolve_inputs(plan.document, plan.inputs).sent
    wish = embedding_wish(plan.document, question_of(plan.document, values), plan.toolbox.specs)
    if wish is None or plan.past is not None:
        return BY_WORDS
    model: object = plan.model
    while isinstance(model, WrappingModel) and not isinstance(model, EmbeddingModel):
        model = model.inner
    if not isinstance(model, EmbeddingModel):
        return wish.failed(f"{plan.model.label} returns no vectors")
    try:
        return wish.scores(await model.embed(wish.texts, wish.model))
    except ModelError as error:
        return wish.failed(error.message)


def begin_run(
    plan: RunPlan, *, scores: ToolScores = BY_WORDS, setup: RunSetup | None = None
) -> Run:
    """Start a new run, or continue a past one, ready for `await run.go(…)`.

    Args:
        plan: the plan of the run, with its tools ready.
        scores: how well the tools fit the question (`tool_scores_of`).
        setup: setup of a new run, if it was already built from the same plan.

    Raises:
        ValueError: the past journal does not begin with `Started`.
        ModelError: it has a cost limit, and the price of its model is unknown.
    """
    if plan.past is None:
        if setup is None:
            setup = make_setup(
                plan.document,
                plan.inputs,
                plan.toolbox.specs,
                plan.model,
                plan.options,
                scores=scores,
            )
        if setup.price == "unknown" and setup.limits.cost not in (None, USUAL_COST):
            raise ModelError(
                "no-price",
                f"The run may cost {money(setup.limits.cost)}, but the price of {setup.model} is "
                "not known, so the limit cannot be enforced.",
                "Enter the price in the connection, or remove the limit.",
            )
        return Run(plan, setup)
    first = plan.past.events[0]
    if not isinstance(first, Started):
        raise ValueError("a journal begins with Started")
    return Run(plan, first.setup)


# The destination of a run's journal, and the values that the loop's thread returns meanwhile.


class Journal(Protocol):
    """The journal to which events of runs are written before they are shown."""

    def begin(self, setup: RunSetup) -> None:
        """Record that a run is about to begin."""
        ...

    def write(self, run: str, event: Event) -> None:
        """Store one event; it is saved when this returns."""
        ...

    def keep_reply(self, run: str, reply: Reply) -> None:
        """Store the part of a reply that has arrived, until the next event."""
        ...

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Store the request and response of a model call."""
        ...

    def call(self, run: str, seq: int) -> WireCall | None:
        """Return the request and response of a model call; None if they are not stored."""
        ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """One event, with the state after it."""

    event: Event
    """The event."""

    state: RunState
    """The run after the event."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """The part of the reply that has arrived."""

    reply: Reply
    """The reply so far."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of driving: the run is over, or it could not continue."""

    fault: str = ""
    """Message for the user on an error outside of the run; empty if there was none."""


Arrival: TypeAlias = Arrived | Streamed | Ended
"""All arrivals, a closed union: consumers use `match` and `assert_never`."""


class RunSession:
    """One run. `drive` and `send` run in the loop; `take` is called from the GUI thread."""

    is_program = False
    """Whether it is a conversation of a recorded program, in which every breakpoint counts."""

    def __init__(self, plan: RunPlan, journal: Journal | None = None) -> None:
        self.plan = plan
        self._journal = journal
        self._run: Run | None = None
        self._waiting: list[Command] = []
        # Whether the run accepts commands: not before it begins, nor while its models are closed.
        self._is_open = False
        self._notices: tuple[str, ...] = ()
        # Appending and popping from the left are atomic: no lock between the two threads.
        self._arrivals: deque[Arrival] = deque()

    def take(self) -> list[Arrival]:
        """Return the arrivals since the last call; of several parts of a reply only the last."""
        taken: list[Arrival] = []
        while self._arrivals:
            arrival = self._arrivals.popleft()
            if taken and isinstance(arrival, Streamed) and isinstance(taken[-1], Streamed):
                taken.pop()
            taken.append(arrival)
        return taken

    @property
    def has_waiting_commands(self) -> bool:
        """Whether commands are waiting that `drive` will process."""
        return bool(self._waiting)

    async def drive(self, *first: Command) -> None:
        """Begin the run, or continue one that ended; returns when it ends.

        The end is reported once its models are closed, so that a continued run does not call one of
        them. A command that arrives meanwhile waits.
        """
        fault = ""
        try:
            fault = await self._go(first)
        finally:
            self._arrivals.append(Ended(fault))

    async def _go(self, first: tuple[Command, ...]) -> str:
        """Drive the run; return a sentence on what interrupted it, empty if nothing did."""
        try:
            run = self._run if self._run is not None else await self._begin()
            early, self._waiting = self._waiting, []
            self._is_open = True
            await run.go(*first, *early)
            if run.fault:
                return tr("The end of the run was not saved: {error}.").format(error=run.fault)
        except (ToolSourceError, NotAllowedError) as error:
            return str(error)
        except ModelError as error:
            return f"{error.message} {error.hint}".rstrip()
        except StoreError as error:  # of its first event; a later one pauses the run
            return tr("The run did not start, nothing was sent: {error}.").format(error=error)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - the border of the thread: named and shown
            return tr("The run broke off: {name}: {error}").format(
                name=type(error).__name__, error=error
            )
        finally:
            self._is_open = False
            if self._run is not None:
                await self._run.close_models()
            else:
                self._waiting = []
                await self.plan.model.close()  # it may have scored the tools
        return ""

    async def send(self, *commands: Command) -> str:
        """Send a command to the run; return what is wrong with it, empty if it was accepted.

        Each of several commands waits until the run is paused again: after an edit, the run checks
        its calls, and reports their errors before it continues.
        """
        if self._run is None or not self._is_open:
            self._waiting += commands
            return ""
        for number, command in enumerate(commands):
            if number and not await self._settles_well(self._run):
                return ""
            try:
                self._run.send(command)
            except NotAllowedError as error:
                return str(error)
        return ""

    async def _settles_well(self, run: Run) -> bool:
        """Wait until the run settles; return whether no error occurred meanwhile."""
        before = run.state.error
        await run.settled()
        return not run.state.is_over and (run.state.error is None or run.state.error is before)

    async def read_live_output(self) -> Mapping[int, str]:
        """Return the output of each running call, by its row in the step."""
        run = self._run
        if run is None:
            return {}
        calls = enumerate(run.state.step.calls)
        return {row: run.live_output(row) for row, call in calls if call.status == "running"}

    async def set_options(self, plan: RunPlan) -> None:
        """Set the breakpoints and filters, changed during the run."""
        if self._run is not None:
            self._run.gate.options = plan.options

    async def _begin(self) -> Run:
        plan = replace(
            await self.plan.with_tools(),
            journal=self._write,
            shown=self._show,
            stream=self._stream,
            kept=self._keep_reply,
            keep_call=self._keep_call,
        )
        run = begin_run(plan, scores=await tool_scores_of(plan))
        if self._journal is not None:
            self._journal.begin(run.state.setup)
        self._run = run
        return run

    def _write(self, event: Event) -> None:
        if self._journal is not None and self._run is not None:
            self._journal.write(self._run.state.setup.run, event)

    def _keep_reply(self, reply: Reply) -> None:
        if self._journal is not None and self._run is not None:
            self._journal.keep_reply(self._run.state.setup.run, reply)

    def _keep_call(self, seq: int, call: WireCall | KeptCall) -> None:
        if self._journal is not None and self._run is not None:
            self._journal.keep_call(self._run.state.setup.run, seq, call)

    def _show(self, event: Event) -> None:
        if self._run is not None:
            self._notices = ()
            self._arrivals.append(Arrived(event, self._run.state))

    def _stream(self, delta: ReplyDelta, reply: Reply) -> None:
        if isinstance(delta, ReplyNotice) and delta.text not in reply.notices:
            # A notice of the runner itself ("next try in 2 s") is in no reply.
            self._notices = (*self._notices, delta.text)
            reply = Reply(notices=self._notices)
        self._arrivals.append(Streamed(reply))
