"""Prepare a prompt: from a document and values to messages."""

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from studio.core.prompty.body.read import read_messages
from studio.core.prompty.document import (
    MediaPart,
    Message,
    PromptDocument,
    PromptMessages,
    Rendering,
    ResolvedInputs,
)
from studio.core.prompty.evaluation import failure
from studio.core.prompty.front.declarations import RICH_KINDS
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parameters import parameter_values
from studio.core.prompty.reference_values import (
    NOT_TRUSTED,
    LookUp,
    Protocol,
    ReferenceContext,
    UnresolvedReference,
    confined_path,
    resolve_reference,
    whole_reference,
)
from studio.core.prompty.references import resolve_document, resolve_rendering
from studio.core.prompty.templates import render_template
from studio.core.prompty.templates.writer import SYNTAX, VALUE, UnreadText
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import JsonDict, JsonObject

# Local media of messages: whether the file exists, is inside the folder, and not too large.

MAX_MEDIA_BYTES = 20_000_000
"""Maximum size of a file to send, in bytes."""

MOST_FILES = 100
"""Maximum number of files checked in one preview; each needs a disk access."""

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_LONGEST_PATH = 1000


def is_local(part: MediaPart) -> bool:
    """Return whether a part names a file beside the prompt instead of a URL or data."""
    if "mediaType" in part.attributes or len(part.source) > _LONGEST_PATH:
        return False
    return bool(part.source) and _SCHEME.match(part.source) is None


def check_media(
    messages: tuple[Message, ...], context: ReferenceContext, start: int, *, preview: bool = False
) -> Iterator[Problem]:
    """Report the problems of the local files in messages.

    Args:
        messages: The messages.
        context: The prompt's folder and granted roots.
        start: Offset for problems of parts without a span.
        preview: Whether nothing is sent, so that an untrusted file is only a hint.
    """
    unread = Severity.HINT if preview or context.shown else Severity.ERROR
    seen: set[tuple[str, str]] = set()
    for message in messages:
        for part in message.parts:
            if not isinstance(part, MediaPart) or not is_local(part):
                continue
            if (part.kind, part.source) in seen or len(seen) >= MOST_FILES:
                continue
            seen.add((part.kind, part.source))
            span = part.span or Span(start, start)
            yield from _check_file(part, context, span)
            if not context.trusted:
                text = (
                    f"The {part.kind} {part.source!r} is not read: files are not read in an "
                    "untrusted folder; trust the folder first."
                )
                yield Problem(NOT_TRUSTED, unread, text, span)


def _check_file(part: MediaPart, context: ReferenceContext, span: Span) -> Iterator[Problem]:
    try:
        path = confined_path(part.source, context)
        size = path.stat().st_size if path.is_file() else None
    except UnresolvedReference as error:
        yield Problem(error.code, Severity.ERROR, str(error), span)
        return
    except (OSError, ValueError):
        size = None
    if size is None:
        message = f"The {part.kind} {part.source!r} does not exist in the prompt's folder."
        yield Problem("media-missing", Severity.ERROR, message, span)
        return
    if size > MAX_MEDIA_BYTES:
        message = (
            f"The {part.kind} {part.source!r} has {size} bytes; at most {MAX_MEDIA_BYTES} are sent."
        )
        yield Problem("media-too-large", Severity.ERROR, message, span)
    guessed = mimetypes.guess_type(path.name)[0]
    if guessed is None or (part.kind != "file" and not guessed.startswith(f"{part.kind}/")):
        message = f"The name {part.source!r} does not tell the type of {part.kind}."
        yield Problem("media-type", Severity.WARNING, message, span)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prompt with values inserted."""

    document: PromptDocument
    """The document, with references resolved as requested."""

    inputs: ResolvedInputs
    """The values that were used."""

    rendering: Rendering
    """Rendering of the body."""

    messages: PromptMessages
    """Messages of the rendering."""

    problems: tuple[Problem, ...] = ()
    """Problems found on the way, in source order, without the document's own."""

    samples: frozenset[str] = frozenset()
    """Names of inputs whose value is only a sample (previews only)."""


def prepare(
    document: PromptDocument,
    inputs: JsonObject,
    *,
    references: ReferenceContext | None = None,
    preview: bool = False,
    samples: bool = True,
) -> Prepared:
    """Render a document and read its messages. Never raises: a failure is one of the problems.

    Args:
        document: The document from `parse`.
        inputs: Values by name; missing ones come from defaults, in a preview also from samples.
        references: Resolver of `${…}` references; None leaves them as written.
        preview: Whether to use samples and never look up a secret.
        samples: Whether a preview uses samples; without them it has a run's values.
    """
    try:
        problems: list[Problem] = []
        values, shown, missing = _values(document, inputs, preview=preview and samples)
        if references is not None:
            if not preview:
                references = replace(references, opened=None)  # shown content is not sent
            given = parameter_values(document, values, references)
            wanted = None if preview else inputs
            document, found = resolve_document(document, given, preview=preview, given=wanted)
            problems += found
            values, shown, missing = _values(document, inputs, preview=preview and samples)
            values = {**values, **_unread(values, inputs)}
            references = parameter_values(document, values, references)  # of resolved inputs
        problems += missing if not preview else ()
        look_up = LookUp(references, preview) if references is not None else None
        rendering = render_body(document, values)
        included = _included_body(document, references) if references is not None else None
        if included is not None:
            rendering = _render_included(document, included, values)
        elif look_up is not None:
            rendering, found = resolve_rendering(document, rendering, look_up)
            problems += found
        rendering = _with_fixes(document, rendering)
        if preview:
            rendering = _without_echoes(document, rendering, inputs)
        messages = read_messages(document, rendering, values, look_up)
        problems += (*rendering.problems, *messages.problems)
        if references is not None and references.folder is not None:
            problems += check_media(
                messages.messages, references, document.body.start, preview=preview
            )
        problems = list(dict.fromkeys(problems))  # a tool's expression is rendered twice
        problems.sort(key=lambda problem: (problem.span.start, problem.span.end))
        return Prepared(document, values, rendering, messages, tuple(problems), shown)
    except Exception as error:  # noqa: BLE001 - foreign content: only this file fails
        nothing = Rendering(()), PromptMessages(())
        return Prepared(document, inputs, *nothing, problems=(failure(error),))


def _with_fixes(document: PromptDocument, rendering: Rendering) -> Rendering:
    """Add the document's fixes to the problems of the rendering."""
    known = {(problem.code, problem.span): problem for problem in document.problems}
    problems = (known.get((problem.code, problem.span), problem) for problem in rendering.problems)
    return replace(rendering, problems=tuple(problems))


def _without_echoes(document: PromptDocument, rendering: Rendering, given: JsonObject) -> Rendering:
    """Remove problems of the rendering that follow from those of the document.

    An unreadable template has one error, and an expression fails because of an undeclared name
    without a value. A run keeps all problems, since an error stops it.
    """
    known = {(problem.code, problem.span) for problem in document.problems}
    is_broken = any(problem.code == SYNTAX for problem in document.problems)
    first = {each.span for each in document.problems if each.code == "undeclared-variable"}
    names = {each.name for each in document.variables if each.span in first} - given.keys()
    undeclared = [each.span for each in document.variables if each.name in names]

    def is_echo(problem: Problem) -> bool:
        if problem.code == SYNTAX:
            return is_broken and (problem.code, problem.span) not in known
        return problem.code == VALUE and any(
            problem.span.start <= span.start < problem.span.end for span in undeclared
        )

    problems = tuple(problem for problem in rendering.problems if not is_echo(problem))
    return replace(rendering, problems=problems)


def settled_document(
    document: PromptDocument, inputs: JsonObject, references: ReferenceContext
) -> PromptDocument:
    """Return the document for a run: with the files and parameters of its settings resolved.

    Variables stay references, since a run's journal contains its settings but no secret.

    Args:
        document: The document from `parse`.
        inputs: The values of the run.
        references: Resolver of the run's references.
    """
    context = parameter_values(document, resolve_inputs(document, inputs).sent, references)
    return resolve_document(document, context, only=_SETTLED)[0]


_SETTLED: tuple[Protocol, ...] = ("file", "params")


def _values(
    document: PromptDocument, inputs: JsonObject, *, preview: bool
) -> tuple[ResolvedInputs, frozenset[str], tuple[Problem, ...]]:
    """Return the values of the inputs, the names of samples, and the problems of missing ones."""
    resolution = resolve_inputs(document, inputs)
    if preview:
        return resolution.shown, resolution.samples, ()
    return resolution.sent, frozenset(), resolution.problems


def _unread(values: JsonObject, given: JsonObject) -> JsonDict:
    """Return the declared values that are still unread files, marked for the template."""
    return {
        name: UnreadText(value)
        for name, value in values.items()
        if isinstance(value, str)
        and name not in given
        and (reference := whole_reference(value)) is not None
        and reference.protocol == "file"
    }


def render_body(document: PromptDocument, values: JsonObject) -> Rendering:
    """Render a document's body with resolved values."""
    rich = frozenset(item.name for item in document.inputs if item.kind in RICH_KINDS)
    return render_template(
        document.source.text[document.body.start : document.body.end],
        values,
        format=document.template.format,
        offset=document.body.start,
        rich=rich,
    )


def _included_body(document: PromptDocument, references: ReferenceContext) -> str | None:
    """Return the text of the file that replaces the whole body (`${file:…}`); else None.

    Prompty 2 §4.3 resolves the body like any other value, before it is rendered.
    """
    reference = whole_reference(document.source.slice(document.body).strip())
    if reference is None or reference.protocol != "file":
        return None
    try:
        value = resolve_reference(reference, references)
    except UnresolvedReference:
        return None  # resolving the rendering reports it
    return value if isinstance(value, str) else None


def _render_included(document: PromptDocument, template: str, values: JsonObject) -> Rendering:
    """Render a template from another file; all its spans are the reference's."""
    rich = frozenset(item.name for item in document.inputs if item.kind in RICH_KINDS)
    rendering = render_template(template, values, format=document.template.format, rich=rich)
    body = document.source.slice(document.body)
    start = document.body.start + len(body) - len(body.lstrip())
    place = Span(start, start + len(body.strip()))
    return Rendering(
        tuple(replace(segment, span=place) for segment in rendering.segments),
        tuple(replace(problem, span=place, fixes=()) for problem in rendering.problems),
    )
