"""From a document and values to what an export is made from, the same for window and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from studio.core.agent.loop.first_step import first_step_values
from studio.core.export.target import ExportSource, ExportTarget
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parameters import missing_parameters
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.references import resolve_document
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.wire.media import MediaReader


@dataclass(frozen=True, slots=True)
class ExportValues:
    """What a user gives to an export beside the document."""

    inputs: JsonObject = field(default_factory=dict)
    """The values of now, by name."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; None for those of the document."""

    base_url: str = ""
    """Address of the connection; empty means the provider's own."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""

    experiment: JsonObject = field(default_factory=dict)
    """The experiment file beside the prompt as it is written; empty where there is none."""


def make_source(
    document: PromptDocument,
    target: ExportTarget,
    values: ExportValues,
    references: ReferenceContext,
) -> ExportSource:
    """Prepare a document with the values of now and with every saved set.

    Never reads a secret. Values are those of a run's first request: given ones and defaults,
    samples never (Prompty 2 §2.9); what a run supplies (history, scratchpad) is empty at its
    start. A target whose file holds no values takes samples too, since they only serve the proof.
    """
    folder = document.source.path.parent if document.source.path else None
    tools = document.tools if values.tools is None else values.tools

    samples = not target.needs_values
    # Inputs, or their samples, may be declared in another file.
    settled = resolve_document(document, references, preview=True)[0]

    def with_values(inputs: JsonObject) -> Prepared:
        given = {**values_at_start(settled, tools, inputs, samples=samples), **inputs}
        if samples:
            return _with_stand_ins(document, given, references)
        resolution = resolve_inputs(document, inputs)
        missing = (*resolution.problems, *missing_parameters(document, resolution.sent))
        prepared = _without_samples(document, given, references)
        return replace(prepared, problems=(*missing, *prepared.problems))

    return ExportSource(
        with_values(values.inputs),
        values.tools,
        MediaReader(folder),
        values.base_url,
        values.model,
        references,
        {name: with_values(inputs) for name, inputs in values.sets.items()},
        values.sets,
        document,
        values.experiment,
    )


_STAND_INS: Mapping[str, Json] = {
    "float": 1.5, "integer": 1, "boolean": True, "array": [], "object": {},
}  # fmt: skip


def _with_stand_ins(
    document: PromptDocument, given: Mapping[str, Json], references: ReferenceContext
) -> Prepared:
    """A preview with something for each parameter, so that a proof sees where it goes."""
    names = {item.name for item in document.parameters} - given.keys()
    values: dict[str, Json] = {
        item.name: _STAND_INS.get(item.kind, item.name)
        for item in document.parameters
        if item.name in names and document.input(item.name) is None
    }
    prepared = prepare(document, {**values, **given}, references=references, preview=True)
    return replace(prepared, samples=prepared.samples | values.keys())


def _without_samples(
    document: PromptDocument, inputs: Mapping[str, Json], references: ReferenceContext
) -> Prepared:
    """As a run prepares it: a preview would put samples where values are missing."""
    plain = replace(
        document,
        inputs=tuple(replace(each, sample=None, has_sample=False) for each in document.inputs),
    )
    prepared = prepare(plain, inputs, references=references, preview=True)
    return replace(prepared, document=replace(prepared.document, inputs=document.inputs))


def values_at_start(
    document: PromptDocument,
    tools: Sequence[ToolSpec],
    inputs: Mapping[str, Json],
    *,
    samples: bool = False,
) -> dict[str, Json]:
    """What a run supplies to a template before its first step (docs/design/file-format.md).

    Args:
        document: The prompt.
        tools: What the model may call.
        inputs: The user's values.
        samples: Leave the names that the document declares to their samples.
    """
    nothing: dict[str, Json] = {
        "history": [],
        "examples": "",
        "chat_history": "",
        "agent_scratchpad": "",
        "thread": [],
        "question": "",
        "input": "",
        "tools": "" if document.template.format == "fstring" else [],
        "tool_names": "",
    }
    declared = {item.name for item in document.inputs}
    usable = {item.name for item in document.inputs if item.has_default}
    kept = declared if samples else usable
    given = {**nothing, **first_step_values(document, inputs, tools)}
    return {name: value for name, value in given.items() if name not in kept}
