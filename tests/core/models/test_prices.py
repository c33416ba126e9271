"""Prices: whose they are, what they count, and what is unknown; genai-prices is the judge."""

from __future__ import annotations

from decimal import Decimal

import pytest
from genai_prices import Usage as Counted
from genai_prices import calc_price

from studio.core.models.capabilities import (
    EnteredPrice,
    ListedPrice,
    facts_of,
    listed_price,
    listed_window,
)
from studio.core.models.connections import Connection
from studio.core.wire.reply import Usage, read_usage

OPENAI = Connection("OpenAI", "openai")
CLAUDE = Connection("Claude", "anthropic")
LOCAL = Connection("Local", "compatible", base_url="http://localhost:11434/v1")
ROUTER = Connection("Router", "compatible", base_url="https://openrouter.ai/api/v1")


@pytest.mark.parametrize(
    ("model", "connection", "found"),
    [
        ("gpt-5.5", OPENAI, "openai/gpt-5.5"),
        ("gpt-5.4-mini", OPENAI, "openai/gpt-5.4-mini"),
        ("claude-opus-4-7", CLAUDE, "anthropic/claude-opus-4-7"),
        ("openai/gpt-4o", ROUTER, "openrouter/openai/gpt-4o"),
        ("openai/gpt-4o", LOCAL, "openai/gpt-4o"),
        ("gpt-4o-mini-2024-07-18", OPENAI, "openai/gpt-4o-mini ≠ gpt-4o-mini-2024-07-18"),
        ("gpt-45", OPENAI, None),
        ("gpt-5.99-turbo", OPENAI, None),
        ("claude-opus-4-7", OPENAI, None),
        ("scripted-1", LOCAL, None),
        ("", OPENAI, None),
    ],
)
def test_a_price_is_that_of_the_very_model(
    model: str, connection: Connection, found: str | None
) -> None:
    price = listed_price(model, connection)
    assert (price.source if price is not None else None) == (found and f"genai-prices: {found}")


RECORDED = [
    {"prompt_tokens": 1000, "completion_tokens": 50},
    {
        "prompt_tokens": 5000,
        "completion_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 4000},
        "completion_tokens_details": {"reasoning_tokens": 8},
    },
    {
        "input_tokens": 5000,
        "output_tokens": 10,
        "input_tokens_details": {"cached_tokens": 1024, "cache_write_tokens": 3207},
    },
    {"input_tokens": 300_000, "output_tokens": 10},
]
KEYS = {
    "prompt_tokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "cached_tokens": "cache_read_tokens",
    "reasoning_tokens": "output_reasoning_tokens",
}


@pytest.mark.parametrize("model", ["gpt-5.5", "gpt-4o", "gpt-5.4-mini"])
@pytest.mark.parametrize("figures", RECORDED)
def test_the_cost_is_what_the_kept_table_of_prices_says(model: str, figures: dict) -> None:
    flat: dict[str, int] = {}
    for key, value in figures.items():
        flat |= value if isinstance(value, dict) else {key: value}
    wanted = calc_price(
        Counted(**{KEYS.get(key, key): value for key, value in flat.items()}),
        model,
        provider_id="openai",
    )
    usage, price = read_usage(figures), listed_price(model, OPENAI)
    assert usage is not None
    assert price is not None
    assert price.of(usage) == pytest.approx(float(wanted.total_price))


def test_what_is_written_to_a_cache_costs_what_anthropic_says() -> None:
    figures = {
        "input_tokens": 100,
        "output_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_1h_input_tokens": 100, "ephemeral_5m_input_tokens": 200},
        "output_tokens_details": {"thinking_tokens": 4},
    }
    usage = read_usage(figures)
    assert usage == Usage(
        600, 10, 200, cache_write_tokens=300, cache_write_1h_tokens=100, reasoning_tokens=4
    )
    price = listed_price("claude-opus-4-7", CLAUDE)
    assert price is not None
    # 5, 25, 0.50 for reading, 6.25 and 10 for writing five minutes and an hour (per million).
    spent = Decimal("5") * 100 + Decimal("25") * 10 + Decimal("0.5") * 200
    spent += Decimal("6.25") * 200 + Decimal("10") * 100
    assert price.of(usage) == pytest.approx(float(spent) / 1e6)


def test_audio_and_images_are_counted_apart() -> None:
    usage = read_usage(
        {
            "prompt_tokens": 30,
            "completion_tokens": 9,
            "prompt_tokens_details": {"audio_tokens": 10, "image_tokens": 5},
            "completion_tokens_details": {"audio_tokens": 7},
        }
    )
    assert usage is not None
    assert (usage.input_audio_tokens, usage.input_image_tokens, usage.output_audio_tokens) == (
        10,
        5,
        7,
    )


def test_figures_that_contradict_each_other_have_no_price() -> None:
    assert ListedPrice("gpt-5.5", "openai", "gpt-5.5").of(Usage(10, 1, 20)) is None


def test_an_entered_price_counts_more_and_a_listed_one_is_taken_from_the_server() -> None:
    entered = facts_of(
        "gpt-5.5", corrections={"price": {"input": 1, "output": 2}}, connection=OPENAI
    )
    assert entered.price == EnteredPrice(1.0, 2.0)
    listed = {
        "id": "a/b",
        "pricing": {"prompt": "0.000001", "completion": "0.000002"},
        "supported_parameters": ["tools"],
        "architecture": {"input_modalities": ["image"]},
        "context_length": 4096,
    }
    facts = facts_of("a/b", listed=listed, connection=ROUTER)
    assert facts.price is not None
    assert facts.price.per_million()[:2] == (1.0, 2.0)
    able = facts.capabilities
    assert (able.tools, able.stop, able.vision, able.context_window) == (True, False, True, 4096)
    assert facts_of("m", listed={"meta": {"n_ctx": 2048}}).capabilities.context_window == 2048


def test_windows_of_exact_ids() -> None:
    assert listed_window("gpt-4o", OPENAI) == 128_000
    assert listed_window("gpt-45", OPENAI) is None
    assert facts_of("gpt-5.5", connection=OPENAI).capabilities.context_window == 1_000_000
