"""Traces over HTTP: what is sent to the listener is what a file of the same spans gives."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx2
import pytest

from studio.core.masking.masker import Masker
from studio.core.runs.spans import spans_of_text
from studio.core.runs.store import RunStore
from studio.core.text.values import Json, list_of, object_of
from studio.servers.record.otlp_listener import OtlpListener, text_of_protobuf
from studio.servers.record.proxy import MOST_BODY, serving

DATA = Path(__file__).parents[2] / "data" / "traces"
LINES = (DATA / "openllmetry.otlp.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(RunStore(tmp_path / "runs.sqlite")) as one:
        yield one


@asynccontextmanager
async def listening(store: RunStore) -> AsyncIterator[tuple[OtlpListener, httpx2.AsyncClient]]:
    listener = OtlpListener(store, Masker({"KEY": "planted-key-0123456789"}), lambda run: None)
    async with serving(listener, 0) as listener.port:
        address = f"http://127.0.0.1:{listener.port}"
        async with httpx2.AsyncClient(base_url=address) as client:
            yield listener, client


def varint(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def field(number: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def any_value(value: Json) -> bytes:
    (kind, held), *_ = object_of(value).items()
    match kind:
        case "stringValue":
            return field(1, str(held).encode())
        case "boolValue":
            return field(2, int(bool(held)))
        case "intValue":
            return field(3, int(str(held)) % 2**64)
        case "doubleValue":
            return varint(4 << 3 | 1) + struct.pack("<d", held)
        case _:
            parts = (field(1, any_value(each)) for each in list_of(object_of(held)["values"]))
            return field(5, b"".join(parts))


def protobuf(line: str) -> bytes:
    """The same traces as exporters send them."""
    made = b""
    for resource in json.loads(line)["resourceSpans"]:
        keys = b"".join(attribute(each, 1) for each in resource["resource"]["attributes"])
        scopes = b""
        for scoped in resource["scopeSpans"]:
            scopes += field(2, b"".join(field(2, span(each)) for each in scoped["spans"]))
        made += field(1, field(1, keys) + scopes)
    return made


def attribute(value: dict[str, Json], number: int = 9) -> bytes:
    return field(number, field(1, str(value["key"]).encode()) + field(2, any_value(value["value"])))


def span(value: dict[str, Json]) -> bytes:
    made = field(1, bytes.fromhex(str(value["traceId"])))
    made += field(2, bytes.fromhex(str(value["spanId"])))
    made += field(4, bytes.fromhex(str(value.get("parentSpanId", ""))))
    made += field(5, str(value["name"]).encode())
    for number, key in ((7, "startTimeUnixNano"), (8, "endTimeUnixNano")):
        made += varint(number << 3 | 1) + struct.pack("<Q", int(str(value[key])))
    for each in list_of(value.get("attributes")):
        made += attribute(dict(object_of(each)))
    return made + field(15, field(2, b"well"))


@pytest.mark.parametrize("form", ["json", "protobuf", "gzip"])
async def test_a_trace_that_is_sent_is_the_trace_of_the_file(form: str, store: RunStore) -> None:
    kind = "application/json" if form == "json" else "application/x-protobuf"
    headers = {"content-type": kind} | ({"content-encoding": "gzip"} if form == "gzip" else {})
    async with listening(store) as (listener, client):
        for line in LINES:
            body = line.encode() if form == "json" else protobuf(line)
            body = gzip.compress(body) if form == "gzip" else body
            answer = await client.post("/v1/traces", content=body, headers=headers)
            assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert not store.runs()  # the program may send more
        listener.take_ended(everything=True)
    (run,) = store.runs()
    assert (run.answer, run.calls_model, run.calls_tool) == ("Yes, 6 EUR.", 2, 1)
    assert "db lookup" in run.note


@pytest.mark.parametrize("line", LINES)
def test_protobuf_is_read_as_the_same_spans(line: str) -> None:
    (one,), (other,) = (spans_of_text(line), spans_of_text(text_of_protobuf(protobuf(line))))
    assert other == one


async def test_only_programs_of_this_machine_are_heard(store: RunStore) -> None:
    async with listening(store) as (_, client):

        async def status(body: bytes = b"{}", path: str = "/v1/traces", **headers: str) -> int:
            sent = {"content-type": "application/json"} | {
                name.replace("_", "-"): value for name, value in headers.items()
            }
            return (await client.post(path, content=body, headers=sent)).status_code

        assert await status() == 200
        assert await status(origin="http://127.0.0.1") == 403
        assert await status(host="evil.example") == 403
        assert await status(path="/v1/logs") == 404
        assert (await client.get("/v1/traces")).status_code == 404
        assert await status(b"{") == 400
        assert await status(b"\xff") == 400
        assert await status(content_type="text/plain") == 400
        assert await status(content_encoding="br") == 400
        assert await status(content_encoding="gzip") == 400
        assert await status(b"\x0a\xff\x01", content_type="application/x-protobuf") == 400
        deep = b""
        for _ in range(200):
            deep = field(5, field(1, deep))
        deep = field(1, field(2, field(2, field(9, field(2, deep)))))
        assert await status(deep, content_type="application/x-protobuf") == 400
        bomb = gzip.compress(bytes(MOST_BODY + 1))
        assert await status(bomb, content_encoding="gzip") == 413
    assert not store.runs()


async def test_no_key_of_the_environment_is_kept(store: RunStore, tmp_path: Path) -> None:
    async with listening(store) as (listener, client):
        for line in LINES:
            body = line.replace("You sell.", "planted-key-0123456789")
            headers = {"content-type": "application/json"}
            await client.post("/v1/traces", content=body, headers=headers)
        listener.take_ended(everything=True)
    assert store.runs()
    for path in tmp_path.iterdir():
        assert b"planted-key" not in path.read_bytes()
