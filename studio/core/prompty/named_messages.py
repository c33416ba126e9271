"""Names for the messages that a template writes: `user 2` is the second section of that role."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from studio.core.prompty.document import BodySection, PromptDocument
from studio.core.prompty.messages import Role


def named_messages(document: PromptDocument) -> Iterator[tuple[str, BodySection]]:
    """The sections with a role of their own, in order, each with its name."""
    counts: Counter[str] = Counter()
    for section in document.sections:
        if section.marker is not None and section.role in get_args(Role):
            counts[section.role] += 1
            yield f"{section.role} {counts[section.role]}", section
