"""A document prepared for an export, the same for window and scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from studio.core.agent.loop.setup import first_step_values
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parameters import missing_parameters
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.prompty.references import resolve_document
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject


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


_STAND_INS: Mapping[str, Json] = {
    "float": 1.5,
    "integer": 1,
    "boolean": True,
    "array": [],
    "object": {},
}


def _with_stand_ins(
    document: PromptDocument, given: Mapping[str, Json], references: ReferenceContext | None
) -> Prepared:
    """A preview with something for each parameter, so that a proof sees where it goes."""
    names = {item.name for item in document.parameters} - given.keys()
    values: dict[str, Json] = {
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
        "server_instructions": "",
    }
    declared = {item.name for item in document.inputs}
    usable = {item.name for item in document.inputs if item.has_default}
    kept = declared if samples else usable
    given = {**nothing, **first_step_values(document, inputs, tools)}
    return {name: value for name, value in given.items() if name not in kept}
