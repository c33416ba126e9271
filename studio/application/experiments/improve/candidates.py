"""Check a text that replaces a section: same expressions, no new role, tool or file.

The proposer has read rows and answers, which may be untrusted. So every proposal must pass these
checks before it is sent to a model.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from studio.application.connections.model import Answerers
from studio.application.experiments.plan import ExperimentServices
from studio.application.experiments.prompts import ExperimentError, section_edit, section_span
from studio.application.run.start.session import begin_run
from studio.application.words import tr
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from studio.core.models.choice import ModelChoice
from studio.core.paths import resource
from studio.core.prompty.body.media import find_media, find_threads
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.amounts import shortened
from studio.core.text.files import read_text
from studio.core.text.source import Severity, Span, apply_edits
from studio.core.text.values import Json, JsonDict

_TAGS = {
    "jinja2": (("{{", "}}"), ("{%", "%}"), ("{#", "#}")),
    "mustache": (("{{{", "}}}"), ("{{", "}}")),
    "fstring": (("{", "}"),),
}
_BLOCKS = ("{%", "{{ #", "{{ ^", "{{ /", "{{ >", "{{ =")
_REFERENCE = re.compile(r"\$\{[^{}\n]*\}")
_MOST_CHARACTERS = 60_000


def section_text(document: PromptDocument, title: str) -> str:
    """Return the text of a section without surrounding blank lines.

    Raises:
        ExperimentError: there is no such section.
    """
    edit = section_edit(document, title, "", document.name or "prompt")
    return _plain(document.source.slice(edit.span))


def with_section(document: PromptDocument, title: str, text: str) -> PromptDocument:
    """Return the prompt with a section replaced; options of its provider stay.

    Raises:
        ExperimentError: there is no such section.
    """
    edit = section_edit(document, title, text, document.name or "prompt")
    changed = parse(apply_edits(document.source.text, [edit]), document.source.path)
    return replace(changed, model=document.model)


def candidate_refusal(document: PromptDocument, title: str, text: str) -> str:
    """Return why a text cannot replace a section; empty if it can."""
    if not text.strip():
        return tr("It is empty.")
    if len(text) > _MOST_CHARACTERS:
        return tr("It is longer than {count:,} characters.").format(count=_MOST_CHARACTERS)
    if text.lstrip().startswith("file://"):
        return tr("It names a file instead of a text.")
    try:
        changed = with_section(document, title, text)
    except ExperimentError as error:
        return str(error)
    return next(_refusals(document, changed, title, text), "")


def _refusals(
    before: PromptDocument, after: PromptDocument, title: str, text: str
) -> Iterator[str]:
    if _roles(before) != _roles(after):
        found = Counter(_roles(after)) - Counter(_roles(before))
        names = ", ".join(repr(marker or role) for role, marker in found)
        yield tr("It adds or removes a role: {names}.").format(names=names or "?")
    if _lines_of_roles(section_text(before, title)) != _lines_of_roles(text):
        yield tr("It has a line that starts a message in another dialect.")
    if before.data != after.data or before.tools != after.tools or before.inputs != after.inputs:
        yield tr("It changes what the file declares.")
    place = section_span(after, title)
    if place is None or _plain(after.source.slice(place)) != _plain(text):
        yield tr("It leaves its section: a heading or a role starts another one.")
    old = section_span(before, title)
    assert old is not None  # `with_section` has found it
    yield from _changed_parts(before, after, old, place or old)
    known = Counter(each.code for each in before.problems if each.severity is Severity.ERROR)
    for each in after.problems:
        if each.severity is Severity.ERROR:
            known[each.code] -= 1
            if known[each.code] < 0:
                yield tr("It has an error: {message}").format(message=each.message)


def _changed_parts(
    before: PromptDocument, after: PromptDocument, old: Span, new: Span
) -> Iterator[str]:
    """Yield the parts that differ and that a new text may not change."""
    old_text, new_text = before.source.slice(old), after.source.slice(new)
    kind = before.template.format
    was, now = list(_tags(old_text, kind)), list(_tags(new_text, kind))
    if any(each.startswith(_BLOCKS) for each in (*was, *now)):
        if was != now:
            yield _difference(Counter(was), Counter(now)) or tr(
                "The order of its expressions has changed, and some are blocks."
            )
    elif Counter(was) != Counter(now):
        yield _difference(Counter(was), Counter(now))
    for read in (_variables_in, _fields_in):
        if read(before, old) != read(after, new):
            yield tr("Its expressions read other values.")
    if Counter(_REFERENCE.findall(old_text)) != Counter(_REFERENCE.findall(new_text)):
        yield tr("It has other references (${…}) than the section has now.")
    if Counter(_media(old_text)) != Counter(_media(new_text)):
        yield tr("It has other images, files or threads than the section has now.")


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip("\n")


def _difference(was: Counter[str], now: Counter[str]) -> str:
    """Return which items are extra and which are missing, in a sentence; empty if equal."""
    added, lost = list((now - was).elements()), list((was - now).elements())
    lines = []
    if added:
        lines.append(tr("It adds expressions: {names}.").format(names=", ".join(added[:5])))
    if lost:
        lines.append(tr("It lacks expressions: {names}.").format(names=", ".join(lost[:5])))
    return " ".join(lines)


def _roles(document: PromptDocument) -> list[tuple[str, str]]:
    return [
        (each.role, document.source.slice(each.marker) if each.marker is not None else "")
        for each in document.sections
    ]


def _lines_of_roles(text: str) -> list[tuple[str, str]]:
    """Return the lines that are role markers in any dialect."""
    return _roles(parse(f"system:\n{text}\n"))


def _tags(text: str, kind: str) -> Iterator[str]:
    """Yield the tags of a template in order, with one blank at either end."""
    pairs = _TAGS[kind]
    at = 0
    while True:
        found = [(place, head, tail) for head, tail in pairs if (place := text.find(head, at)) >= 0]
        if not found:
            return
        # The longest of those that start first: `{{{` before `{{`.
        start, head, tail = min(found, key=lambda each: (each[0], -len(each[1])))
        end = text.find(tail, start + len(head))
        if end < 0:
            yield text[start:]
            return
        at = end + len(tail)
        yield f"{head} {text[start + len(head) : at - len(tail)].strip()} {tail}"


def _variables_in(document: PromptDocument, place: Span) -> Counter[str]:
    return Counter(
        each.name for each in document.variables if place.start <= each.expression.start < place.end
    )


def _fields_in(document: PromptDocument, place: Span) -> Counter[tuple[str, ...]]:
    return Counter(
        each.path for each in document.fields if place.start <= each.expression.start < place.end
    )


def _media(text: str) -> Iterator[str]:
    for token in find_media(text):
        yield text[token.span.start : token.span.end]
    for span in find_threads(text):
        yield text[span.start : span.end].strip()


# Proposes a text for a section: one request to a model that the user chose.

_TRIES = 3
_MOST_EXAMPLES = 6
_MOST_TEXT = 1500
_HEAD, _TAIL = "<section>", "</section>"


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A row with its answer, as shown to the proposer."""

    values: Json
    """Values by input name."""

    answer: str
    """Answer of the model; empty if there is none."""

    passed: bool
    """Whether it passes."""

    score: float
    """Score from 0 to 1."""

    reasons: tuple[str, ...] = ()
    """Reasons given by the assertions."""

    expected: str = ""
    """Expected answer, if the row has one."""


@dataclass(frozen=True, slots=True)
class ProposedText:
    """The result of one request for a text."""

    text: str
    """Proposed text; empty if the reply contained none."""

    refusal: str = ""
    """Reason why it may not be used; empty if it may."""


class SectionProposer:
    """A model that proposes texts for one section."""

    def __init__(
        self,
        document: PromptDocument,
        title: str,
        choice: ModelChoice,
        services: ExperimentServices,
        *,
        trusted: bool,
        wish: str = "",
    ) -> None:
        """Open the model; nothing is sent yet.

        Raises:
            ModelError: the model cannot be opened.
        """
        self._document = document
        self._title = title
        self._wish = wish
        self._mask: Callable[[str], str] = services.secrets.masker.mask
        path = resource("generators", "section.prompty")
        self._generator = parse(read_text(path), path)
        answerers = Answerers(services.connections, services.secrets, services.embedded)
        self._model = answerers.open(choice, document.source.path, trusted=trusted)
        self._is_remote = choice.connection.is_remote
        self.tokens = 0
        """Tokens so far."""
        self.cost: float | None = 0.0
        """Cost so far in US dollars; None if the price is not known."""
        self.requests = 0
        """Number of requests so far."""

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()

    async def texts(
        self, current: str, rows: Sequence[AnsweredRow], known: Sequence[str]
    ) -> list[ProposedText]:
        """Request a text, several times if it may not be used.

        Args:
            current: the section's text in the candidate to improve.
            rows: answers with that text.
            known: existing texts.

        Returns:
            All proposals in order; at most the last one may be used.
        """
        made: list[ProposedText] = []
        for _ in range(_TRIES):
            text, refusal = await self._one(current, rows, made)
            if not refusal and text in {*known, current}:
                refusal = tr("It is the same as an earlier one.")
            made.append(ProposedText(text, refusal))
            if not refusal:
                break
        return made

    async def _one(
        self, current: str, rows: Sequence[AnsweredRow], refused: Sequence[ProposedText]
    ) -> tuple[str, str]:
        whole = with_section(self._document, self._title, current)
        inputs: JsonDict = {
            "prompt": self._mask(whole.source.slice(whole.body)),
            "title": self._title,
            "text": self._mask(current),
            "rows": "\n".join(self._examples(rows)),
            "refused": "\n".join(
                json.dumps({"text": each.text, "why": each.refusal}, ensure_ascii=False)
                for each in refused
            ),
            "wish": self._wish,
        }
        options = RunOptions(protocol="native", headless=True)
        plan = RunPlan(self._generator, inputs, self._model, options=options)
        self.requests += 1
        state = await begin_run(plan).go()
        usage = state.usage
        self.tokens += usage.input_tokens + usage.output_tokens
        spent = usage.cost if self._is_remote else 0.0
        self.cost = self.cost + spent if self.cost is not None and spent is not None else None
        if state.answer is None:
            words = state.error.message if state.error is not None else state.status
            return "", tr("There is no answer: {said}").format(said=words)
        text = _between(state.answer)
        if text is None:
            return "", tr("The reply contains no text between <section> and </section>.")
        if self._mask(text) != text:
            return "", tr("It contains a secret.")
        return text, candidate_refusal(self._document, self._title, text)

    def _examples(self, rows: Sequence[AnsweredRow]) -> Iterator[str]:
        """Yield rows as JSON lines, failed ones first, with secrets masked."""
        for each in sorted(rows, key=lambda row: row.score)[:_MOST_EXAMPLES]:
            row: JsonDict = {
                "inputs": self._cut(json.dumps(each.values, ensure_ascii=False, default=str)),
                "answer": self._cut(each.answer),
                "passes": each.passed,
                "checks": [self._cut(reason) for reason in each.reasons],
            }
            if each.expected:
                row["expected"] = self._cut(each.expected)
            yield json.dumps(row, ensure_ascii=False)

    def _cut(self, text: str) -> str:
        masked = self._mask(text)
        return shortened(masked, _MOST_TEXT)


def _between(reply: str) -> str | None:
    """Return the text between the marks; None if they are missing."""
    start, end = reply.find(_HEAD), reply.rfind(_TAIL)
    if start < 0 or end < start:
        return None
    return reply[start + len(_HEAD) : end].strip("\r\n").rstrip()
