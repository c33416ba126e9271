"""What is known of models, from whom."""

from __future__ import annotations

import pytest

from studio.core.models.base import Capabilities
from studio.core.models.capabilities import EnteredPrice, facts_of
from studio.core.wire.reply import Usage


@pytest.mark.parametrize(
    ("model_id", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini-2024-07-18", 128_000),
        ("gpt-4", 8192),
        ("gpt-4.1-mini", 1_047_576),
        ("openai/gpt-4o", 128_000),
        ("claude-opus-4-5-20251101", 200_000),
        ("GPT-4o", 128_000),
        ("qwen2.5:0.5b", 32_768),
        ("gpt-45", None),
        ("", None),
    ],
)
def test_the_longest_beginning_wins(model_id: str, window: int | None) -> None:
    assert facts_of(model_id).capabilities.context_window == window


def test_what_is_unknown_may_be_sent() -> None:
    facts = facts_of("some-model")
    assert facts.capabilities == Capabilities()
    assert (facts.price, facts.source) == (None, "unknown")


def test_reasoning_models_take_no_stop() -> None:
    assert not facts_of("o4-mini").capabilities.stop
    assert facts_of("gpt-4o").capabilities.stop


def test_the_server_and_the_person_count_more() -> None:
    listed = {"id": "gpt-4o", "max_model_len": 4096}
    assert facts_of("gpt-4o", listed=listed).capabilities.context_window == 4096
    corrections = {"tools": False, "context_window": "big", "vision": 1, "other": True}
    facts = facts_of("gpt-4o", corrections=corrections, listed=listed)
    assert not facts.capabilities.tools
    assert facts.capabilities.vision
    assert facts.capabilities.context_window == 4096
    assert facts.source == "your corrections"


def test_prices() -> None:
    price = EnteredPrice(2.0, 8.0, 0.5)
    assert price.of(Usage(1_000_000, 500_000)) == 6.0
    assert price.of(Usage(1_000_000, 0, cached_tokens=400_000)) == pytest.approx(1.4)
    assert EnteredPrice(2.0, 8.0).of(Usage(1_000_000, 0, 400_000)) == 2.0


def test_the_person_corrects_a_price() -> None:
    facts = facts_of("gpt-4o", corrections={"price": {"input": 1, "output": 2.5}})
    assert facts.price == EnteredPrice(1.0, 2.5)
    assert facts_of("gpt-4o", corrections={"price": {"input": 1}}).price is None
