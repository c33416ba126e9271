from __future__ import annotations

import pytest

from studio.core.prompty.parse import parse


@pytest.mark.parametrize(
    "name",
    [
        "gpt-5.1-mini",
        "gpt-5-mini-2025-08-07",
        "gpt-5-pro",
        "gpt-7-mini",
        "o5-mini",
        "mixtral",
        "gpt-5-codex",
        "claude-fable-5",
        "claude-haiku-4-6",
        "claude-3-5-sonnet-latest",
        "llava3.1",
        "my-gpt-5-mini",
        "gpt-35-turbo",
        "openai/gpt-5-mini",
        "gemini-3-flash",
        "deepseek-coder",
        "grok-4-fast",
        "ft:gpt-4o-mini:me",
        "qwen3",
        "gemma-3",
        "phi-4",
        "${env:MODEL}",
        "gpt-4",
        "mistral-medium",
        "o1-preview",
        "gpt-4o-audio",
        "gpt-image-1",
    ],
)
def test_other_models_are_no_slips(name: str) -> None:
    document = parse(f"---\nmodel: {name}\n---\nuser:\nHi\n")
    assert "near-model" not in {each.code for each in document.problems}


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gtp-4o", "gpt-4o"),
        ("claude-sonet-4-5", "claude-sonnet-4-5"),
        ("gpt-4o-mimi", "gpt-4o-mini"),
    ],
)
def test_a_slip_names_the_model(name: str, meant: str) -> None:
    (problem,) = parse(f"---\nmodel:\n  id: {name}\n---\nuser:\nHi\n").problems
    assert f"did you mean {meant!r}?" in problem.message


def test_a_deployment_of_azure_may_have_any_name() -> None:
    text = "---\nmodel:\n  id: gpt-5-minni\n  provider: {}\n---\nuser:\nHi\n"
    assert not parse(text.format("azure")).problems
    assert parse(text.format("openai")).problems
