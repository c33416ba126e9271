"""Edits that would change a file's dialect write down the one that it has.

The dialect of a file without `template.parser.kind` is told by its keys and constructs, so a single
key that a fix adds could turn pictures and tool calls of the body into plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from studio.core.prompty.dialect import decide_dialect, parser_kind, prompty_key
from studio.core.prompty.document import Dialect, PromptDocument
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.edit.edits import write_scalar
from studio.core.text.problem import Fix, Problem, TextEdit, apply_edits
from studio.core.text.span import Span

MOST_READ = 20_000_000
"""What reading a document again for its fixes may cost, in characters of its body; reading front
matter costs about ten times as much. Fixes beyond it are not offered."""

_DECIDES = re.compile(
    r"\b(?:api|apiType|configuration|format|id|inputs|kind|model|parameters|parser|provider|sample"
    r"|template|tools|type)\b|\$\{params:|^(?:---|\+\+\+)",
    re.MULTILINE,
)
"""Words of a front matter on which the dialect may hang."""

_KIND = ("template", "parser", "kind")
_UNREADABLE = frozenset(
    {"yaml-syntax", "yaml-tab", "yaml-character", "front-matter-open", "front-matter-not-mapping"}
)


def keeping_dialect(document: PromptDocument, edits: tuple[TextEdit, ...]) -> tuple[TextEdit, ...]:
    """The edits, with the parser kind beside them where they would change the dialect.

    Edits that say the parser kind themselves are meant to change it, and stay as they are. Empty
    where the dialect cannot be kept (Prompty 1 has no parser kind).
    """
    if not _is_known(document, document.problems) or not _may_change(document, edits):
        return edits
    text = document.source.text
    draft = ConversionDraft(apply_edits(text, edits))
    if _dialect(draft) == document.dialect:
        return edits
    if parser_kind(draft.document.data) != parser_kind(document.data):
        return edits
    word = draft.value("template")
    if isinstance(word, str):
        draft.replace(("template",), f"{{format: {{kind: {write_scalar(word)}}}}}")
    draft.set(_KIND, document.dialect)
    if _dialect(draft) != document.dialect:
        return ()
    return difference(text, draft.text)


def kept_fixes(document: PromptDocument, problems: Iterable[Problem]) -> list[Problem]:
    """Problems whose fixes keep the dialect; a fix that cannot is not offered."""
    problems = list(problems)
    if not _is_known(document, problems):
        return problems
    known: dict[tuple[TextEdit, ...], tuple[TextEdit, ...]] = {}
    body = len(document.body)
    cost = max(1, body + 10 * (len(document.source) - body))
    found = []
    for problem in problems:
        fixes = []
        for fix in problem.fixes:
            if not _may_change(document, fix.edits):
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


def difference(old: str, new: str) -> tuple[TextEdit, ...]:
    """One edit that makes `new` of `old`, as small as can be; none where they are equal."""
    if old == new:
        return ()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    most = min(len(old), len(new)) - head
    while tail < most and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return (TextEdit(Span(head, len(old) - tail), new[head : len(new) - tail]),)


def _is(one: object, other: object) -> bool:
    return one is other


def _is_known(document: PromptDocument, problems: Iterable[Problem]) -> bool:
    """Whether the front matter says its dialect; otherwise that is known once it is fixed.

    A second `template` beside a misspelled one would be a key too many once both are right.
    """
    return not any(problem.code in _UNREADABLE for problem in document.problems) and not any(
        problem.code == "unknown-key" and edit.text == "template"
        for problem in problems
        for fix in problem.fixes
        for edit in fix.edits
    )


def _may_change(document: PromptDocument, edits: tuple[TextEdit, ...]) -> bool:
    """Whether the dialect hangs on what the edits touch; most edits cost nothing more."""
    if not edits or parser_kind(document.data) == document.dialect:
        return False
    in_front = [edit for edit in edits if edit.span.start < document.body.start]
    if document.front_matter is None:
        in_front = [*edits]
    text = document.source.text
    if any(_DECIDES.search(f"{text[each.span.start : each.span.end]}\n{each.text}")
           for each in in_front):  # fmt: skip
        return True
    if document.front_matter is None or len(in_front) == len(edits):
        return False
    # In the body only constructs of the section dialect count, and those against keys alone.
    return document.dialect != "legacy" and prompty_key(document.data) is not None


def _dialect(draft: ConversionDraft) -> Dialect:
    read = draft.document
    front = draft.text[read.front_matter.start : read.front_matter.end] if read.front_matter else ""
    return decide_dialect(read.data, front, draft.text[read.body.start :])[0]
