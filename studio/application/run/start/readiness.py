"""Whether a prompt can be run, and what it needs first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.application.words import tr
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import InputResolution, resolve_inputs
from studio.core.prompty.loop_format import question_input
from studio.core.prompty.parameters import lacking_parameters, missing_parameters
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.prompty.reference_values import NOT_TRUSTED, ReferenceContext
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a prompt is not run."""

    problems: tuple[Problem, ...]
    """Problems, each with its place."""

    text: str
    """The same in one plain sentence."""

    hint: str
    """Advice to the user."""

    missing: tuple[str, ...] = ()
    """Names of the inputs and parameters that want a value, in the order of the document."""

    samples: Mapping[str, Json] = field(default_factory=dict)
    """Samples that the preview shows, by name, where a run could begin with them. A run takes them
    only when the user says so."""

    wants_trust: bool = False
    """Whether trust in the prompt's folder is all that is missing."""

    @property
    def span(self) -> Span:
        """Return the place in the document to look at first."""
        return self.problems[0].span


def refusal_of(
    document: PromptDocument, values: Mapping[str, Json], references: ReferenceContext | None = None
) -> Refusal | None:
    """Return what prevents a run; None if it can start.

    A run takes the values that are given and the declared defaults. A sample is for looking at the
    prompt: no run takes it by itself (docs/format.md, "Inputs"). A user message that would be
    empty without its sample is not sent.

    Args:
        document: the prompt.
        values: the values given for its inputs and parameters, by name.
        references: where its files are read; None where its references are resolved already.
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
    document: PromptDocument, values: Mapping[str, Json], references: ReferenceContext
) -> tuple[Problem, ...]:
    """Return the files and variables of the messages that an untrusted folder keeps from a run."""
    prepared = prepare(document, values, references=references)
    return tuple(
        problem
        for problem in prepared.problems
        if problem.code == NOT_TRUSTED and problem.severity is Severity.ERROR
    )


def _samples(
    document: PromptDocument, values: Mapping[str, Json], names: Sequence[str]
) -> dict[str, Json]:
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
    """Report a prompt with a place for the user's question, which is empty."""
    uses = {item.name: item.span for item in reversed(document.variables)}
    place = uses.get(name) or uses.get("chat_history")
    message = f"The prompt asks for the user's {name!r}, and it is empty."
    start = document.body.start
    return Problem("missing-input", Severity.ERROR, message, place or Span(start, start))


def _words(problems: Sequence[Problem], names: Sequence[str]) -> str:
    if len(problems) == 1:
        return problems[0].message
    return tr("These have no value: {names}.").format(names=", ".join(map(repr, names)))


def _hint(samples: Mapping[str, Json]) -> str:
    if not samples:
        return tr("Fill it in under Inputs, then run again.")
    return tr("Fill it in under Inputs, or run with what the preview shows: {names}.").format(
        names=", ".join(samples)
    )
