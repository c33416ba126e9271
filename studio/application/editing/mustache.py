"""What can stand at the caret between the braces of Mustache."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from studio.core.prompty.document import EACH, PromptDocument
from studio.core.prompty.known_fields import Known, known_at
from studio.core.text.values import Json

_SECTION = re.compile(r"\{\{[ ]*(?P<sign>[#^/])[ ]*(?P<name>[\w.]+|\.)[ ]*\}\}")

Contexts = tuple[Known, ...]
"""What is known of the values of the open sections, the innermost first."""


def open_sections(text: str) -> tuple[str, ...]:
    """Names of the sections that are open at the end of a text, the innermost last."""
    found: list[str] = []
    for each in _SECTION.finditer(text):
        if each["sign"] != "/":
            found.append(f"{each['sign']}{each['name']}")
        elif found and found[-1][1:] == each["name"]:
            found.pop()
    return tuple(found)


def contexts_at(
    text: str, document: PromptDocument, given: Sequence[Mapping[str, Json]]
) -> Contexts:
    """What is known in each open section: of its items where its value is a list."""
    found: list[Known] = []
    for section in open_sections(text):
        if section[0] == "^" or section[1:] == ".":
            continue
        known = looked_up(section[1:].split("."), tuple(found), document, given)
        is_list = any(isinstance(each, list) for each in known.values) or any(
            each.kind == "array" for each in known.declared
        )
        found.insert(0, known.at(EACH) if is_list else known)
    return tuple(found)


def looked_up(
    names: Sequence[str],
    contexts: Contexts,
    document: PromptDocument,
    given: Sequence[Mapping[str, Json]],
) -> Known:
    """What is known of dotted names: the innermost section that has the first one says it."""
    root, *rest = names
    known = next((each.at(root) for each in contexts if root in each.fields), None)
    if known is None:
        known = known_at(document, (root,), given)
    for name in rest:
        known = known.at(name)
    return known
