"""Put the values of `${…}` references into a document and into a rendered body.

Preview never looks a secret up: an `env` reference stays as written there, and only whether the
variable is set is told (docs/design/file-format.md).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.front_matter import read_front_matter
from studio.core.prompty.reference_values import (
    NOT_TRUSTED,
    PROTOCOLS,
    Protocol,
    Reference,
    ReferenceContext,
    UnresolvedReference,
    find_references,
    resolve_reference,
    whole_reference,
)
from studio.core.prompty.rendering import Rendering, Segment
from studio.core.prompty.yaml.places import Path as KeyPath
from studio.core.prompty.yaml.places import Places
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.text.values import Json, JsonObject

__all__ = ["ReferenceContext", "as_text", "resolve_document", "resolve_rendering"]

_MOST_INCLUDES = 8


def resolve_document(
    document: PromptDocument,
    context: ReferenceContext,
    *,
    preview: bool = False,
    only: Collection[Protocol] = PROTOCOLS,
) -> tuple[PromptDocument, tuple[Problem, ...]]:
    """The document with the references of its front matter and of a whole-value body resolved.

    Args:
        document: As `parse` gave it.
        context: Where values come from.
        preview: Leave `env` as written; only say where a variable is not set.
        only: The protocols to resolve; references of others stay as written.
    """
    places = Places.of(document.entries)
    resolver = _Resolver(document, context, preview, places, only)
    data = resolver.resolve(document.data, ())
    if resolver.changed and isinstance(data, Mapping):
        document = _with_data(document, data, places)
    return document, tuple(resolver.problems)


def resolve_rendering(
    document: PromptDocument,
    rendering: Rendering,
    context: ReferenceContext,
    *,
    preview: bool = False,
) -> tuple[Rendering, tuple[Problem, ...]]:
    """References in the author's own text of a rendered body, put in as values.

    In the section dialect anywhere; elsewhere only where the whole body is one reference
    (Prompty 2 §4.3: the body is a value too). What comes in is a value: it makes no structure.
    """
    body = document.source.slice(document.body)
    if "${" not in body:
        return rendering, ()
    whole = whole_reference(body.strip())
    if document.dialect != "section" and whole is None:
        return rendering, ()
    problems: list[Problem] = []
    segments: list[Segment] = []
    for segment in rendering.segments:
        if segment.kind == "literal" and "${" in segment.text:
            segments += _resolve_segment(segment, context, preview, problems)
        else:
            segments.append(segment)
    return Rendering(tuple(segments), rendering.problems), tuple(problems)


@dataclass(slots=True)
class _Resolver:
    """Walks the front matter's values."""

    document: PromptDocument
    context: ReferenceContext
    preview: bool
    places: Places
    only: Collection[Protocol] = PROTOCOLS
    problems: list[Problem] = field(default_factory=list)
    changed: bool = False

    def resolve(self, value: Json, path: KeyPath, includes: int = 0) -> Json:
        if isinstance(value, str):
            return self._resolve_text(value, path, includes) if "${" in value else value
        if isinstance(value, Mapping):
            return {key: self.resolve(item, (*path, key), includes) for key, item in value.items()}
        if isinstance(value, list):
            return [
                self.resolve(item, (*path, index), includes) for index, item in enumerate(value)
            ]
        return value

    def _resolve_text(self, text: str, path: KeyPath, includes: int) -> Json:
        """A string value: wholly a reference; in the section dialect references inside it too."""
        whole = whole_reference(text)
        if whole is not None:
            value, found = self._value(whole, path)
            if not found:
                return text
            self.changed = True
            if whole.protocol == "file" and not isinstance(value, str):
                if includes >= _MOST_INCLUDES:
                    return value
                return self.resolve(value, path, includes + 1)
            return value
        if self.document.dialect != "section":
            return text
        pieces: list[str] = []
        done = 0
        for reference in find_references(text):
            value, found = self._value(reference, path)
            if found and not isinstance(value, Mapping | list):
                pieces += (text[done : reference.span.start], as_text(value))
                done = reference.span.end
                self.changed = True
        return "".join((*pieces, text[done:]))

    def _value(self, reference: Reference, path: KeyPath) -> tuple[Json, bool]:
        """The value, and whether there is one to put in."""
        if reference.protocol not in self.only:
            return None, False
        span = self.places.value(*path) or self.places.nearest(*path)
        return _look_up(reference, self.context, self.preview, span, self.problems)


def _look_up(
    reference: Reference,
    context: ReferenceContext,
    preview: bool,
    span: Span,
    problems: list[Problem],
) -> tuple[Json, bool]:
    if preview and reference.protocol == "env":
        known = not context.trusted or context.variable(reference.argument) is not None
        if reference.default is None and not known:
            message = (
                f"Environment variable {reference.argument!r} not set; "
                "a run needs it, the preview does not."
            )
            problems.append(Problem("env-not-set", Severity.WARNING, message, span))
        return None, False
    try:
        return resolve_reference(reference, context), True
    except UnresolvedReference as error:
        is_hint = error.code == NOT_TRUSTED and (preview or context.shown)
        # A parameter comes with a run; until then it is no fault that there is none.
        is_awaited = preview and reference.protocol == "params" and reference.argument != ""
        severity = Severity.HINT if is_hint or is_awaited else Severity.ERROR
        problems.append(Problem(error.code, severity, str(error), span))
        return None, False


def _with_data(document: PromptDocument, data: JsonObject, places: Places) -> PromptDocument:
    """The document read again from resolved values; spans stay those of the source."""
    fields = read_front_matter(data, places, document.dialect)
    return replace(
        document,
        data=data,
        name=fields.name,
        description=fields.description,
        model=fields.model,
        inputs=fields.inputs,
        outputs=fields.outputs,
        tools=fields.tools,
        template=fields.template,
        metadata=fields.metadata,
    )


def _resolve_segment(
    segment: Segment, context: ReferenceContext, preview: bool, problems: list[Problem]
) -> list[Segment]:
    """A literal segment with the values of its references as segments of their own."""
    found: list[Segment] = []
    done = 0
    start = segment.span.start if segment.span else 0
    exact = segment.span is not None and len(segment.span) == len(segment.text)
    for reference in find_references(segment.text):
        place = reference.span.shift(start) if exact else segment.span or Span(0, 0)
        value, has_value = _look_up(reference, context, preview, place, problems)
        text = (
            as_text(value) if has_value else segment.text[reference.span.start : reference.span.end]
        )
        if reference.span.start > done:
            found.append(_cut(segment, done, reference.span.start))
        done = reference.span.end
        if text:
            # A parameter is an input by another way in: its values go by the same name.
            is_param = reference.protocol == "params"
            name = "" if is_param else f"{reference.protocol}:"
            found.append(Segment("value", text, place, f"{name}{reference.argument}"))
    if done < len(segment.text):
        found.append(_cut(segment, done, len(segment.text)))
    return found


def _cut(segment: Segment, start: int, end: int) -> Segment:
    span = segment.span
    if span is not None and len(span) == len(segment.text):
        span = Span(span.start + start, span.start + end)
    return Segment(segment.kind, segment.text[start:end], span, segment.input)


def as_text(value: Json) -> str:
    """A value as it stands in a text: JSON for anything but a string; nothing for null."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
