"""Write the dialect into a file before an edit that would change it.

The dialect of a file without `template.parser.kind` is recognized by its keys and constructs, so a
single added key could turn images and tool calls of the body into plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from studio.core.prompty import dialect
from studio.core.prompty.document import Dialect, PromptDocument, first_unreadable
from studio.core.prompty.edit.edits import ConversionDraft, write_scalar
from studio.core.text.diff import smallest_edit
from studio.core.text.source import Fix, Problem, Span, TextEdit, apply_edits, sort_edits

MOST_READ = 20_000_000
"""Limit for parsing a document again for its fixes, in characters of its body; front matter costs
about ten times as much. Further fixes are not offered.
"""

_DECIDES = re.compile(
    r"\b(?:api|apiType|configuration|format|id|inputs|kind|model|parameters|parser|provider|sample"
    r"|template|tools|type)\b|\$\{params:|^(?:---|\+\+\+)",
    re.MULTILINE,
)
"""Matches words of front matter on which the dialect may depend."""

_BLANK = "\ufeff \t\r\n\f\v"
_FENCE = re.compile("```|~~~")
_KIND = ("template", "parser", "kind")


def keeping_dialect(document: PromptDocument, edits: tuple[TextEdit, ...]) -> tuple[TextEdit, ...]:
    """Return the edits, with an edit for the parser kind if they would change the dialect.

    Edits of the parser kind itself are meant to change it and stay unchanged. Empty if the dialect
    cannot be kept (Prompty 1 has no parser kind).
    """
    if not _is_known(document, document.problems) or not _may_change(
        document, edits, _Constructs(document)
    ):
        return edits
    text = document.source.text
    draft = ConversionDraft(apply_edits(text, edits))
    if _dialect(draft) == document.dialect:
        return edits
    if dialect.parser_kind(draft.document.data) != dialect.parser_kind(document.data):
        return edits
    word = draft.value("template")
    if isinstance(word, str):
        draft.replace(("template",), f"{{format: {{kind: {write_scalar(word)}}}}}")
    draft.set(_KIND, document.dialect)
    if _dialect(draft) != document.dialect:
        return ()
    return smallest_edit(text, draft.text)


def kept_fixes(document: PromptDocument, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems with fixes that keep the dialect; other fixes are removed."""
    problems = list(problems)
    if not _is_known(document, problems):
        return problems
    constructs = _Constructs(document)
    known: dict[tuple[TextEdit, ...], tuple[TextEdit, ...]] = {}
    body = len(document.body)
    cost = max(1, body + 10 * (len(document.source) - body))
    found = []
    for problem in problems:
        fixes = []
        for fix in problem.fixes:
            if not _may_change(document, fix.edits, constructs):
                fixes.append(fix)
                continue
            if fix.edits not in known and len(known) * cost < MOST_READ:
                known[fix.edits] = keeping_dialect(document, fix.edits)
            kept = known.get(fix.edits, ())
            if kept:
                fixes.append(fix if kept is fix.edits else Fix(fix.title, kept))
        is_same = len(fixes) == len(problem.fixes) and all(map(_is, fixes, problem.fixes))
        found.append(problem if is_same else replace(problem, fixes=tuple(fixes)))
    return found


def _is(one: object, other: object) -> bool:
    return one is other


def _is_known(document: PromptDocument, problems: Iterable[Problem]) -> bool:
    """Return whether the front matter already states its dialect, or will after a fix.

    A second `template` beside a misspelled one would be a duplicate after the fix.
    """
    return first_unreadable(document) is None and not any(
        problem.code == "unknown-key" and edit.text == "template"
        for problem in problems
        for fix in problem.fixes
        for edit in fix.edits
    )


def _may_change(
    document: PromptDocument, edits: tuple[TextEdit, ...], constructs: _Constructs
) -> bool:
    """Return whether the edits touch anything that decides the dialect; most do not."""
    if not edits or dialect.parser_kind(document.data) == document.dialect:
        return False
    text, opens = document.source.text, document.body.start - 1
    if document.front_matter is None:  # only its first nonblank line can become an opening `---`
        line = text.find("\n", len(text) - len(text.lstrip(_BLANK)))
        opens = line if line >= 0 else len(text)
    in_front = [edit for edit in edits if edit.span.start <= opens]
    if any(
        _DECIDES.search(f"{text[each.span.start : each.span.end]}\n{each.text}")
        for each in in_front
    ):
        return True
    if document.front_matter is None or len(in_front) == len(edits):
        return False
    # In the body, only constructs of the section dialect count, and only against keys.
    if document.dialect == "legacy" or dialect.prompty_key(document.data) is None:
        return False
    return constructs.may_change([each for each in edits if each not in in_front])


class _Constructs:
    """The constructs of the section dialect in a body: whether edits add one or remove the last.

    Only the edited lines and the next nonblank ones are read, because a file may have a thousand
    markers with a fix each. An edited fence affects all lines after it.
    """

    def __init__(self, document: PromptDocument) -> None:
        self._text = document.source.text
        self._start = document.body.start
        self._has_some = document.dialect == "section"

    def may_change(self, edits: Iterable[TextEdit]) -> bool:
        """Return whether a body may get its first construct, or lose its last one."""
        groups = self._groups(edits)
        old = [self._text[span.start : span.end] for span, _ in groups]
        new = [
            apply_edits(text, [TextEdit(each.span.shift(-span.start), each.text) for each in made])
            for (span, made), text in zip(groups, old, strict=True)
        ]
        if any(map(_FENCE.search, (*old, *new))):
            return True
        if not self._has_some:
            return any(dialect.section_construct("", each) for each in new)
        return not any(
            all(held.end <= span.start or span.end <= held.start for span, _ in groups)
            for held in self._ends
        )

    @cached_property
    def _ends(self) -> Sequence[Span]:
        """The first and the last construct: it is enough that one of both stays."""
        places = sorted(span for _, span in dialect.section_constructs(self._text[self._start :]))
        return [each.shift(self._start) for each in (*places[:1], *places[-1:])]

    def _groups(self, edits: Iterable[TextEdit]) -> list[tuple[Span, list[TextEdit]]]:
        """Group the edits by the lines that they touch, which do not overlap."""
        groups: list[tuple[Span, list[TextEdit]]] = []
        for edit in sort_edits(edits):
            span, made = self._lines_around(edit.span), [edit]
            if groups and span.start < groups[-1][0].end:
                last, made = groups.pop()
                span = last.cover(span)
                made.append(edit)
            groups.append((span, made))
        return groups

    def _lines_around(self, span: Span) -> Span:
        """Return the lines of a span, with the nonblank lines before and after."""
        text, start, end = self._text, self._line_start(span.start), self._line_end(span.end)
        while start > self._start and text[start - 1].isspace():
            start -= 1
        while end < len(text) and text[end].isspace():
            end += 1
        return Span(self._line_start(start), self._line_end(end))

    def _line_start(self, at: int) -> int:
        return max(self._start, self._text.rfind("\n", self._start, at) + 1)

    def _line_end(self, at: int) -> int:
        found = self._text.find("\n", at)
        return found + 1 if found >= 0 else len(self._text)


def _dialect(draft: ConversionDraft) -> Dialect:
    read = draft.document
    front = draft.text[read.front_matter.start : read.front_matter.end] if read.front_matter else ""
    return dialect.decide_dialect(read.data, front, draft.text[read.body.start :])[0]
