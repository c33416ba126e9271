"""Values in a few characters, as completion, hover and the text's margin show them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from studio.application.preview.secrets import mask_secrets
from studio.application.preview.value import Preview
from studio.application.words import marked, tr
from studio.core.prompty.document import EACH
from studio.core.prompty.inputs import InputOrigin, resolve_inputs
from studio.core.prompty.known_fields import Known
from studio.core.text.span import Span
from studio.core.text.values import Json

_ONE_VALUE = re.compile(
    r"\{\{\{?[-+&]?\s*[\w.]+(?:\[[\w\"']+\][\w.]*)*\s*[-+]?\}?\}\}|\{%[-+]?\s*for\b[^|(]*%\}"
)
"""An expression that names one value, and a loop over one."""
_LONGEST = 48
_MOST_ITEMS = 3
_MOST_SHOWN = 500
"""Of a text that are given values; the editor shows one screen of it."""


def short_value(value: Json, longest: int = _LONGEST) -> str:
    """A value in one line: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1] + "…"


_ORIGINS: Mapping[InputOrigin, str] = {"default": marked("default"), "sample": marked("sample")}
"""Words beside a value that the user did not give."""


@dataclass(frozen=True, slots=True)
class InlineValue:
    """What is put in for one expression of a template."""

    expression: Span
    """The whole tag."""

    text: str
    """The value in one line, behind "sample" or "default" where it is one; of a loop, how many
    items it goes through."""


def inline_values(preview: Preview) -> tuple[InlineValue, ...]:
    """Work out what is put in for the expressions of a template, to be shown behind their lines.

    Secrets are hidden, and what a run supplies is left out.

    Returns:
        One for each expression that names one value, in source order.
    """
    document, values = preview.document, preview.newest.inputs
    samples = preview.newest.samples
    origins = resolve_inputs(document, preview.job.inputs).origins
    declared = {item.name for item in document.inputs}
    shown = mask_secrets(
        {name: each for name, each in values.items() if name in declared or name not in samples}
    )
    paths: dict[Span, tuple[str, ...]] = {}
    for variable in document.variables:
        if variable.certain:
            paths.setdefault(variable.expression, (variable.name,))
    for use in document.fields:
        longest = paths.get(use.expression, ())
        if len(use.path) > len(longest):
            paths[use.expression] = use.path
    text = document.source.text
    found = []
    for span in sorted(paths)[:_MOST_SHOWN]:
        written = text[span.start : span.end]
        if paths[span][0] in shown and _ONE_VALUE.fullmatch(written):
            words = _shown_text(paths[span], shown, is_loop=written.startswith("{%"))
            if words:
                origin = _ORIGINS.get(origins.get(paths[span][0], "given"))
                found.append(InlineValue(span, f"{tr(origin)}: {words}" if origin else words))
    return tuple(found)


def _shown_text(path: tuple[str, ...], values: Mapping[str, Json], *, is_loop: bool) -> str:
    known = Known(values=(values[path[0]],))
    for name in path[1:]:
        known = known.at(name)
    if not is_loop:
        return ", ".join(_distinct(known, each=EACH in path))
    first = next(iter(known.values), None)
    if not isinstance(first, list | tuple):
        return ""
    if len(first) == 1:
        return tr("1 item")
    return tr("{count} items").format(count=len(first))


def _distinct(known: Known, *, each: bool) -> list[str]:
    values = known.values[: _MOST_ITEMS + 1] if each else known.values[:1]
    lines = [short_value(value, 24 if each else _LONGEST) for value in values if value != ""]
    return [*lines[:_MOST_ITEMS], "…"] if len(lines) > _MOST_ITEMS else lines
