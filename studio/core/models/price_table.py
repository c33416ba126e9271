"""The table of prices and windows: genai-prices' own snapshot, or a newer one that was fetched.

Loading it takes a quarter of a second, so that no thread that paints may be the first to ask.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.models.base import ModelError
from studio.core.models.proxies import transport_to
from studio.core.paths import user_paths
from studio.core.text.atomic_file import write_private
from studio.core.text.bounded_file import read_bounded
from studio.core.text.foreign_json import parse_json
from studio.core.whole_imports import import_whole

if TYPE_CHECKING:
    from genai_prices.data_snapshot import DataSnapshot

ADDRESS = (
    "https://raw.githubusercontent.com/pydantic/genai-prices/refs/heads/main/prices/new_data/v2/"
    "data.json"
)
"""Where genai-prices publishes its table, each change at once."""

_MOST_BYTES = 64 * 1024**2
_SECONDS = 30.0


def kept_table() -> Path:
    """The file of the table that was fetched last."""
    return user_paths().cache / "prices.json"


@cache
def price_table() -> DataSnapshot:
    """The table; a fetched one that cannot be read is as if there were none."""
    import_whole("genai_prices.data_snapshot")
    from genai_prices.data_snapshot import get_snapshot

    try:
        return _read(read_bounded(kept_table()))
    except (OSError, ValueError):
        return get_snapshot()


def is_loaded() -> bool:
    """Whether asking for a price takes no time any more."""
    return price_table.cache_info().currsize > 0


def table_name() -> str:
    """Which table it is, for people."""
    try:
        fetched = datetime.fromtimestamp(kept_table().stat().st_mtime, UTC)
    except OSError:
        return f"genai-prices {version('genai-prices')}"
    return f"genai-prices of {fetched:%Y-%m-%d}"


async def fetch_prices(address: str = ADDRESS) -> str:
    """Fetch the newest table, keep it, and use it from now on; gives its name.

    Raises:
        ModelError: it cannot be fetched or read; the one before stays.
    """
    data = await _fetched(address)
    try:
        _read(data)
    except ValueError:
        message = "What came is not a table of prices."
        raise ModelError("bad-reply", message, "The one before is used.") from None
    path = kept_table()
    try:
        write_private(path, data)
    except OSError as error:
        message = f"The table of prices cannot be kept: {error.strerror or error}."
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
            f"The table of prices cannot be fetched ({type(error).__name__}).",
            "The one that is here is used; try again later.",
        ) from None
    return bytes(data)


def _read(data: bytes) -> DataSnapshot:
    """The table of a published file.

    Raises:
        ValueError: it is none.
    """
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import _providers_from_raw  # its own way from a file to a table

    raw = parse_json(data.decode("utf-8"))
    if not isinstance(raw, list) or not raw:
        raise ValueError("a table of prices is a list of providers")
    return DataSnapshot(_providers_from_raw(raw), from_auto_update=True)
