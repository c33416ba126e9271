"""What is known of models: windows, abilities and prices, from a data file, servers and people."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from studio.core.models.base import Capabilities
from studio.core.resource_files import resource
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import Usage

_WINDOW_KEYS = ("context_window", "context_length", "max_model_len", "max_context_length")
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: float
    """Of the request."""

    output: float
    """Of the reply."""

    cached: float | None = None
    """Of the request, where the provider had it in its cache; `None`: as `input`."""

    def of(self, usage: Usage) -> float:
        """What a call cost."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cheap = self.input if self.cached is None else self.cached
        return (
            (usage.input_tokens - cached) * self.input
            + cached * cheap
            + usage.output_tokens * self.output
        ) / _MILLION


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known of one model."""

    capabilities: Capabilities
    """What may be sent to it."""

    price: Price | None = None
    """Where it is known."""

    source: str = "unknown"
    """Where the facts come from, for people."""


def facts_of(
    model_id: str, *, corrections: JsonObject | None = None, listed: JsonObject | None = None
) -> ModelFacts:
    """What is known of a model.

    Args:
        model_id: id as the server knows it; what stands before a slash is the maker's name.
        corrections: what the person entered in the connection (fields of `Capabilities`, and
            `price` with `input`, `output` and `cached` dollars for a million tokens).
        listed: the server's own description of it, from its list.
    """
    found = _entry(model_id)
    facts = (
        ModelFacts(Capabilities())
        if found is None
        else ModelFacts(
            _with(Capabilities(), found), _price(found.get("price")), "the studio's table"
        )
    )
    if listed is not None:
        window = next((listed[key] for key in _WINDOW_KEYS if isinstance(listed.get(key), int)), 0)
        if isinstance(window, int) and window > 0:
            able = replace(facts.capabilities, context_window=window)
            facts = replace(facts, capabilities=able, source="the server")
    if corrections:
        able = _with(facts.capabilities, corrections)
        price = _price(corrections.get("price")) or facts.price
        facts = replace(facts, capabilities=able, price=price, source="your corrections")
    return facts


def _entry(model_id: str) -> JsonObject | None:
    """The entry with the longest prefix that ends where a word of the id ends."""
    name = model_id.rpartition("/")[2].lower()
    fitting = [
        entry
        for entry in _table()
        if name.startswith(str(entry["prefix"]))
        and not name[len(str(entry["prefix"])) : len(str(entry["prefix"])) + 1].isalnum()
    ]
    return max(fitting, key=lambda entry: len(str(entry["prefix"])), default=None)


def known_models() -> tuple[tuple[str, int], ...]:
    """Names that model ids begin with, and their context window; 0 where it is not known."""
    found = []
    for entry in _table():
        window = entry.get("context_window")
        found.append((str(entry["prefix"]), window if isinstance(window, int) else 0))
    return tuple(found)


@cache
def _table() -> tuple[JsonObject, ...]:
    data = json.loads(resource("models", "models.json").read_text(encoding="utf-8"))
    return tuple(data["models"])


def _with(able: Capabilities, said: JsonObject) -> Capabilities:
    """Capabilities with what is said of them; values of a wrong type are left out."""
    changes: dict[str, Any] = {}
    for each in fields(Capabilities):
        value = said.get(each.name)
        wanted = int if each.name == "context_window" else bool
        if isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
            changes[each.name] = value
    return replace(able, **changes)


def _price(value: Json) -> Price | None:
    if not isinstance(value, Mapping):
        return None
    into, out, cached = value.get("input"), value.get("output"), value.get("cached")
    if not isinstance(into, int | float) or not isinstance(out, int | float):
        return None
    return Price(
        float(into), float(out), float(cached) if isinstance(cached, int | float) else None
    )
