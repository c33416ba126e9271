"""Insert the values of `${…}` references into a document and into a rendered body.

A preview never looks up a secret: an `env` reference stays as written, and only a missing variable
is reported (docs/design/file-format.md).
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from studio.core.prompty import reference_values
from studio.core.prompty.document import PromptDocument, Rendering, Segment
from studio.core.prompty.front.front_matter import read_front_matter
from studio.core.prompty.yaml.tree import Places
from studio.core.text.source import Problem, Span
from studio.core.text.values import Json, JsonObject, KeyPath


def resolve_document(
    document: PromptDocument,
    context: reference_values.ReferenceContext,
    *,
    preview: bool = False,
    only: Collection[reference_values.Protocol] = reference_values.PROTOCOLS,
    given: Collection[str] | None = None,
) -> tuple[PromptDocument, tuple[Problem, ...]]:
    """Return the document with references resolved in front matter and a single-reference body.

    Args:
        document: The document from `parse`.
        context: The sources of the values.
        preview: Whether to leave `env` as written and only report missing variables.
        only: The protocols to resolve; references of others stay as written.
        given: Names of the inputs that a run has values for: problems are then reported only for
            values that its messages need. None reports all problems.
    """
    if not preview:
        context = replace(context, opened=None)  # content for display only is not sent
    written = _with_sample_file(document)
    if not has_reference(written):
        return document, ()
    places = Places.of(document.entries)
    resolver = _Resolver(document, reference_values.LookUp(context, preview), places, only, given)
    data = resolver.resolve(written, ())
    if resolver.changed and isinstance(data, Mapping):
        document = _with_data(document, data, places)
    return document, tuple(resolver.problems)


def has_references(document: PromptDocument) -> bool:
    """Return whether values of the front matter come from files, variables or parameters."""
    return has_reference(_with_sample_file(document))


def has_reference(value: Json) -> bool:
    """Return whether a value's text may contain a reference: a fast check."""
    if isinstance(value, str):
        return "${" in value
    if isinstance(value, Mapping):
        return any(map(has_reference, value.values()))
    return isinstance(value, list) and any(map(has_reference, value))


def sample_file(document: PromptDocument) -> str | None:
    """Return the path of the file with all samples by name, as written; None without one."""
    sample = _with_sample_file(document).get("sample")
    reference = reference_values.whole_reference(sample) if isinstance(sample, str) else None
    return reference.argument if reference is not None and reference.protocol == "file" else None


def _with_sample_file(document: PromptDocument) -> JsonObject:
    """Return the front matter, with the path in Prompty 1's `sample` as a `${file:…}`."""
    sample = document.data.get("sample")
    if document.dialect != "legacy" or not isinstance(sample, str) or not sample.endswith(".json"):
        return document.data
    return {**document.data, "sample": f"${{file:{sample}}}"}


def resolve_rendering(
    document: PromptDocument, rendering: Rendering, look_up: reference_values.LookUp
) -> tuple[Rendering, tuple[Problem, ...]]:
    """Return the rendering with references in the author's text replaced by values.

    In the section dialect anywhere; otherwise only if the whole body is one reference (Prompty 2
    §4.3: the body is a value too). Inserted values never define structure.
    """
    body = document.source.slice(document.body)
    if "${" not in body:
        return rendering, ()
    whole = reference_values.whole_reference(body.strip())
    if document.dialect != "section" and whole is None:
        return rendering, ()
    problems: list[Problem] = []
    segments: list[Segment] = []
    for segment in rendering.segments:
        if segment.kind == "literal" and "${" in segment.text:
            segments += _resolve_segment(segment, look_up, problems)
        else:
            segments.append(segment)
    return Rendering(tuple(segments), rendering.problems), tuple(problems)


@dataclass(slots=True)
class _Resolver:
    """A walk through the front matter's values."""

    document: PromptDocument
    look_up: reference_values.LookUp
    places: Places
    only: Collection[reference_values.Protocol] = reference_values.PROTOCOLS
    given: Collection[str] | None = None
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
        """Return a text's value: a single reference; in the section dialect also ones inside it."""
        whole = reference_values.whole_reference(text)
        if whole is not None:
            value, found = self._value(whole, path)
            if not found:
                return text
            self.changed = True
            if whole.protocol == "file" and not isinstance(value, str):
                if includes >= reference_values.MOST_INCLUDES:
                    return value
                return self.resolve(value, path, includes + 1)
            return value
        if self.document.dialect != "section":
            return text
        pieces: list[str] = []
        done = 0
        for reference in reference_values.find_references(text):
            value, found = self._value(reference, path)
            if found and not isinstance(value, Mapping | list):
                pieces += (text[done : reference.span.start], reference_values.as_text(value))
                done = reference.span.end
                self.changed = True
        return "".join((*pieces, text[done:])) if pieces else text

    def _value(self, reference: reference_values.Reference, path: KeyPath) -> tuple[Json, bool]:
        """Return the value, and whether there is one."""
        if reference.protocol not in self.only:
            return None, False
        span = self.places.value(*path) or self.places.nearest(*path)
        problems = self.problems if self._is_needed(reference, path) else []
        return self.look_up.find(reference, span, problems, self._user_of(path))

    def _is_needed(self, reference: reference_values.Reference, path: KeyPath) -> bool:
        """Return whether a run's messages need a front matter value.

        Connections are resolved when the model is opened, and variables in other settings when they
        are sent (`RunSecrets.option`, the sources of tools).
        """
        match path:
            case _ if self.given is None:
                return True
            case ("inputs", _, "sample" | "example", *_):
                return False
            case ("inputs", _, *_):
                return self._input_name(path) not in self.given
            case ("sample", name, *_):
                return name not in self.given
            case ("sample",):
                return any(item.name not in self.given for item in self.document.inputs)
            case ("inputs" | "template", *_):
                return True
            case ("model", "connection" | "configuration", *_):
                return False
            case _:
                return reference.protocol != "env"

    def _user_of(self, path: KeyPath) -> str:
        """Return the user of a value in the front matter, as the subject of a sentence."""
        match path:
            case ("inputs", _, *_):
                return f"The input {self._input_name(path)!r}"
            case ("sample", name, *_):
                return f"The input {name!r}"
            case ("model", "connection" | "configuration", *_):
                return "The model connection that the prompt describes"
            case _:
                return repr(".".join(map(str, path)))

    def _input_name(self, path: KeyPath) -> object:
        """Return the name of the input at or around a path, in both notations of `inputs`."""
        inputs, key = self.document.data["inputs"], path[1]
        if isinstance(inputs, list) and isinstance(key, int) and isinstance(inputs[key], Mapping):
            return inputs[key].get("name", "")
        return key


def _with_data(document: PromptDocument, data: JsonObject, places: Places) -> PromptDocument:
    """Return the document read again from resolved values; spans refer to the source."""
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
    segment: Segment, look_up: reference_values.LookUp, problems: list[Problem]
) -> list[Segment]:
    """Return a literal segment with the values of its references as separate segments."""
    found: list[Segment] = []
    done = 0
    start = segment.span.start if segment.span else 0
    exact = segment.span is not None and len(segment.span) == len(segment.text)
    for reference in reference_values.find_references(segment.text):
        place = reference.span.shift(start) if exact else segment.span or Span(0, 0)
        value, has_value = look_up.find(reference, place, problems)
        text = (
            reference_values.as_text(value)
            if has_value
            else segment.text[reference.span.start : reference.span.end]
        )
        if reference.span.start > done:
            found.append(_cut(segment, done, reference.span.start))
        done = reference.span.end
        if text:
            held = None if isinstance(value, str) else look_up.find_all(value, place, problems)
            found.append(
                Segment("value", text, place, reference_values.source_name(reference), held)
            )
    if done < len(segment.text):
        found.append(_cut(segment, done, len(segment.text)))
    return found


def _cut(segment: Segment, start: int, end: int) -> Segment:
    span = segment.span
    if span is not None and len(span) == len(segment.text):
        span = Span(span.start + start, span.start + end)
    return Segment(segment.kind, segment.text[start:end], span, segment.input)
