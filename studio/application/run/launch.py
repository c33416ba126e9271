"""Whether a prompt can be run as it stands, and with which values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from studio.application.words import translate
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parameters import missing_parameters
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

_tr = partial(translate, "RunLaunch")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a prompt is not run."""

    text: str
    """What is missing or wrong, one plain sentence."""

    hint: str
    """What to do."""

    span: Span | None = None
    """Where to look in the document."""

    input: str = ""
    """The input that wants a value."""


def run_values(document: PromptDocument, given: Mapping[str, Json]) -> dict[str, Json]:
    """The values of a run: those given, and the declared `sample` of inputs without one.

    A sample is a value for trying a prompt out, an `example` never is (docs/design/file-format.md).
    """
    values = dict(given)
    for item in document.inputs:
        is_sample = document.entry("inputs", item.name, "sample") is not None
        if item.name not in values and not item.has_default and item.has_sample and is_sample:
            values[item.name] = item.sample
    return values


def refusal_of(document: PromptDocument, values: Mapping[str, Json]) -> Refusal | None:
    """What keeps a prompt from being run; None where nothing does."""
    broken = _errors(document.problems)
    if broken:
        count = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return Refusal(
            _tr("The prompt has an error: {message}{count}").format(
                message=broken[0].message, count=count
            ),
            _tr("Mend it, then run again."),
            broken[0].span,
        )
    _, missing = resolve_inputs(document, values)
    if missing:
        name = next(item.name for item in document.inputs if _lacks(item.name, document, values))
        return Refusal(
            _tr("The input {name!r} is required and has no value.").format(name=name),
            _tr("Fill it in under Inputs, then run again."),
            missing[0].span,
            name,
        )
    lacking = missing_parameters(document, values)
    if lacking:
        name = next(item.name for item in document.parameters if lacking[0].span in item.uses)
        return Refusal(
            _tr("The parameter {name!r} has no value.").format(name=name),
            _tr("Fill it in under Inputs, then run again."),
            lacking[0].span,
            name,
        )
    return None


def _errors(problems: tuple[Problem, ...]) -> list[Problem]:
    return [problem for problem in problems if problem.severity is Severity.ERROR]


def _lacks(name: str, document: PromptDocument, values: Mapping[str, Json]) -> bool:
    item = document.input(name)
    return item is not None and item.required and name not in values and item.default is None
