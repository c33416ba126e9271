"""Facts about models: windows, abilities and prices, from a data file, servers and users."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from studio.core.known_models import model_table
from studio.core.models.base import Capabilities
from studio.core.models.connections import Connection
from studio.core.models.prices import (
    EnteredPrice,
    Price,
    entered_price,
    listed_price,
    listed_window,
)
from studio.core.text.values import Json, JsonObject, object_of

_MILLION = 1_000_000
_WINDOW_KEYS = (
    "context_window",
    "context_length",
    "max_model_len",
    "max_context_length",
    "max_input_tokens",
    "inputTokenLimit",
)


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The known facts about one model."""

    capabilities: Capabilities
    """Abilities of the model."""

    price: Price | None = None
    """Price, if it is known."""

    source: str = "unknown"
    """Source of the facts, for people."""


def facts_of(
    model_id: str,
    *,
    corrections: JsonObject | None = None,
    listed: JsonObject | None = None,
    connection: Connection | None = None,
    priced: bool = True,
) -> ModelFacts:
    """Return the known facts about a model.

    Args:
        model_id: id as the server knows it; what stands before a slash is the maker's name.
        corrections: what the user entered in the connection (fields of `Capabilities`, and
            `price` with `input`, `output` and `cached` dollars for a million tokens).
        listed: the server's own description of it, from its list.
        connection: where it answers; without one no price is looked up.
        priced: whether the table of prices and windows is looked into; its first use loads it,
            which takes a moment (`prices.load`).
    """
    found = _entry(model_id)
    facts = (
        ModelFacts(Capabilities())
        if found is None
        else ModelFacts(_with(Capabilities(), found), None, "the studio's table")
    )
    if not priced:
        pass
    elif connection is not None:
        price: Price | None = listed_price(model_id, connection)
        window = listed_window(model_id, connection) or facts.capabilities.context_window
        able = replace(facts.capabilities, context_window=window)
        source = price.source if price is not None else facts.source
        facts = ModelFacts(able, price, source)
    elif facts.capabilities.context_window is None:
        able = replace(facts.capabilities, context_window=listed_window(model_id))
        facts = replace(facts, capabilities=able)
    tried = connection.tried if connection is not None else {}
    if tried.get("model") == model_id and (found := _found(tried)):
        facts = replace(facts, capabilities=_with(facts.capabilities, found), source="its test")
    if listed is not None and (abilities := _abilities(listed)):
        facts = replace(
            facts, capabilities=_with(facts.capabilities, abilities), source="the server"
        )
    if listed is not None and facts.price is None:
        facts = replace(facts, price=_listed_price(listed))
    if corrections:
        able = _with(facts.capabilities, corrections)
        price = entered_price(corrections.get("price")) or facts.price
        facts = replace(facts, capabilities=able, price=price, source="your corrections")
    return facts


_TRIED = {
    "tools": "tools",
    "parallel": "parallel",
    "schema": "json_schema",
    "stop": "stop",
    "vision": "vision",
}
"""Question of a test for each ability."""


def _found(tried: JsonObject) -> dict[str, Json]:
    """Return the results of a test: what worked, and what the server refused.

    An answer that came without it says little: a small model may only not have wanted to.
    """
    sure = {"yes": True, "refused": False}
    return {
        ability: sure[verdict]
        for name, ability in _TRIED.items()
        if isinstance(verdict := tried.get(name), str) and verdict in sure
    }


def _abilities(listed: JsonObject) -> dict[str, Json]:
    """Read a server's description in the words of llama.cpp, vLLM, OpenRouter and others.

    What is not said stays as it is known.
    """
    places = (listed, object_of(listed.get("meta")))
    windows = (place.get(key) for place in places for key in (*_WINDOW_KEYS, "n_ctx"))
    window = next((each for each in windows if isinstance(each, int) and each > 0), None)
    abilities: dict[str, Json] = {} if window is None else {"context_window": window}
    abilities |= _abilities_of_ollama(listed)
    taken = listed.get("supported_parameters")
    if isinstance(taken, list) and taken:
        abilities["tools"] = "tools" in taken
        abilities["stop"] = "stop" in taken
        abilities["json_schema"] = "structured_outputs" in taken or "response_format" in taken
    shape = listed.get("architecture")
    modalities = shape.get("input_modalities") if isinstance(shape, Mapping) else None
    if isinstance(modalities, list) and modalities:
        abilities["vision"] = "image" in modalities
    return abilities


def _abilities_of_ollama(listed: JsonObject) -> dict[str, Json]:
    """Read Ollama's `/api/show`: the window of the model, or the one that its file sets."""
    abilities: dict[str, Json] = {}
    about = listed.get("model_info")
    for key, value in about.items() if isinstance(about, Mapping) else ():
        if key.endswith(".context_length") and isinstance(value, int) and value > 0:
            abilities["context_window"] = value
    parameters = re.search(r"(?m)^num_ctx\s+(\d{1,9})\s*$", str(listed.get("parameters", "")))
    if parameters is not None:
        abilities["context_window"] = int(parameters[1])
    able = listed.get("capabilities")
    if isinstance(able, list) and "completion" in able:
        abilities["tools"], abilities["vision"] = "tools" in able, "vision" in able
    return abilities


def _listed_price(listed: JsonObject) -> EnteredPrice | None:
    """Return the price in a server's description (OpenRouter: dollars per token, as text)."""
    pricing = listed.get("pricing")
    if not isinstance(pricing, Mapping):
        return None
    try:
        into, out = float(str(pricing["prompt"])), float(str(pricing["completion"]))
        cached = pricing.get("input_cache_read")
        read = None if cached is None else float(str(cached)) * _MILLION
    except (KeyError, ValueError):
        return None
    return EnteredPrice(into * _MILLION, out * _MILLION, read, source="the server")


def _entry(model_id: str) -> JsonObject | None:
    """Return the entry with the longest prefix that ends where a word of the id ends."""
    name = model_id.rpartition("/")[2].lower()
    fitting = [
        entry
        for entry in model_table()
        if name.startswith(str(entry["prefix"]))
        and not name[len(str(entry["prefix"])) : len(str(entry["prefix"])) + 1].isalnum()
    ]
    return max(fitting, key=lambda entry: len(str(entry["prefix"])), default=None)


def _with(able: Capabilities, said: JsonObject) -> Capabilities:
    """Add reported capabilities; values of a wrong type are left out."""
    changes: dict[str, Any] = {}
    for each in fields(Capabilities):
        value = said.get(each.name)
        wanted = int if each.name == "context_window" else bool
        if isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
            changes[each.name] = value
    return replace(able, **changes)
