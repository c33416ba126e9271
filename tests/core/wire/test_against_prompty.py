"""Messages and request bodies beside the public prompty package, over all its fixtures.

Every difference stands below by name, with its reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.wire.request import Provider, to_request
from tests.core.wire.vectors import vector_folder

prompty = pytest.importorskip("prompty")

_GIVEN = {
    "conversation": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
    "photo": "https://example.org/photo.png",
    "recording": "data:audio/wav;base64,AAAA",
    "text": "some text",
}

# (fixture, form, key of the body) -> why ours differs.
_DIFFERENCES = {
    ("multimodal", "openai-chat", "messages"): "two rich inputs in one message: prompty expands one"
    " and sends the other's nonce to the model (spec: every occurrence is expanded)",
    ("multimodal", "openai-responses", "input"): "prompty sends its own part objects, which the"
    " responses API does not know",
    ("multimodal", "openai-responses", "instructions"): "the same nonce",
    ("multimodal", "anthropic", "system"): "the same nonce",
    ("multimodal", "anthropic", "messages"): "the same; which of the two inputs prompty expands"
    " changes from run to run",
    ("tools_function", "openai-responses", "tools"): "spec §2.9.1: a bound parameter is never told;"
    " prompty strips it for chat only",
    ("tools_function", "anthropic", "tools"): "the same bound parameter",
}


def _fixtures() -> list[Any]:
    folder = vector_folder() / "fixtures"
    found = sorted(folder.glob("*.prompty"))
    if not found:
        reason = f"no fixtures at {folder}: set PROMPTY_VECTORS to the vectors' folder"
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no-vectors")]
    return [pytest.param(path, id=path.stem) for path in found]


def _both(path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[Any], Prepared]:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    agent = prompty.load(str(path))
    names = {declared.name for declared in agent.inputs or []}
    given = {name: value for name, value in _GIVEN.items() if name in names}
    document = parse(path.read_text(encoding="utf-8"), path)
    ours = prepare(document, given, references=ReferenceContext(folder=path.parent))
    return agent, prompty.prepare(agent, given), ours


@pytest.mark.parametrize("path", _fixtures())
def test_messages_are_promptys(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "multimodal":
        pytest.skip(_DIFFERENCES["multimodal", "openai-chat", "messages"])
    _, theirs, ours = _both(path, monkeypatch)

    assert [(m.role, m.text, dict(m.attributes)) for m in ours.messages.messages] == [
        (m.role, m.text, m.metadata) for m in theirs
    ]


def _theirs(provider: Provider) -> Callable[[Any, list[Any]], dict[str, Any]]:
    from prompty.providers.anthropic import executor as anthropic
    from prompty.providers.openai.executor import OpenAIExecutor

    executor = OpenAIExecutor()
    match provider:
        case "openai-chat":
            return executor._build_chat_args  # type: ignore[no-any-return]
        case "openai-responses":
            return executor._build_responses_args  # type: ignore[no-any-return]
        case "anthropic":
            return anthropic._build_chat_args  # type: ignore[no-any-return]


@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize("path", _fixtures())
def test_request_bodies_are_promptys(
    path: Path, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, messages, ours = _both(path, monkeypatch)
    theirs = _theirs(provider)(agent, messages)
    body = to_request(
        ours.messages.messages,
        ours.document.tools,
        replace(ours.document.model, api_type="chat"),
        provider=provider,
        outputs=ours.document.outputs,
    ).body

    differing = {key for key in theirs.keys() | body.keys() if theirs.get(key) != body.get(key)}
    named = {key for fixture, form, key in _DIFFERENCES if (fixture, form) == (path.stem, provider)}
    assert differing <= named
    assert bool(differing) == bool(named), "a difference that is gone must not stay listed"
    assert not re.search(r"__PROMPTY_THREAD_", str(body))
