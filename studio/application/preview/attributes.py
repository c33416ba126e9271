"""Where an attribute of a role marker is written."""

from __future__ import annotations

from studio.core.prompty.body.roles import read_marker
from studio.core.prompty.document import PromptDocument
from studio.core.text.span import Span


def attribute_place(document: PromptDocument, marker: Span, name: str) -> Span | None:
    """The value of an attribute; `None` where the marker's line has none of that name."""
    line = document.source.slice(marker)
    read = read_marker(line, document.dialect)
    for item in reversed(read.attributes if read is not None else ()):
        if item.key == name:
            return item.value_span.shift(marker.start)
    return None
