"""Prompts that exports are tried with, and the way from a file to what would be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio.core.export.target import ExportResult, ExportSource
from studio.core.export.targets import find_target
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import references_beside

Make = Callable[..., ExportResult]

HEAD = """---
name: shop
description: Sells "things".
model:
  id: scripted-1
  provider: openai
  options:
    temperature: 0
    maxOutputTokens: 50
"""

PROMPTS = {
    "jinja": HEAD
    + """inputs:
  who: {kind: string, default: Ada}
  things: {kind: array, items: {kind: string}, default: [tea, "a \\"b\\""]}
  loud: {kind: boolean, default: true}
template:
  format: {kind: jinja2}
  parser: {kind: prompty}
---
system:
Help {{ who }} with {% for t in things %}{{ t }}{% if not loop.last %}, {% endif %}{% endfor %}.
Braces {% raw %}{{ stay }}{% endraw %} and {single} ones; a "quote" and a \\ stroke.

user:
Is {{ who | upper }} here?{% if loud %} Shout!{% endif %}
""",
    "mustache": HEAD
    + """inputs:
  who: {kind: string, default: "Ada & <Bob>"}
  tags: {kind: array, items: {kind: string}, default: [x, y]}
template:
  format: {kind: mustache}
  parser: {kind: prompty}
---
system:
Help {{who}} and {{{who}}}.

user:
{{#tags}}[{{.}}]{{/tags}}{{^none}}!{{/none}}
""",
    "fstring": HEAD
    + """inputs:
  who: {kind: string, default: "A {b}"}
template:
  format: {kind: fstring}
  parser: {kind: section}
---
system:
Help {who}; {{braces}} stay.

user:
Go, {who}
""",
    "plain": HEAD
    + """template:
  format: {kind: jinja2}
  parser: {kind: prompty}
---
system:
No values: {"json": true}.

user:
Go
""",
    "thread": HEAD
    + """inputs:
  who: {kind: string, default: Ada}
  talk:
    kind: thread
    default:
      - {role: user, content: "before {{ x }}"}
      - {role: assistant, content: yes it was}
template:
  format: {kind: jinja2}
  parser: {kind: prompty}
---
system:
Help {{ who }}.

{{ talk }}

user:
And now?
""",
}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write a prompt into the test's folder and export it."""

    def made(
        text: str,
        target: str,
        inputs: Mapping[str, Any] | None = None,
        sets: Mapping[str, Mapping[str, Any]] | None = None,
        **more: Any,
    ) -> ExportResult:
        path = tmp_path / "shop.prompty"
        path.write_text(text, encoding="utf-8")
        form = find_target(target)
        assert form is not None
        references = references_beside(tmp_path / "shop.prompty", trusted=True, masked=True)
        source = ExportSource(parse(text, path), inputs or {}, sets or {}, **more)
        return form.make(replace(source, references=references).for_target(form))

    return made
