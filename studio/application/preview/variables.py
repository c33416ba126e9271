"""Every variable of a preview: its value, where that comes from, and where it is used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.application.preview.value import Preview
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs, GivenValue, InputOrigin, resolve_inputs
from studio.core.text.span import Span
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class VariableRow:
    """One variable of the prompt: its value, where that comes from, and where it is used."""

    name: str
    """Root name, as the template uses it."""

    value: Json
    """The value that the preview rendered with; null where there is none."""

    origin: InputOrigin
    """Where the value comes from; `missing` renders as nothing."""

    given: GivenValue | None = field(default=None, kw_only=True)
    """The user's value with where it was taken from; None for any other origin."""

    declared: bool
    """Whether the front matter declares it."""

    uses: tuple[Span, ...] = ()
    """Every use in the body, in order."""

    place: Span | None = None
    """Where a double click leads: the declaration's name, else the first use."""

    tokens: int = 0
    """Tokens that its values take in all messages together, each counted by itself."""


def variable_names(document: PromptDocument) -> tuple[str, ...]:
    """The declared inputs in order, then the other names and parameters in order of use."""
    names = (
        *(item.name for item in document.inputs if item.name),
        *(variable.name for variable in document.variables),
        *(parameter.name for parameter in document.parameters),
    )
    return tuple(dict.fromkeys(names))


def variable_rows(preview: Preview, counted: Mapping[str, int]) -> tuple[VariableRow, ...]:
    """List every variable of a preview.

    Args:
        preview: the preview.
        counted: the tokens of each input's values.
    """
    document, prepared, given = preview.shown, preview.prepared, preview.job.inputs
    uses: dict[str, list[Span]] = {}
    for variable in document.variables:
        uses.setdefault(variable.name, []).append(variable.span)
    for parameter in document.parameters:
        uses.setdefault(parameter.name, []).extend(parameter.uses)
    declared = {item.name: item for item in document.inputs if item.name}
    origins = resolve_inputs(prepared.document, given).origins
    rows = []
    for name in variable_names(document):
        item = declared.get(name)
        used = tuple(uses.get(name, ()))
        place = (item.name_span or item.span) if item else None
        rows.append(
            VariableRow(
                name=name,
                value=prepared.inputs.get(name),
                given=given.by_name.get(name) if isinstance(given, GivenInputs) else None,
                origin=origins.get(name, "reserved" if name in prepared.inputs else "missing"),
                declared=item is not None or document.parameter(name) is not None,
                uses=tuple(sorted(used)),
                place=place or (used[0] if used else None),
                tokens=counted.get(name, 0),
            )
        )
    return tuple(rows)
