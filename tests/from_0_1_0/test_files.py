"""Settings, connections, trust and the other files of 0.1.0 say the same as they did."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.inputs.sets import read_sets
from studio.application.run.debugging.console import DebugStore
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.step import PausePoint
from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.connections import read_connections, write_connections
from studio.core.models.scripted import ReplayModel, ScriptedTurn, read_script
from studio.core.paths import user_paths
from studio.core.prompty.document import Message, TextPart, ToolId
from studio.core.settings import (
    OpenFile,
    Session,
    Settings,
    load_session,
    load_settings,
    save_settings,
)
from studio.core.tools.mcp.server_config import HttpServer, StdioServer, find_own_servers
from studio.core.tools.trust.store import WHOLE_FOLDER, TrustStore
from studio.viewmodels.document.swap import SwapFolder
from tests.from_0_1_0.conftest import AT_HOME

PROMPTS = Path(AT_HOME) / "prompts"
SETTINGS = Settings(
    theme="dark",
    interface_font_size=11.5,
    editor_font_size=13.0,
    word_wrap=False,
    show_whitespace=True,
    history_keep=200,
    history_days=90,
    spelling="en_US",
    own_words=("Prompty", "naïve"),
    workspace=f"{AT_HOME}/prompts",
    recent=tuple(f"{AT_HOME}/prompts/{name}.prompty" for name in ("chat", "react", "trip")),
    shortcuts={
        "file.new": "Ctrl+Alt+Q",
        "run.step": "Ctrl+F10",
        "run.stop": "",
        "edit.format": "Ctrl+Shift+T",
    },
)


def test_settings(old_home: Path, tmp_path: Path) -> None:
    settings, fault = load_settings(old_home / "config" / "settings.toml")
    assert fault is None
    assert settings == SETTINGS
    save_settings(tmp_path / "settings.toml", settings)
    assert load_settings(tmp_path / "settings.toml") == (settings, None)


def test_connections(old_home: Path, tmp_path: Path) -> None:
    read = read_connections(old_home / "config" / "connections.toml")
    assert not read.problems
    assert read.default == "Home server"
    assert read.trusted == ("https://ada.openai.azure.com", "http://localhost:11434")
    assert [each.name for each in read.connections] == [
        "Embedded model",
        "Work",
        "Azure",
        "Claude",
        "Gemini",
        "Home server",
        "Script",
        "By hand",
        "Recorded",
    ]
    work, azure, home = (read.named(name) for name in ("Work", "Azure", "Home server"))
    assert work is not None
    assert (work.model, work.key, work.api) == ("gpt-4o-mini", "${env:WORK_KEY}", "responses")
    assert (work.retries, work.first_byte_seconds, work.stall_seconds) == (5, 30.0, 60.0)
    assert work.headers == {"X-Team": "prompts"}
    assert azure is not None
    assert (azure.key, azure.api_version) == ("keyring", "2024-10-21")
    assert azure.base_url == "https://ada.openai.azure.com"
    assert home is not None
    assert home.base_url == "http://localhost:11434/v1"
    assert home.stall_seconds == 90.5
    assert home.capabilities == {"tools": False, "context_window": 8192}
    script, recorded = read.named("Script"), read.named("Recorded")
    assert script is not None
    assert script.settings == {"script": "replies.json"}
    assert recorded is not None
    assert recorded.settings == {"recording": "calls.jsonl", "through": "Home server"}
    write_connections(tmp_path / "connections.toml", read)
    assert read_connections(tmp_path / "connections.toml") == read


def test_trust(old_home: Path) -> None:
    store = TrustStore(old_home / "data" / "trust.json")
    trust = store.current
    assert trust.folders == {
        Path(AT_HOME) / name for name in ("home/data/examples", "prompts", "shared")
    }
    assert dict(trust.approvals) == {
        f"{AT_HOME}/prompts": {ToolId("*", "lookup"): "allow", WHOLE_FOLDER: "once"},
        f"{AT_HOME}/shared": {ToolId("*", "delete"): "always"},
    }
    store.trust(old_home)  # what was there stays beside what is new
    assert store.current.folders == {*trust.folders, old_home.resolve()}
    assert store.current.approvals == trust.approvals


def test_own_servers(old_home: Path) -> None:
    found = find_own_servers(old_home / "config" / "mcp.json")
    assert not found.problem
    files, search = found.servers["files"], found.servers["search"]
    assert isinstance(files, StdioServer)
    assert (files.command, files.arguments) == ("files-server", ("--read-only",))
    assert files.environment == {"LEVEL": "${env:LEVEL:1}"}
    assert search == HttpServer("https://search.example/mcp", {"X-Team": "prompts"})


def test_breakpoints_and_watches(old_home: Path) -> None:
    held = DebugStore(old_home / "data" / "debugging.json").of(str(PROMPTS / "react.prompty"))
    request, reply, call, result, end, answer, error = PausePoint
    assert held.breakpoints.breakpoints == (
        Breakpoint("b1", frozenset({request})),
        Breakpoint("b2", frozenset({call, result}), "lookup", "iteration > 1", ">=2"),
        Breakpoint(
            "b3", frozenset({reply, end, answer, error}), log="{iteration}: {reply}", enabled=False
        ),
        Breakpoint("b4", frozenset({request}), message="user 1"),
    )
    assert held.breakpoints.exceptions == {"format", "limit", "model", "tool", "warning"}
    assert held.watches == ("iteration", "len(messages)")


def test_session(old_home: Path) -> None:
    assert load_session(old_home / "data" / "session.json") == Session(
        (
            OpenFile(f"{AT_HOME}/prompts/trip.prompty", 41, 2),
            OpenFile(f"{AT_HOME}/prompts/react.prompty", 120, 2),
            OpenFile(f"{AT_HOME}/prompts/chat.prompty", 7, 2),
        ),
        f"{AT_HOME}/prompts/react.prompty",
    )


def test_texts_of_a_studio_that_was_killed(old_home: Path) -> None:
    folder = SwapFolder(user_paths().data / "swap")
    left = {swap.title: swap for swap in folder.left_behind()}
    assert set(left) == {"trip.prompty", "Untitled-1.prompty"}
    trip, fresh = left["trip.prompty"], left["Untitled-1.prompty"]
    assert trip.path == f"{AT_HOME}/prompts/trip.prompty"
    assert trip.text.endswith("assistant:\nNot saved yet: é 🗼\n")
    assert trip.base
    assert fresh.path == ""
    assert fresh.text.startswith("system:\nNever saved at all.\n")


def test_input_sets(old_prompts: Path) -> None:
    assert read_sets(old_prompts / "trip.prompty") == {
        "Lisbon in May": {"city": "Lisbon", "days": 3, "interests": ["tiles", "fado"]},
        "Óbidos": {"city": "Óbidos", "note": None, "quiet": True},
    }


def test_a_script(old_prompts: Path) -> None:
    first, second, third = read_script(old_prompts / "replies.json")
    assert isinstance(first, ScriptedTurn)
    assert first.reply.reasoning == "Countries have capitals."
    assert first.reply.text.startswith("Thought: I look it up.\nAction: lookup")
    assert second == "Thought: That is it.\nFinal Answer: Oslo"
    assert isinstance(third, ScriptedTurn)
    assert third.error is not None
    assert third.error.kind == "rate-limit"


async def test_a_recording_answers_the_same_again(old_prompts: Path) -> None:
    model = ReplayModel(old_prompts / "calls.jsonl")
    request = ModelRequest((Message("user", (TextPart("Hello there."),)),))
    with pytest.raises(ModelError, match=r"Too many requests\."):
        [delta async for delta in model.stream(request)]
    assert isinstance(model.capabilities, Capabilities)
