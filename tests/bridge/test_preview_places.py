from __future__ import annotations

import pytest

from studio.bridge.preview_build import PreviewOrder, build_preview
from studio.bridge.preview_places import place_of
from studio.bridge.preview_value import PROVIDERS
from studio.core.prompty.parse import parse
from studio.core.wire.request import Provider

DOC = """---
model: {id: gpt-4o}
template:
  parser: {kind: section}
tools:
  - name: search
    kind: function
    description: Looks it up
---
system:
You know "{{ city }}" 🙂 well.

user:
same

assistant:
other

user:
same
"""


def found(provider: Provider, needle: str, nth: int = 0, into: int = 0) -> str:
    preview = build_preview(PreviewOrder(parse(DOC), {"city": "Lis\nbon"}))
    request = preview.requests[provider]
    at = -1
    for _ in range(nth + 1):
        at = request.text.index(needle, at + 1)
    span = place_of(preview, request, at + into)
    return "" if span is None else f"{span.start}:{DOC[span.start : span.end]}"


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_values_lead_to_their_source_in_every_shape(provider: Provider) -> None:
    expression = DOC.index("{{ city }}")
    assert found(provider, "Lis\\nbon", into=6) == f"{expression}:{{{{ city }}}}"
    assert found(provider, "well") == f"{DOC.index('well')}:"
    first, last = DOC.index("same"), DOC.rindex("same")
    assert found(provider, '"same"', 0, 1) == f"{first}:"
    assert found(provider, '"same"', 1, 1) == f"{last}:"
    assert "name: search" in found(provider, '"Looks it up"', into=3)
    assert "gpt-4o" in found(provider, '"gpt-4o"', into=1)


def test_keys_and_gaps_lead_nowhere() -> None:
    assert found("openai-chat", '"messages"', into=2) == ""
    assert found("openai-chat", "{") == ""


def test_a_masked_secret_leads_to_the_whole_text() -> None:
    text = "system:\nUse sk-abcdefghijklmnopqrstuvwx now.\n"
    preview = build_preview(PreviewOrder(parse(text)))
    request = preview.requests["openai-chat"]
    span = place_of(preview, request, request.text.index("now"))
    assert span is not None
    assert "sk-abc" in text[span.start : span.end]
