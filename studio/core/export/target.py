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

# A document prepared for an export, in the same way for the window and for scripts.


def prepare_export(
    document: PromptDocument,
    inputs: JsonObject,
    tools: Sequence[ToolSpec] | None,
    references: ReferenceContext | None,
    *,
    samples: bool,
) -> Prepared:
    """Prepare a document with the values of a run's first request, without secrets.

    They are the given values and defaults, never samples (Prompty 2 §2.9); variables of a run
    (history, scratchpad) are empty.

    Args:
        document: The prompt.
        inputs: The user's values.
        tools: The model's tools; None for the tools of the document.
        references: Resolver of references; None leaves them as written.
        samples: Whether samples replace missing values.
    """
    # Inputs or their samples may be declared in another file.
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
    """Return a preview with a placeholder for each parameter, so that its place is visible."""
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
    """Return a run's variables before its first step (docs/design/file-format.md).

    Args:
        document: The prompt.
        tools: The model's tools.
        inputs: The user's values.
        samples: Whether declared names keep their samples.
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


TargetGroup: TypeAlias = Literal["Give to a colleague", "Use in code", "Other prompt formats"]
"""Heading of a group of targets in a list: their purpose."""


@dataclass(frozen=True)
class ExportSource:
    """The input of an export: a prompt, and the values for it."""

    document: PromptDocument
    """The parsed document, with references as written."""

    inputs: JsonObject = field(default_factory=dict)
    """The current values, by name."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets by name; verification uses each."""

    tools: tuple[ToolSpec, ...] | None = None
    """Tools of a run; None for those of the document and its `tools:` section."""

    base_url: str = ""
    """Address of the connection, for commands; empty for the provider's default."""

    model: str = ""
    """Model id of the connection, if the prompt names none."""

    references: ReferenceContext | None = None
    """Resolver of references except secrets; None leaves them as written."""

    has_samples: bool = False
    """Whether samples replace missing values (`for_target`)."""

    def for_target(self, target: ExportTarget) -> ExportSource:
        """Return the source for a target.

        A target whose file contains no values uses samples, since they are only for verification.
        The connection's address and model are for OpenAI's forms, not for Anthropic's.
        """
        source = replace(self, has_samples=not target.needs_values)
        is_other = target.name.endswith("anthropic")
        return replace(source, base_url="", model="") if is_other else source

    @cached_property
    def prepared(self) -> Prepared:
        """Document, inputs and messages, with the current values."""
        return prepare_export(
            self.document, self.inputs, self.tools, self.references, samples=self.has_samples
        )

    @cached_property
    def rounds(self) -> Mapping[str, ExportSource]:
        """The rounds of verification: the current values, and each saved set, by name."""
        sets = {name: replace(self, inputs=inputs, sets={}) for name, inputs in self.sets.items()}
        return {VALUES_OF_NOW: self, **sets}

    @property
    def set_rounds(self) -> Mapping[str, ExportSource]:
        """The rounds of the saved sets only."""
        return {name: each for name, each in self.rounds.items() if name in self.sets}

    @property
    def media(self) -> MediaReader:
        """Reader of local files for request bodies."""
        path = self.document.source.path
        return MediaReader(path.parent if path is not None else None)

    @property
    def sent_tools(self) -> tuple[ToolSpec, ...]:
        """The tools sent beside the messages; a text protocol has them in its prompt."""
        if choose_protocol(self.prepared.document).protocol != "native":
            return ()
        return self.all_tools

    @property
    def all_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of a run, however the model gets them."""
        if self.tools is not None:
            return self.tools
        return declared_tools(self.prepared.document, self.prepared.messages.tools)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems of the document and its preparation, each once."""
        return unique((*self.prepared.document.problems, *self.prepared.problems))


VALUES_OF_NOW = "current values"
"""Name of the round with the values of the inputs form."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """The comparison of one round: the written file was read again with one set of values."""

    name: str
    """Name of the input set, or `VALUES_OF_NOW`."""

    difference: str = ""
    """Difference, one sentence; empty if messages and tools are equal."""

    messages: int = 0
    """Number of compared messages."""

    tools: int = 0
    """Number of compared tools."""

    @property
    def is_same(self) -> bool:
        """Whether messages and tools are equal."""
        return not self.difference


@dataclass(frozen=True, slots=True)
class ExportResult:
    """The result of an export; nothing is written by creating it."""

    text: str
    """Text of the file, also for a blocked export, for viewing. For a binary file, a description of
    its content.
    """

    problems: tuple[Problem, ...] = ()
    """Problems found by the export."""

    blocked: bool = False
    """Whether an error requires a confirmation before writing (`may_write`)."""

    losses: tuple[str, ...] = ()
    """Losses of the file, one sentence each. If there are any, the user must agree before it is
    written.
    """

    round_trips: tuple[RoundTrip, ...] = ()
    """Verification: one comparison per input set."""

    data: bytes | None = None
    """Bytes of the file if it is not a text."""

    before: str | None = None
    """Text that this one was made from, if a line comparison is useful."""

    judge: str = ""
    """The program whose rules the rounds follow, as named in a sentence. Empty: only the studio
    read the file, which proves nothing about another program.
    """

    @property
    def content(self) -> bytes:
        """The bytes of the file.

        Raises:
            UnicodeEncodeError: the text contains a lone surrogate.
        """
        return self.data if self.data is not None else self.text.encode("utf-8")

    @property
    def errors(self) -> Mapping[str, Problem]:
        """The first error of each code that prevents writing."""
        found: dict[str, Problem] = {}
        for problem in self.problems:
            if self.blocked and problem.severity is Severity.ERROR:
                found.setdefault(problem.code, problem)
        return found

    @property
    def is_impossible(self) -> bool:
        """Whether there is nothing to write, regardless of confirmations."""
        return self.blocked and (not self.content_is_there or any(map(_is_final, self.errors)))

    @property
    def content_is_there(self) -> bool:
        """Whether there is any content."""
        return bool(self.text or self.data)

    def may_write(self, *, errors: Collection[str] = (), losses: bool = False) -> bool:
        """Return whether it may be written: each kind of error, and the losses, need consent.

        Args:
            errors: codes of the errors that the user accepts.
            losses: whether the user accepts what is lost or changed.
        """
        if self.blocked and (self.is_impossible or not self.errors.keys() <= set(errors)):
            return False
        return losses or not self.needs_consent

    @property
    def needs_consent(self) -> bool:
        """Whether the user must agree first because something would be lost or changed."""
        return bool(self.losses)


def _is_final(code: str) -> bool:
    """Return whether an error means that nothing can be written."""
    return code.startswith("export-") or code in ("plugin-failed", "bundle-too-large")


class ExportTarget(Protocol):
    """A form in which a prompt can be exported."""

    @property
    def name(self) -> str:
        """Stable name for the command line ("prompty", "openai-chat", …)."""
        ...

    @property
    def label(self) -> str:
        """Name for the user."""
        ...

    @property
    def group(self) -> TargetGroup:
        """Heading of its group."""
        ...

    @property
    def suffix(self) -> str:
        """Suffix of the file name, with its dot."""
        ...

    @property
    def needs_values(self) -> bool:
        """Whether the file contains the values of inputs; if not, samples are used to verify it."""
        ...

    @property
    def about(self) -> str:
        """One sentence: what the file is and which programs can read it."""
        ...

    def make(self, source: ExportSource, /) -> ExportResult:
        """Build the export; never raises for the content of a prompt."""
        ...


@dataclass(frozen=True, slots=True)
class FileTarget:
    """A target from the table of targets or from a plug-in."""

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
    """Build a result, blocked if there is an error among its problems.

    A round that differs is a loss: it is reported and needs consent.
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


# Keys written in the prompt: an export contains them only with consent.


def make_checked(target: ExportTarget, source: ExportSource) -> ExportResult:
    """Make an export; if it contains a key of the front matter, the user must agree.

    A key in the prompt is the author's text and stays there, but the exported file goes to others.
    The check's problem offers to read the key from the environment.
    """
    made = _with_errors(target.make(source), source)
    document = source.document
    written = made.text.encode("utf-8", "replace") + (made.data or b"")
    lines = [
        f"The file contains the key written in line {document.source.position(place.start).line}: "
        "anyone with the file can use it. Write ${env:NAME} there instead."
        for place, value in written_secrets(document)
        if any(form in written for form in _forms(value))
    ]
    return replace(made, losses=tuple(dict.fromkeys((*lines, *made.losses)))) if lines else made


def _with_errors(made: ExportResult, source: ExportSource) -> ExportResult:
    """Return the result, also blocked by errors in the meaning of the body."""
    prepared = source.prepared
    found = (*prepared.rendering.problems, *prepared.messages.problems)
    errors = [item for item in found if item.severity is Severity.ERROR]
    if not errors:
        return made
    return replace(made, problems=unique((*made.problems, *errors)), blocked=True)


def _forms(value: str) -> tuple[bytes, ...]:
    """Return a value in the forms in which files contain it: plain, in JSON and in Python."""
    texts = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1])
    return tuple(text.encode("utf-8", "replace") for text in dict.fromkeys(texts))
