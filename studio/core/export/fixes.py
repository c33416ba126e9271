"""Fixes for what stands in the way of an export, beside those that checks bring along."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeAlias

from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.edit.edits import set_value
from studio.core.text.problem import Fix, Problem, TextEdit

Edits: TypeAlias = tuple[TextEdit, ...]


def with_fixes(problems: Iterable[Problem], document: PromptDocument) -> tuple[Problem, ...]:
    """The problems, with a fix where the document itself shows the way."""
    return tuple(
        replace(problem, fixes=(*problem.fixes, *_fixes(problem, document))) for problem in problems
    )


def _fixes(problem: Problem, document: PromptDocument) -> Iterator[Fix]:
    if problem.code != "missing-input":
        return
    for index, item in enumerate(document.inputs):
        if item.has_sample and problem.span in (item.name_span, item.span):
            edits = _default(document, item, index)
            if edits:
                yield Fix(f"Make the sample of {item.name!r} its default", edits)


def _default(document: PromptDocument, item: InputDeclaration, index: int) -> Edits:
    written = json.dumps(item.sample, ensure_ascii=False)
    if isinstance(document.data.get("inputs"), list):
        return set_value(document, ("inputs", index, "default"), written)
    return set_value(document, ("inputs", item.name, "default"), written)
