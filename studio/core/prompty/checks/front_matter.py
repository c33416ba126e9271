"""Check front matter that is not recognized: text before it, or other lines around it."""

import re
from collections.abc import Iterator

from studio.core.known_models import known_models
from studio.core.prompty.body.sections import plain_newlines
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.yaml.tree import in_quotes, value_at
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

_ODD_FRONT = re.compile(
    r"(?P<first>[-–—]{1,2}|-{4,80}|[–—]{3,}|[ \t]*`{3,}[ \t]*ya?ml)[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?:[^\n]*\n){1,400}?(?P<last>(?P=first)|`{3,}|---)[ \t]*(?:\n|\Z)"
)
"""Front matter between other lines than three dashes."""
_OF_A_PROMPT = re.compile(r"^(?:model|inputs|template)[ \t]*:", re.MULTILINE)
"""Keys that identify a prompt's YAML; a name, a version or a description does not."""
_FENCED_FILE = re.compile(r"[ \t]*(?P<fence>`{3,})[^`\n]*\n\Z")
_LATE_FRONT = re.compile(
    r"(?P<before>(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?)---[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?=(?:[^\n]*\n){1,400}?---[ \t]*(?:\n|\Z))"
)


def check_front_matter(document: PromptDocument) -> Iterator[Problem]:
    """Report text before the front matter, which makes all of it text of the prompt."""
    if document.front_matter is not None:
        return
    body = plain_newlines(document.source.slice(document.body))
    found = _LATE_FRONT.match(body)
    odd = _ODD_FRONT.match(body)
    if odd is not None and ("`" not in odd["first"] or _OF_A_PROMPT.search(odd[0])):
        yield _odd_front(document, odd)
        return
    if found is None or not found["before"].strip():
        return
    place = Span(*found.span("before")).shift(document.body.start)
    edits = [TextEdit(place, "")]
    fenced = _FENCED_FILE.search(found["before"])
    if fenced is not None:
        ends = re.search(rf"^[ \t]*{fenced['fence']}[ \t]*\Z", body.rstrip(), re.MULTILINE)
        if ends is not None:
            edits.append(TextEdit(Span(ends.start(), len(body)).shift(document.body.start), ""))
    message = (
        "This stands before the front matter, which begins a file or is none: as it is, all of it "
        "is text of the prompt."
    )
    title = "Remove what stands before it" if len(edits) == 1 else "Remove the fence around it"
    fix = Fix(title, tuple(edits))
    yield Problem("front-matter-late", Severity.WARNING, message, place, (fix,))


def _odd_front(document: PromptDocument, odd: re.Match[str]) -> Problem:
    """Report front matter between `----` or a fence: it is text of the prompt."""
    places = [Span(*odd.span(name)).shift(document.body.start) for name in ("first", "last")]
    fix = Fix("Write --- above and below it", tuple(TextEdit(place, "---") for place in places))
    message = (
        f"{odd['first'].strip()!r} begins no front matter, so all of it is text of the prompt: "
        "three dashes alone on a line do, ---."
    )
    return Problem("front-matter-late", Severity.WARNING, message, places[0], (fix,))


# Values of the front matter that YAML reads otherwise than they are meant, and model ids.

_CURLY = re.compile(r"[“„‟](?P<text>[^“”„‟]+)[”“]|[‘‚](?P<single>[^‘’‚]+)[’‘]")
_DEEPER_DASH = re.compile(r"\n[ ]+(?=- )")
_NOT_PLAIN = ("|", ">", '"', "'", "[", "{", "&", "!", "*")
"""First characters of YAML values that are no plain text."""
_PARTS = re.compile(r"[a-z]+|\d+")
_NAMES_DEPLOYMENTS = ("azure", "foundry")
"""Beginnings of providers whose model ids are names that their users choose."""


def check_written_values(document: PromptDocument) -> Iterator[Problem]:
    """Report typographic quotes around values, deeper dashes, near model ids."""
    text = document.source.text
    for entry in document.entries:
        start, end = entry.value.start, entry.value.end
        if text[start : start + 1] in "“„‟‘‚" and _CURLY.fullmatch(text, start, end):
            yield _curly(document, entry)
        elif isinstance(entry.path[-1], int) and not text.startswith(_NOT_PLAIN, start):
            edits = tuple(_dashes(text, entry))
            if edits and isinstance(value_at(document.data, entry.path), str):
                message = "This is one text: a dash in a deeper column begins no item of the list."
                fix = Fix("Put the dashes below each other", edits)
                yield Problem("list-staircase", Severity.WARNING, message, entry.value, (fix,))
    yield from _near_model(document)


def _curly(document: PromptDocument, entry: FrontMatterEntry) -> Problem:
    written = document.source.slice(entry.value)
    message = (
        f"{written[0]} and {written[-1]} are part of the text here; YAML's quotes are straight."
    )
    fix = Fix("Write straight quotes", (TextEdit(entry.value, in_quotes(written[1:-1])),))
    return Problem("curly-quotes", Severity.WARNING, message, entry.value, (fix,))


def _dashes(text: str, entry: FrontMatterEntry) -> Iterator[TextEdit]:
    """Put each deeper dash of an item into the column of the item's own dash."""
    line = text.rfind("\n", 0, entry.value.start) + 1
    dash = text.rfind("-", line, entry.value.start)
    if dash < 0:
        return
    for found in _DEEPER_DASH.finditer(text, entry.value.start, entry.value.end):
        yield TextEdit(Span(*found.span()), "\n" + " " * (dash - line))


def _near_model(document: PromptDocument) -> Iterator[Problem]:
    """Report a known id with one misspelled word; other numbers are other models."""
    model = document.model
    entry = document.entry("model", "id") or document.entry("model")
    name = model.id
    if entry is None or document.source.slice(entry.value) != name:
        return
    if model.provider.lower().startswith(_NAMES_DEPLOYMENTS):
        return
    parts = _PARTS.findall(name)
    known = {prefix: _PARTS.findall(prefix) for prefix, _ in known_models()}
    words = {part for each in known.values() for part in each}
    for meant, others in known.items():
        differing = [pair for pair in zip(parts, others, strict=False) if pair[0] != pair[1]]
        if len(parts) != len(others) or len(differing) != 1 or len(parts) < 2:
            continue
        word, other = differing[0]
        if (
            other.isalpha()
            and word not in words
            and _is_slip(word, other, is_family=other == others[0])
        ):
            message = f"No model {name!r} is known; did you mean {meant!r}?"
            fix = Fix(f"Change to {meant!r}", (TextEdit(entry.value, meant),))
            yield Problem("near-model", Severity.WARNING, message, entry.value, (fix,))
            return


def _is_slip(word: str, other: str, *, is_family: bool) -> bool:
    """Return whether a word of an id is a misspelling; `llava` and `mixtral` are own families."""
    is_other_family = is_family and len(word) == len(other)
    return sorted(word) == sorted(other) or (not is_other_family and bool(nearest(word, [other])))
