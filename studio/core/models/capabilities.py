"""Facts about models from data files, servers and users: context windows, abilities, prices.

A price from the table of genai-prices applies to one provider and one model: an id that is not in
the table has no price, never that of a model with a similar id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from studio.core.known_models import model_table
from studio.core.models.base import Capabilities, ModelError, answering_model
from studio.core.models.connections import Connection, ConnectionKind, address_of
from studio.core.models.proxies import transport_to
from studio.core.paths import user_paths
from studio.core.text.files import read_bounded, write_private
from studio.core.text.values import JsonDict, JsonObject, object_of, parse_json
from studio.core.whole_imports import import_whole
from studio.core.wire.reply import ReplyDelta, Usage, UsageDelta

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import ModelInfo, Provider


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
    """Source of the facts, for the user."""


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
        model_id: model id on the server; the part before a slash is the vendor.
        corrections: the user's entries in the connection (fields of `Capabilities`, and
            `price` with `input`, `output` and `cached` dollars for a million tokens).
        listed: the server's description of the model, from its list.
        connection: connection of the model; without one no price is looked up.
        priced: whether to use the table of prices and windows, which is slow to load at its first
            use (`prices.load`).
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
        facts = ModelFacts(able, price, price.source if price is not None else facts.source)
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
"""Name of the trial for each ability."""


def _found(tried: JsonObject) -> JsonDict:
    """Return the results of a trial: abilities that worked or that the server rejected.

    A reply that did not use an ability proves nothing: a small model may just not have chosen it.
    """
    sure = {"yes": True, "refused": False}
    return {
        ability: sure[verdict]
        for name, ability in _TRIED.items()
        if isinstance(verdict := tried.get(name), str) and verdict in sure
    }


def _abilities(listed: JsonObject) -> JsonDict:
    """Read a server's description in the formats of llama.cpp, vLLM, OpenRouter and others.

    Only the abilities that it contains are returned.
    """
    places = (listed, object_of(listed.get("meta")))
    windows = (place.get(key) for place in places for key in (*_WINDOW_KEYS, "n_ctx"))
    window = next((each for each in windows if isinstance(each, int) and each > 0), None)
    abilities: JsonDict = {} if window is None else {"context_window": window}
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


def _abilities_of_ollama(listed: JsonObject) -> JsonDict:
    """Read Ollama's `/api/show`: the model's context window, or the one set in its file."""
    abilities: JsonDict = {}
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
    """Return the entry whose name is the longest prefix of the id that ends at a word's end."""
    name = model_id.rpartition("/")[2].lower()
    fitting = [
        entry
        for entry in model_table()
        if name.startswith(str(entry["prefix"]))
        and not name[len(str(entry["prefix"])) : len(str(entry["prefix"])) + 1].isalnum()
    ]
    return max(fitting, key=lambda entry: len(str(entry["prefix"])), default=None)


def _with(able: Capabilities, said: JsonObject) -> Capabilities:
    """Return abilities with the reported ones added; values of a wrong type are ignored."""
    changes: dict[str, Any] = {}
    for each in fields(Capabilities):
        value = said.get(each.name)
        wanted = int if each.name == "context_window" else bool
        if isinstance(value, wanted) and not (wanted is int and isinstance(value, bool)):
            changes[each.name] = value
    return replace(able, **changes)


# The table of prices and windows: the snapshot in genai-prices, or a newer download.

ADDRESS = (
    "https://raw.githubusercontent.com/pydantic/genai-prices/refs/heads/main/prices/new_data/v2/"
    "data.json"
)
"""Address at which genai-prices publishes its table."""

_MOST_BYTES = 64 * 1024**2
_SECONDS = 30.0


def kept_table() -> Path:
    """Return the path of the table that was downloaded last."""
    return user_paths().cache / "prices.json"


@cache
def price_table() -> DataSnapshot:
    """Return the table; a downloaded one that cannot be read is ignored."""
    import_whole("genai_prices.data_snapshot")
    from genai_prices.data_snapshot import get_snapshot

    try:
        return _read(read_bounded(kept_table()))
    except (OSError, ValueError):
        return get_snapshot()


def is_loaded() -> bool:
    """Return whether prices are loaded, so that a lookup is fast."""
    return price_table.cache_info().currsize > 0


def table_name() -> str:
    """Return the table's name for the user."""
    try:
        fetched = datetime.fromtimestamp(kept_table().stat().st_mtime, UTC)
    except OSError:
        return f"genai-prices {version('genai-prices')}"
    return f"genai-prices of {fetched:%Y-%m-%d}"


async def fetch_prices(address: str = ADDRESS) -> str:
    """Download the newest table, store it, and use it from now on; return its name.

    Raises:
        ModelError: it cannot be downloaded or read; the previous one stays.
    """
    data = await _fetched(address)
    try:
        _read(data)
    except ValueError:
        message = "The download is not a price table."
        raise ModelError("bad-reply", message, "The previous one is used.") from None
    path = kept_table()
    try:
        write_private(path, data)
    except OSError as error:
        message = f"The table of prices cannot be saved: {error.strerror or error}."
        raise ModelError("unwritten", message, f"Make room in {path.parent}.") from None
    price_table.cache_clear()
    price_table()
    return table_name()


async def _fetched(address: str) -> bytes:
    import httpx2

    transport, _ = transport_to(address)
    data = bytearray()
    try:
        async with (
            httpx2.AsyncClient(transport=transport, timeout=_SECONDS) as client,
            client.stream("GET", address) as reply,
        ):
            reply.raise_for_status()
            async for piece in reply.aiter_bytes():
                data += piece
                if len(data) > _MOST_BYTES:
                    raise ModelError("too-large", "The table of prices is too large to be one.")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ModelError(
            "unreachable",
            f"The table of prices cannot be downloaded ({type(error).__name__}).",
            "The existing one is used; try again later.",
        ) from None
    return bytes(data)


def _read(data: bytes) -> DataSnapshot:
    """Read a published file as a table.

    Raises:
        ValueError: the file is no such table.
    """
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import _providers_from_raw  # the package's own parser

    raw = parse_json(data.decode("utf-8"))
    if not isinstance(raw, list) or not raw:
        raise ValueError("a table of prices is a list of providers")
    return DataSnapshot(_providers_from_raw(raw), from_auto_update=True)


_PROVIDERS: Mapping[ConnectionKind, str] = {
    "openai": "openai",
    "azure": "azure",
    "anthropic": "anthropic",
    "gemini": "google",
}
_MAKERS = ("openai", "anthropic", "google", "mistral", "x-ai", "deepseek", "cohere")

_COUNTED: Mapping[str, str] = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "cache_write_1h_tokens": "cache_write_1h_tokens",
    "reasoning_tokens": "output_reasoning_tokens",
    "input_audio_tokens": "input_audio_tokens",
    "output_audio_tokens": "output_audio_tokens",
    "input_image_tokens": "input_image_tokens",
}
"""The studio's usage fields by the names of genai-prices."""


class Price(Protocol):
    """The price of a model's tokens."""

    @property
    def source(self) -> str:
        """Source of the price, for the user."""
        ...

    def of(self, usage: Usage) -> float | None:
        """Return a call's price in US dollars; None if its usage cannot be priced."""
        ...

    def per_million(self) -> tuple[float, float, float | None]:
        """Return the US dollars per million tokens of requests, replies, and cached input."""
        ...


@dataclass(frozen=True, slots=True)
class EnteredPrice:
    """US dollars per million tokens, entered by the user or listed by a server."""

    input: float
    """Price of request tokens."""

    output: float
    """Price of reply tokens."""

    cached: float | None = None
    """Price of request tokens that the provider had cached; None for the price of `input`."""

    source: str = "your corrections"
    """Source of the price."""

    def of(self, usage: Usage) -> float:
        """Return the cost of a call in US dollars."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        cheap = self.input if self.cached is None else self.cached
        return (
            (usage.input_tokens - cached) * self.input
            + cached * cheap
            + usage.output_tokens * self.output
        ) / _MILLION

    def per_million(self) -> tuple[float, float, float | None]:
        """Return the entered prices."""
        return self.input, self.output, self.cached


@dataclass(frozen=True, slots=True)
class ListedPrice:
    """The price of one model of one provider in the snapshot."""

    asked: str
    """The id for which the price was looked up."""

    provider: str
    """The provider to which the price applies."""

    model: str
    """The model's id in the snapshot."""

    @property
    def is_equal(self) -> bool:
        """Whether the ids are equal, rather than one an alias or a dated version of the other."""
        return self.asked.rpartition("/")[2].lower() == self.model.rpartition("/")[2].lower()

    @property
    def source(self) -> str:
        """The provider and model of the price; an id that differs is marked."""
        mark = "" if self.is_equal else f" ≠ {self.asked}"
        return f"genai-prices: {self.provider}/{self.model}{mark}"

    def of(self, usage: Usage) -> float | None:
        """Return the cost of a call in US dollars; None if its usage cannot be priced."""
        from genai_prices import Usage as Counted

        counted = {
            theirs: value for ours, theirs in _COUNTED.items() if (value := getattr(usage, ours))
        }
        try:
            found = price_table().calc(Counted(**counted), self.model, self.provider, None, None)
        except (LookupError, ValueError):  # usage fields that contradict each other
            return None
        return float(found.total_price)

    def per_million(self) -> tuple[float, float, float | None]:
        """Return the prices of small requests; large ones may cost more."""
        ways = ({"input_tokens": 1}, {"output_tokens": 1}, {"input_tokens": 1, "cached_tokens": 1})
        into, out, cached = (
            self.of(Usage(**{k: v * 1000 for k, v in way.items()})) for way in ways
        )
        return (into or 0.0) * 1000, (out or 0.0) * 1000, None if cached is None else cached * 1000


def listed_price(model_id: str, connection: Connection) -> ListedPrice | None:
    """Return the price of a model at a connection; None if it is not known."""
    found = _find(model_id, connection)
    if found is None:
        return None
    provider, model = found
    return ListedPrice(model_id, provider.id, model.id)


def listed_window(model_id: str, connection: Connection | None = None) -> int | None:
    """Return the size of the model's context window in tokens; None if it is not known."""
    found = _find(model_id, connection)
    return found[1].context_window if found is not None else None


def _find(model_id: str, connection: Connection | None) -> tuple[Provider, ModelInfo] | None:
    """Return provider and model of the table; on other servers, by the model's vendor."""
    if not model_id:
        return None
    provider = _PROVIDERS.get(connection.kind) if connection is not None else None
    if provider is not None:
        return _look_up(model_id, provider, None)
    address = address_of(connection) if connection is not None else ""
    if address and (found := _look_up(model_id, None, address)) is not None:
        return found
    maker, _, name = model_id.rpartition("/")
    makers = (maker,) if maker in _MAKERS else () if maker else _MAKERS
    return next((item for each in makers if (item := _look_up(name, each, None))), None)


def _look_up(
    model_id: str, provider: str | None, address: str | None
) -> tuple[Provider, ModelInfo] | None:
    try:
        return price_table().find_provider_model(model_id, None, provider, address)
    except LookupError:
        return None


def priced(delta: ReplyDelta, price: Price | None) -> ReplyDelta:
    """Return usage with its cost added, if the server gives none and the price is known."""
    if price is None or not isinstance(delta, UsageDelta) or delta.usage.cost is not None:
        return delta
    return UsageDelta(replace(delta.usage, cost=price.of(delta.usage)))


def price_source(model: object) -> str:
    """Return the source of a model's price; empty for a free model."""
    model = answering_model(model)
    if not hasattr(model, "price"):
        return ""
    return model.price.source if model.price is not None else "unknown"


def entered_price(value: object) -> EnteredPrice | None:
    """Return the price in a connection's corrections."""
    if not isinstance(value, Mapping):
        return None
    into, out, cached = value.get("input"), value.get("output"), value.get("cached")
    if not isinstance(into, int | float) or not isinstance(out, int | float):
        return None
    return EnteredPrice(
        float(into), float(out), float(cached) if isinstance(cached, int | float) else None
    )
