"""The table of prices: fetched, kept, used from then on; a bad one changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from studio.core.models.base import ModelError
from studio.core.models.capabilities import (
    facts_of,
    fetch_prices,
    kept_table,
    listed_price,
    price_table,
    table_name,
)
from studio.core.models.connections import Connection
from studio.core.wire.reply import Usage

OPENAI = Connection("OpenAI", "openai")
TABLE = [
    {
        "id": "openai",
        "name": "OpenAI",
        "api_pattern": "https://api\\.openai\\.com",
        "models": [
            {
                "id": "gpt-99",
                "match": {"equals": "gpt-99"},
                "context_window": 77_000,
                "prices": {"input_mtok": 3, "output_mtok": 9},
            }
        ],
    }
]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(tmp_path))
    price_table.cache_clear()
    yield
    price_table.cache_clear()


@pytest.fixture
def published() -> Iterator[dict[str, bytes]]:
    """Files by their path, on loopback; `address` names the server."""
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = files.get(self.path)
            self.send_response(200 if found is not None else 404)
            self.end_headers()
            self.wfile.write(found or b"")

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        files["address"] = f"http://127.0.0.1:{server.server_port}".encode()
        yield files
        server.shutdown()
        thread.join()


async def test_a_fetched_table_is_used_at_once_and_after_the_next_start(
    published: dict[str, bytes],
) -> None:
    assert listed_price("gpt-99", OPENAI) is None
    published["/data.json"] = json.dumps(TABLE).encode()
    name = await fetch_prices(published["address"].decode() + "/data.json")
    assert name == table_name()
    assert name.startswith("genai-prices of 20")
    for _ in range(2):
        price = listed_price("gpt-99", OPENAI)
        assert price is not None
        assert price.of(Usage(1_000_000, 1_000_000)) == 12
        assert facts_of("gpt-99", connection=OPENAI).capabilities.context_window == 77_000
        price_table.cache_clear()  # as the next start


@pytest.mark.parametrize("data", [b"", b"<html>", b"{}", b"[]", b"\xff", b'[{"id": 1}]'])
async def test_what_is_no_table_changes_nothing(published: dict[str, bytes], data: bytes) -> None:
    published["/data.json"] = data
    with pytest.raises(ModelError, match="not a price table"):
        await fetch_prices(published["address"].decode() + "/data.json")
    assert not kept_table().exists()
    assert listed_price("gpt-4o", OPENAI) is not None


async def test_a_table_that_cannot_be_fetched_is_said(published: dict[str, bytes]) -> None:
    with pytest.raises(ModelError, match="cannot be downloaded"):
        await fetch_prices(published["address"].decode() + "/gone")


def test_a_kept_table_that_is_broken_is_as_if_there_were_none() -> None:
    kept_table().parent.mkdir(parents=True)
    kept_table().write_text("[{", encoding="utf-8")
    assert listed_price("gpt-4o", OPENAI) is not None


def test_what_a_window_asks_for_does_not_load_the_table() -> None:
    """It takes a quarter of a second, in which nothing is painted."""
    code = """
import sys
from studio.application.preview.requests import preview_target
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connection
from studio.core.models.choice import open_model
from studio.core.prompty.document import ModelDeclaration
choice = ModelChoice(Connection("O", "openai", model="gpt-4o"), ModelDeclaration(id="gpt-4o"), "")
preview_target(choice)
model = open_model(choice)
assert "genai_prices" not in sys.modules
assert model.price is not None
assert "genai_prices" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ), check=False)
    assert done.returncode == 0
