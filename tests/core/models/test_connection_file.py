"""The file of connections keeps everything but keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.models.connections import (
    EMBEDDED,
    PRESETS,
    Connection,
    Connections,
    read_connections,
    write_connections,
)

FULL = Connection(
    'Büro: "Server" 1',
    "compatible",
    model="m-1",
    base_url="http://10.0.0.7:8000/v1",
    key="${env:OFFICE_KEY}",
    api="responses",
    headers={"X-Team": "prompts"},
    settings={"context": 4096, "list": [1, "two"], "nothing": None},
    capabilities={"tools": False, "context_window": 8192},
    first_byte_seconds=300.0,
    stall_seconds=12.5,
    retries=0,
    call_seconds=90.0,
    reply_megabytes=8.0,
    event_megabytes=0.5,
    error_kilobytes=32.0,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "connections.toml"


def test_what_is_written_is_read_again(path: Path) -> None:
    presets = [preset.connection for preset in PRESETS]
    kept = Connections((*presets, FULL), FULL.name, ("https://example.org",))
    write_connections(path, kept)
    read = read_connections(path)
    assert read.problems == ()
    assert read.connections[:-1] == tuple(presets)
    last = read.connections[-1]
    assert last.settings == {"context": 4096, "list": [1, "two"]}
    assert last.capabilities == FULL.capabilities
    assert (last.name, last.first_byte_seconds, last.retries) == (FULL.name, 300.0, 0)
    assert read.default_connection.name == FULL.name
    assert read.trusted == ("https://example.org",)


def test_without_a_file_there_is_the_embedded_model(path: Path) -> None:
    read = read_connections(path)
    assert read.connections == (EMBEDDED,)
    assert read.default_connection is EMBEDDED
    assert read.problems == ()


@pytest.mark.parametrize("key", ["sk-live-1234567890", "${env:}", "${file:key.txt}", "keyring "])
def test_a_key_is_never_written(path: Path, key: str) -> None:
    write_connections(path, Connections())
    before = path.read_bytes()
    with pytest.raises(ValueError, match="contains a key") as caught:
        write_connections(path, Connections((Connection("X", "openai", key=key),)))
    assert key.strip() not in str(caught.value)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("header", ["Authorization", "API-Key", "x-api-key", "Cookie"])
def test_a_secret_header_is_never_written(path: Path, header: str) -> None:
    connection = Connection("X", "compatible", headers={header: "secret"})
    with pytest.raises(ValueError, match="secret header"):
        write_connections(path, Connections((connection,)))
    assert not path.exists()


def test_a_password_in_an_address_is_never_written(path: Path) -> None:
    connection = Connection("X", "compatible", base_url="https://me:secret@host/v1")
    with pytest.raises(ValueError, match="password in its address") as caught:
        write_connections(path, Connections((connection,)))
    assert "secret" not in str(caught.value)


def test_a_bad_entry_costs_only_itself(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(
        """
        default = "gone"
        [[connection]]
        kind = "openai"
        [[connection]]
        name = "Strange"
        kind = "teleport"
        [[connection]]
        name = "Typed wrong"
        kind = "openai"
        retries = "many"
        [[connection]]
        name = "Holds a key"
        kind = "openai"
        key = "sk-live-should-not-be-here"
        [[connection]]
        name = "Good"
        kind = "openai"
        future_field = 1
        [[connection]]
        name = "Good"
        kind = "azure"
        """,
        encoding="utf-8",
    )
    read = read_connections(path)
    assert [each.name for each in read.connections] == [EMBEDDED.name, "Good"]
    assert len(read.problems) == 5
    assert "sk-live" not in " ".join(read.problems)
    assert read.default == EMBEDDED.name


@pytest.mark.parametrize("junk", [b"\xff\xfe", b"[[connection", b"connection = 3\ntrusted = 'x'"])
def test_any_bytes_are_read(path: Path, junk: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(junk)
    read = read_connections(path)
    assert EMBEDDED in read.connections
    assert bool(read.problems) or b"= 3" in junk


def test_presets_are_complete() -> None:
    assert len({preset.id for preset in PRESETS}) == len(PRESETS)
    assert len({preset.connection.name for preset in PRESETS}) == len(PRESETS)


def test_bounds_are_numbers_above_zero(path: Path) -> None:
    path.parent.mkdir(parents=True)
    head = '[[connection]]\nname = "%s"\nkind = "compatible"\n'
    wrong = [
        "reply_megabytes = 0",
        "call_seconds = -1.5",
        "event_megabytes = nan",
        'error_kilobytes = "many"',
        "retries = 1.5",
        "retries = -1",
        "stall_seconds = inf",
        "first_byte_seconds = 1" + "0" * 400,
        "settings = { context = 1" + "0" * 30 + " }",
        "capabilities = { price = { input = nan, output = 1 } }",
    ]
    text = "".join(head % f"c{n}" + line + "\n" for n, line in enumerate(wrong))
    path.write_text(text + head % "good" + "reply_megabytes = 1\nretries = 5\n", encoding="utf-8")
    read = read_connections(path)
    good = read.named("good")
    assert good is not None
    assert (good.reply_megabytes, good.retries) == (1, 5)
    assert len(read.connections) == 2
    assert all(line.split()[0] in told for line, told in zip(wrong, read.problems, strict=True))


@pytest.mark.parametrize(
    "broken", ['[[connection]]\nname = "far"\nki', "[[connection]]\nname = 3\n"]
)
def test_a_file_that_cannot_be_read_is_kept_when_connections_are_written(
    tmp_path: Path, broken: str
) -> None:
    path = tmp_path / "connections.toml"
    made = Connection("near", "compatible", model="m", base_url="http://127.0.0.1:9")
    for name in ("connections.broken.toml", "connections.broken1.toml"):
        path.write_text(broken, encoding="utf-8")
        write_connections(path, Connections((made,)))
        assert read_connections(path).named("near") == made
        assert (tmp_path / name).read_text(encoding="utf-8") == broken
    write_connections(path, Connections((made,)))
    assert len(list(tmp_path.iterdir())) == 3
