"""Whether a prompt can be run as it stands, and what it wants before it can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from studio.application.words import translate
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import RESERVED_SAMPLES, missing_inputs, resolve_inputs
from studio.core.prompty.loop_format import question_input
from studio.core.prompty.parameters import lacking_parameters, missing_parameters
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json

_tr = partial(translate, "RunLaunch")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a prompt is not run."""

    problems: tuple[Problem, ...]
    """What is wrong, each at its place."""

    text: str
    """The same in one plain sentence."""

    hint: str
    """What to do."""

    missing: tuple[str, ...] = ()
    """Names of the inputs and parameters that want a value, in the order of the document."""

    samples: Mapping[str, Json] = field(default_factory=dict)
    """Samples of missing inputs, by name. A run takes them only when the user says so."""

    @property
    def span(self) -> Span:
        """Where to look in the document first."""
        return self.problems[0].span


def refusal_of(document: PromptDocument, values: Mapping[str, Json]) -> Refusal | None:
    """What keeps a prompt from being run; None where nothing does.

    A run takes the values that are given and the declared defaults. A sample is for looking at the
    prompt: no run takes it by itself (docs/format.md, "Inputs").

    Args:
        document: the prompt.
        values: the values given for its inputs and parameters, by name.
    """
    broken = tuple(item for item in document.problems if item.severity is Severity.ERROR)
    if broken:
        count = f" (and {len(broken) - 1} more)" if len(broken) > 1 else ""
        return Refusal(
            broken,
            _tr("The prompt has an error: {message}{count}").format(
                message=broken[0].message, count=count
            ),
            _tr("Fix it, then run again."),
        )
    filled, inputs = resolve_inputs(document, values)
    parameters = missing_parameters(document, values)
    lacking = missing_inputs(document, values)
    asked = question_input(document)
    if any(item.name == asked for item in lacking) or str(filled.get(asked) or "").strip():
        asked = ""
    if asked:
        inputs = (*inputs, _no_question(document, asked))
    if not inputs and not parameters:
        return None
    names = (*(item.name for item in lacking), *filter(None, (asked,)))
    others = tuple(item.name for item in lacking_parameters(document, values))
    samples = {item.name: item.sample for item in lacking if item.has_sample}
    if asked:
        declared = document.input(asked)
        has_own = declared is not None and declared.has_sample
        samples[asked] = declared.sample if declared and has_own else RESERVED_SAMPLES[asked]
    return Refusal(
        (*inputs, *parameters), _missing(names, others), _how_to_fill(samples),
        (*names, *others), samples,
    )  # fmt: skip


def _no_question(document: PromptDocument, name: str) -> Problem:
    """The user's question has a place in the prompt, and no words."""
    uses = {item.name: item.span for item in reversed(document.variables)}
    place = uses.get(name) or uses.get("chat_history")
    message = f"The prompt asks for the user's {name!r}, and it is empty."
    start = document.body.start
    return Problem("missing-input", Severity.ERROR, message, place or Span(start, start))


def _missing(inputs: tuple[str, ...], parameters: tuple[str, ...]) -> str:
    if not inputs and len(parameters) == 1:
        return _tr("The parameter {name!r} has no value.").format(name=parameters[0])
    if not parameters and len(inputs) == 1:
        return _tr("The input {name!r} is required and has no value.").format(name=inputs[0])
    names = ", ".join(repr(name) for name in (*inputs, *parameters))
    return _tr("These have no value: {names}.").format(names=names)


def _how_to_fill(samples: Mapping[str, Json]) -> str:
    if not samples:
        return _tr("Fill it in under Inputs, then run again.")
    return _tr("Fill it in under Inputs, or run with the sample of the prompt.")
