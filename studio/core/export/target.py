"""The input, the result and the interface of exports."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

from studio.core.agent.loop.setup import first_step_values
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.prompty.checks.secrets import written_secrets
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parameters import missing_parameters
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.references import resolve_document
from studio.core.text.source import Problem, Severity
from studio.core.text.values import JsonDict, JsonObject
from studio.core.tools.document import declared_tools
from studio.core.wire.media import MediaReader

# A document prepared for an export, the same for window and scripts.


def prepare_export(
    document: PromptDocument,
    inputs: JsonObject,
    tools: Sequence[ToolSpec] | None,
    references: ReferenceContext | None,
    *,
    samples: bool,
) -> Prepared:
    """Prepare a document with the values of a run's first request. Never reads a secret.

    Those are the given values and defaults, samples never (Prompty 2 §2.9); what a run supplies
    (history, scratchpad) is empty at its start.

    Args:
        document: The prompt.
        inputs: The user's values.
        tools: What the model may call; None for the tools of the document.
        references: Where references find their values; None leaves them as they are written.
        samples: Whether samples take the place of missing values.
    """
    # Inputs, or their samples, may be declared in another file.
    settled = document
    if references is not None:
        settled = resolve_document(document, references, preview=True)[0]
    tools = document.tools if tools is None else tools
    given = {**values_at_start(settled, tools, inputs, samples=samples), **inputs}
    if samples:
        return _with_stand_ins(document, given, references)
    resolution = resolve_inputs(document, inputs)
    missing = (*resolution.problems, *missing_parameters(document, resolution.sent))
    prepared = prepare(document, given, references=references, preview=True, samples=False)
    return replace(prepared, problems=(*missing, *prepared.problems))


_STAND_INS: JsonObject = {
    "float": 1.5,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
}


def _with_stand_ins(
    document: PromptDocument, given: JsonObject, references: ReferenceContext | None
) -> Prepared:
    """Return a preview with something for each parameter, so that a proof sees where it goes."""
    names = {item.name for item in document.parameters} - given.keys()
    values: JsonDict = {
        item.name: _STAND_INS.get(item.kind, item.name)
        for item in document.parameters
        if item.name in names and document.input(item.name) is None
    }
    prepared = prepare(
        document, {**values, **given}, references=references, preview=references is not None
    )
    return replace(prepared, samples=prepared.samples | values.keys())


def values_at_start(
    document: PromptDocument,
    tools: Sequence[ToolSpec],
    inputs: JsonObject,
    *,
    samples: bool = False,
) -> JsonDict:
    """Return a run's values for a template before its first step (docs/design/file-format.md).

    Args:
        document: The prompt.
        tools: What the model may call.
        inputs: The user's values.
        samples: Leave the names that the document declares to their samples.
    """
    nothing: JsonDict = {
        "history": [],
        "examples": "",
        "chat_history": "",
        "agent_scratchpad": "",
        "thread": [],
        "question": "",
        "input": "",
        "tools": "" if document.template.format == "fstring" else [],
        "tool_names": "",
        "server_instructions": "",
    }
    declared = {item.name for item in document.inputs}
    usable = {item.name for item in document.inputs if item.has_default}
    kept = declared if samples else usable
    given = {**nothing, **first_step_values(document, inputs, tools)}
    return {name: value for name, value in given.items() if name not in kept}


TargetGroup: TypeAlias = Literal["Prompt files", "Requests", "Code", "Documents"]
"""Heading under which a list shows a form."""


@dataclass(frozen=True)
class ExportSource:
    """The input of an export: a prompt, and the values for it."""

    document: PromptDocument
    """The document as it was parsed, references as written."""

    inputs: JsonObject = field(default_factory=dict)
    """The values of now, by name."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets, by name; the proof goes through each."""

    tools: tuple[ToolSpec, ...] | None = None
    """Tools that a run would have; None means those of the document and its `tools:` section."""

    base_url: str = ""
    """Address of the connection, for commands; empty means the provider's own."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""

    references: ReferenceContext | None = None
    """Resolver of references, never to a secret; None leaves them as written."""

    has_samples: bool = False
    """Whether samples take the place of missing values (`for_target`)."""

    def for_target(self, target: ExportTarget) -> ExportSource:
        """Return what a target gets.

        A target whose file holds no values takes samples too, since they only serve the proof. The
        connection speaks OpenAI's forms: its address and model do not apply to Anthropic's.
        """
        source = replace(self, has_samples=not target.needs_values)
        is_other = target.name.endswith("anthropic")
        return replace(source, base_url="", model="") if is_other else source

    @cached_property
    def prepared(self) -> Prepared:
        """Document, inputs and messages, with the values of now."""
        return prepare_export(
            self.document, self.inputs, self.tools, self.references, samples=self.has_samples
        )

    @cached_property
    def rounds(self) -> Mapping[str, ExportSource]:
        """Return the inputs of the proof: the current values, and each saved set, by name."""
        sets = {name: replace(self, inputs=inputs, sets={}) for name, inputs in self.sets.items()}
        return {VALUES_OF_NOW: self, **sets}

    @property
    def set_rounds(self) -> Mapping[str, ExportSource]:
        """The rounds of the saved sets alone."""
        return {name: each for name, each in self.rounds.items() if name in self.sets}

    @property
    def media(self) -> MediaReader:
        """Reads local files for request bodies."""
        path = self.document.source.path
        return MediaReader(path.parent if path is not None else None)

    @property
    def sent_tools(self) -> tuple[ToolSpec, ...]:
        """The tools that go beside the messages; a text protocol has them in its prompt already."""
        if choose_protocol(self.prepared.document).protocol != "native":
            return ()
        return self.all_tools

    @property
    def all_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of a run, whichever way the model is informed of them."""
        if self.tools is not None:
            return self.tools
        return declared_tools(self.prepared.document, self.prepared.messages.tools)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Everything found in the document and while preparing it, each once."""
        return unique((*self.prepared.document.problems, *self.prepared.problems))


VALUES_OF_NOW = "values of now"
"""Name of the round that is made with the values in the inputs form."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """One comparison: what was written was read again, with one set of values."""

    name: str
    """The input set's name, or `VALUES_OF_NOW`."""

    difference: str = ""
    """Difference in a sentence; empty if messages and tools are equal."""

    messages: int = 0
    """Messages that were compared."""

    tools: int = 0
    """Tools that were compared."""

    @property
    def is_same(self) -> bool:
        """Whether the messages and tools are the same."""
        return not self.difference


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The content of an export; making it writes nothing."""

    text: str
    """The file's text; also there where the export is blocked, to be looked at. For a binary
    file, what is in it as a text."""

    problems: tuple[Problem, ...] = ()
    """Problems found by the export."""

    blocked: bool = False
    """Whether an error prevents writing it without a confirmation (`may_write`)."""

    losses: tuple[str, ...] = ()
    """Losses of the file, a sentence each. If there are any, nothing is written before the user
    agrees."""

    round_trips: tuple[RoundTrip, ...] = ()
    """The round-trip proof: one comparison per input set."""

    data: bytes | None = None
    """The file's bytes where it is not a text."""

    before: str | None = None
    """The text that this one was made from, where a comparison by lines says something."""

    judge: str = ""
    """The program whose own rules the rounds follow, as a sentence names it. Empty: the file was
    read back by the studio only, which proves nothing about another program."""

    @property
    def content(self) -> bytes:
        """The bytes of the file.

        Raises:
            UnicodeEncodeError: the text holds a lone surrogate.
        """
        return self.data if self.data is not None else self.text.encode("utf-8")

    @property
    def errors(self) -> Mapping[str, Problem]:
        """Return the first error of each code that prevents writing it."""
        found: dict[str, Problem] = {}
        for problem in self.problems:
            if self.blocked and problem.severity is Severity.ERROR:
                found.setdefault(problem.code, problem)
        return found

    @property
    def is_impossible(self) -> bool:
        """Whether there is nothing that could be written, whatever the user says."""
        return self.blocked and (not self.content_is_there or any(map(_is_final, self.errors)))

    @property
    def content_is_there(self) -> bool:
        """Whether anything was made."""
        return bool(self.text or self.data)

    def may_write(self, *, errors: Collection[str] = (), losses: bool = False) -> bool:
        """Return whether it is written: each kind of error, and the losses, need their own consent.

        Args:
            errors: codes of the errors that the user accepts.
            losses: whether the user accepts what is lost or changed.
        """
        if self.blocked and (self.is_impossible or not self.errors.keys() <= set(errors)):
            return False
        return losses or not self.needs_consent

    @property
    def needs_consent(self) -> bool:
        """Whether something would be lost or changed, so that the user must agree first."""
        return bool(self.losses)


def _is_final(code: str) -> bool:
    """Return whether an error means that there is nothing to write."""
    return code.startswith("export-") or code in ("plugin-failed", "bundle-too-large")


class ExportTarget(Protocol):
    """A form that a prompt can be exported to."""

    @property
    def name(self) -> str:
        """Stable name for the command line ("prompty", "openai-chat", …)."""
        ...

    @property
    def label(self) -> str:
        """Name for people."""
        ...

    @property
    def group(self) -> TargetGroup:
        """Heading of its group."""
        ...

    @property
    def suffix(self) -> str:
        """File name ending, with its dot."""
        ...

    @property
    def needs_values(self) -> bool:
        """Whether the file holds the values of inputs; otherwise samples do for the proof."""
        ...

    @property
    def about(self) -> str:
        """One sentence: what the file is and what can read it."""
        ...

    def make(self, source: ExportSource, /) -> ExportResult:
        """Make the text; never raises for anything that is in a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A form of the table of targets, and of a plug-in."""

    name: str
    label: str
    group: TargetGroup
    suffix: str
    about: str
    make: Callable[[ExportSource], ExportResult]
    needs_values: bool = False


def result(
    text: str,
    problems: Iterable[Problem],
    losses: Iterable[str] = (),
    round_trips: Iterable[RoundTrip] = (),
    *,
    data: bytes | None = None,
    before: str | None = None,
    judge: str = "",
) -> ExportResult:
    """Build a result that is blocked by any error among its problems.

    A round that gives something else is a loss too: it is told, and wants the user's word.
    """
    found = unique(problems)
    compared = tuple(round_trips)
    different = [f"{item.name}: {item.difference}" for item in compared if not item.is_same]
    return ExportResult(
        text,
        found,
        any(item.severity == Severity.ERROR for item in found),
        tuple(dict.fromkeys((*losses, *different))),
        compared,
        data,
        before,
        judge,
    )


def unique(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems in order, each once."""
    return tuple(dict.fromkeys(problems))


# Keys that are written in the prompt: an export takes none along unasked.


def make_checked(target: ExportTarget, source: ExportSource) -> ExportResult:
    """Make an export; where it holds a key of the front matter, the user must agree to that.

    A key in the prompt is its author's own text, and stays there; but the file that is made from
    it goes to others. The problem of the check beside it offers to read it from the environment.
    """
    made = _with_errors(target.make(source), source)
    document = source.document
    written = made.text.encode("utf-8", "replace") + (made.data or b"")
    lines = [
        f"A key goes along that is written in line {document.source.position(place.start).line}: "
        "whoever gets the file can use it. Write ${env:NAME} there instead."
        for place, value in written_secrets(document)
        if any(form in written for form in _forms(value))
    ]
    return replace(made, losses=tuple(dict.fromkeys((*lines, *made.losses)))) if lines else made


def _with_errors(made: ExportResult, source: ExportSource) -> ExportResult:
    """Return the result, blocked also by errors in what the body means: no form can fix those."""
    prepared = source.prepared
    found = (*prepared.rendering.problems, *prepared.messages.problems)
    errors = [item for item in found if item.severity is Severity.ERROR]
    if not errors:
        return made
    return replace(made, problems=unique((*made.problems, *errors)), blocked=True)


def _forms(value: str) -> tuple[bytes, ...]:
    """Return a value as it is, and as JSON and Python write it."""
    texts = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    return tuple(text.encode("utf-8", "replace") for text in dict.fromkeys(texts))
