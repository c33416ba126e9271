"""Parameters: the names in `${params:…}`, whose values come with a run.

Source: seed, "Replacement Constructs". Parameters and inputs share their values: `${params:who}`
and `{{who}}` of one prompt never differ, and a declared input provides kind, default and sample.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from studio.core.prompty.document import Parameter, PromptDocument, ResolvedInputs, TemplateFormat
from studio.core.prompty.front.schema import key_at
from studio.core.prompty.reference_values import (
    Reference,
    ReferenceContext,
    find_references,
    missing_parameter,
    whole_reference,
)
from studio.core.prompty.yaml.tree import Places
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_KINDS: Mapping[str, str] = {
    "number": "float",
    "integer": "integer",
    "boolean": "boolean",
    "list": "array",
    "mapping": "object",
}
"""Kind of a value by the type of its front matter key; a key for text has no entry."""


@dataclass(slots=True)
class _Found:
    """A parameter while it is being collected."""

    kind: str = ""
    uses: list[Span] = field(default_factory=list)
    names: list[Span] = field(default_factory=list)


def find_parameters(document: PromptDocument) -> tuple[Parameter, ...]:
    """Return the parameters of a document, in order of their first use.

    References count only where they are resolved: in values of the front matter, in a body that is
    a single reference, and in the section dialect anywhere in the body.
    """
    if "${" not in document.source.text:
        return ()
    found: dict[str, _Found] = {}
    for reference, kind in (*_in_front_matter(document), *_in_body(document)):
        if reference.protocol != "params" or not reference.argument:
            continue
        item = found.setdefault(reference.argument, _Found())
        item.kind = item.kind or kind
        item.uses.append(reference.span)
        item.names.append(_name_span(document, reference))
    parameters = []
    for name, item in found.items():
        declared = document.input(name)
        kind = declared.kind if declared is not None else item.kind or "string"
        parameters.append(Parameter(name, kind, tuple(item.uses), tuple(item.names)))
    return tuple(parameters)


def parameter_values(
    document: PromptDocument, values: ResolvedInputs, context: ReferenceContext
) -> ReferenceContext:
    """Return the context with a run's values as parameters; existing ones take precedence.

    An optional input without a value is null, which is empty in a text.
    """
    given: JsonDict = {}
    for item in document.parameters:
        declared = document.input(item.name)
        if item.name in values:
            given[item.name] = values[item.name]
        elif declared is not None and not declared.required:
            given[item.name] = None
    return replace(context, params={**given, **context.params}) if given else context


def missing_parameters(document: PromptDocument, values: JsonObject) -> tuple[Problem, ...]:
    """Return an error for each parameter without a value, except declared inputs.

    A declared input itself says whether it is required, and has its own problem.
    """
    return tuple(
        Problem("param-not-given", Severity.ERROR, missing_parameter(item.name), item.uses[0])
        for item in lacking_parameters(document, values)
    )


def lacking_parameters(document: PromptDocument, values: JsonObject) -> tuple[Parameter, ...]:
    """Return the parameters without a value, except declared inputs."""
    if isinstance(document.data.get("inputs"), str):
        return ()  # declared in another file, which is read when the prompt is prepared
    return tuple(
        item
        for item in document.parameters
        if item.name not in values and document.input(item.name) is None
    )


def as_variable(name: str, form: TemplateFormat) -> str | None:
    """Return the template expression for a parameter; None for a name that templates cannot use."""
    if not _IDENTIFIER.fullmatch(name):
        return None
    match form:
        case "jinja2":
            return f"{{{{ {name} }}}}"
        case "mustache":
            return f"{{{{{{{name}}}}}}}"
        case "fstring":
            return f"{{{name}}}"
        case _:
            assert_never(form)


def parameters_as_variables(text: str, form: TemplateFormat) -> Iterator[tuple[Span, str]]:
    """Yield each parameter that can be a template expression, with the expression."""
    for reference in find_references(text):
        if reference.protocol == "params":
            expression = as_variable(reference.argument, form)
            if expression is not None:
                yield reference.span, expression


def _in_front_matter(document: PromptDocument) -> Iterator[tuple[Reference, str]]:
    if document.front_matter is None or "${" not in document.source.slice(document.front_matter):
        return
    places = Places.of(document.entries)
    yield from _in_value(document, document.data, (), places)


def _in_value(
    document: PromptDocument, value: Json, path: KeyPath, places: Places
) -> Iterator[tuple[Reference, str]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _in_value(document, item, (*path, key), places)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_value(document, item, (*path, index), places)
    elif isinstance(value, str) and "${" in value:
        whole = whole_reference(value)
        if whole is None and document.dialect != "section":
            return
        place = places.value(*path) or places.nearest(*path)
        written = find_references(document.source.slice(place))
        kind = _kind_at(path) if whole is not None else ""
        for reference in written:
            yield replace(reference, span=reference.span.shift(place.start)), kind


def _in_body(document: PromptDocument) -> Iterator[tuple[Reference, str]]:
    body = document.source.slice(document.body)
    if document.dialect != "section" and whole_reference(body.strip()) is None:
        return
    for reference in find_references(body):
        yield replace(reference, span=reference.span.shift(document.body.start)), ""


def _name_span(document: PromptDocument, reference: Reference) -> Span:
    written = document.source.slice(reference.span)
    start = reference.span.start + written.index(reference.argument, written.index(":") + 1)
    return Span(start, start + len(reference.argument))


def _kind_at(path: KeyPath) -> str:
    """Return the first kind of value that a front matter key accepts; empty for text."""
    key = key_at(path)
    return _KINDS.get(key.types[0], "") if key is not None else ""
