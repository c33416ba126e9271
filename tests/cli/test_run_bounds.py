"""Bounds of a run that the command line sets: time, tokens, cost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.agent.loop.setup import limits_of
from studio.core.prompty.parse import parse
from tests.support.chat_server import ChatServer, Exchange, chat_server, chunk, events
from tests.support.hostile_answers import HASTE, HOSTILE_RUNS

PROMPT = "---\nname: p\n---\nuser:\nHello\n"


@pytest.fixture
def server(user_home: Path) -> Iterator[ChatServer]:
    with chat_server() as made:
        config = user_home / "config"
        config.mkdir(parents=True)
        (config / "connections.toml").write_text(
            'default = "Here"\n\n[[connection]]\nname = "Here"\nkind = "compatible"\n'
            f'base_url = "{made.url}"\nmodel = "m"\n',
            encoding="utf-8",
        )
        yield made


def test_a_run_that_never_ends_is_ended(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def drip(exchange: Exchange) -> None:
        await exchange.head(200)
        while True:
            await exchange.event({"choices": [{"index": 0, "delta": {"content": ""}}]})
            await asyncio.sleep(0.01)

    server.always(drip)
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["run", str(path), "--timeout", "0.5", "--json"]) == PROBLEMS
    printed = capsys.readouterr()
    assert "--timeout" in printed.err
    setup = json.loads(printed.out.splitlines()[0])["setup"]
    assert setup["limits"]["seconds"] == 0.5


@pytest.mark.parametrize(
    ("option", "name", "value"),
    [("--max-tokens", "tokens", 500), ("--max-iterations", "iterations", 5)],
)
def test_bounds_come_to_the_run(
    server: ChatServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    option: str,
    name: str,
    value: float,
) -> None:
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    run_command(["run", str(path), option, str(value), "--json"])
    setup = json.loads(capsys.readouterr().out.splitlines()[0])["setup"]
    assert setup["limits"][name] == value
    assert setup["limits"]["seconds"] == 3600, "the other bounds stay as they are"


@pytest.mark.parametrize("option", ["--timeout", "--max-tokens", "--max-cost"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "x"])
def test_a_bound_that_is_none_is_wrong_usage(option: str, value: str, tmp_path: Path) -> None:
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        run_command(["run", str(path), f"{option}={value}"])
    assert left.value.code == USAGE


def test_a_prompt_sets_its_own_bounds() -> None:
    usual = limits_of(parse(PROMPT))
    assert (usual.iterations, usual.tokens, usual.cost, usual.seconds) == (10, 2_000_000, 10, 3600)
    own = "metadata: {agent: {max_tokens: 5, max_cost: 0.5, max_seconds: 7}}\n"
    given = limits_of(parse(PROMPT.replace("name: p\n", f"name: p\n{own}")))
    assert (given.tokens, given.cost, given.seconds) == (5, 0.5, 7)


def test_a_limit_of_cost_needs_a_price(
    server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["run", str(path), "--max-cost", "0.25"]) == PROBLEMS
    assert "the price of m (Here) is not known" in capsys.readouterr().err
    assert server.requests == []


def test_the_end_says_that_a_server_on_this_machine_is_free(
    server: ChatServer, user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3}
    server.always(events([chunk({"content": "Hi"}, "stop"), {"choices": [], "usage": usage}]))
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["run", str(path)]) == FINE
    assert "12 tokens in, 3 out; free" in capsys.readouterr().err


def test_the_end_says_tokens_and_cost_and_whose_price_it_is(
    server: ChatServer, user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0}
    server.always(events([chunk({"content": "Hi"}, "stop"), {"choices": [], "usage": usage}]))
    file = user_home / "config" / "connections.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('"m"', '"gpt-4o-2024-08-06"'), encoding="utf-8")
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["run", str(path)]) == FINE
    told = capsys.readouterr().err
    assert "1,000,000 tokens in, 0 out; $2.5" in told
    assert "genai-prices: openai/gpt-4o ≠ gpt-4o-2024-08-06" in told


@pytest.mark.parametrize("name", HOSTILE_RUNS)
def test_a_run_ends_whatever_the_server_sends(
    server: ChatServer,
    user_home: Path,
    tmp_path: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with (user_home / "config" / "connections.toml").open("a", encoding="utf-8") as file:
        file.write(HASTE)
    server.always(HOSTILE_RUNS[name])
    path = tmp_path / "p.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    assert run_command(["run", str(path)]) in (FINE, PROBLEMS)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    assert "\x1b" not in printed.out + printed.err
