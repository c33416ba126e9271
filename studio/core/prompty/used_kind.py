"""What kind of value a template takes a variable for, as far as its uses tell."""

from __future__ import annotations

import re
from typing import Literal

from studio.core.prompty.document import PromptDocument, Variable

UsedKind = Literal["string", "object", "array"]

_MEMBER = re.compile(r"\s*(?:\.\s*[A-Za-z_]\w*(?!\w|\s*\()|\[\s*[\"'])")
_ITEM = re.compile(r"\s*(?:\[\s*-?\d|\.\s*\d)")
_LOOP = re.compile(r"\{%[-+]?\s*for\b[^%]*\bin\s+$")
_LIST_FILTER = re.compile(r"\s*\|\s*join\b")


_NEAR = 200
"""Characters beside a use that are looked at: an expression may be as long as the file."""


def used_kinds(document: PromptDocument) -> dict[str, UsedKind]:
    """The kind of each undeclared variable: an object where a member of it is used, and so on."""
    declared = {item.name for item in document.inputs}
    found: dict[str, UsedKind] = {}
    for use in document.variables:
        if use.name not in declared and found.get(use.name) != "object":
            kind = _kind(document.source.text, use)
            if kind == "object" or found.get(use.name, "string") == "string":
                found[use.name] = kind
    return found


def _kind(text: str, use: Variable) -> UsedKind:
    after = text[use.span.end : min(use.expression.end, use.span.end + _NEAR)]
    before = text[max(use.expression.start, use.span.start - _NEAR) : use.span.start]
    if _MEMBER.match(after):
        return "object"
    if _ITEM.match(after) or _LIST_FILTER.match(after) or _LOOP.search(before):
        return "array"
    return "string"
