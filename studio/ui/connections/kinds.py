"""How kinds of connections are called and drawn."""

from __future__ import annotations

from collections.abc import Mapping

from studio.bridge.connection_trials import Trial
from studio.core.models.connections import PRESETS, Connection, ConnectionKind, address_of

ICONS: Mapping[ConnectionKind, str] = {
    "openai": "bot",
    "azure": "bot",
    "anthropic": "bot",
    "gemini": "bot",
    "compatible": "plug",
    "embedded": "cpu",
    "scripted": "list-ordered",
    "manual": "user",
    "replay": "history",
}
"""The drawing of each kind."""

NAMES: Mapping[ConnectionKind, str] = {
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google Gemini",
    "compatible": "OpenAI-compatible server",
    "embedded": "Embedded model",
    "scripted": "Scripted replies",
    "manual": "You are the model",
    "replay": "Record and replay",
}
"""What each kind is called."""

_STATES = {"running": "trying …", "works": "works", "fails": "does not answer", "untried": ""}


def state_words(trial: Trial) -> str:
    """How a try went, in few words; empty where there was none."""
    return _STATES[trial.state]


def second_line(connection: Connection, trial: Trial) -> str:
    """What the list says of a connection under its name."""
    parts = [NAMES[connection.kind]]
    if connection.kind == "compatible":
        parts = [address_of(connection).partition("://")[2].rstrip("/") or "no address yet"]
    return " · ".join(filter(None, (*parts, state_words(trial))))


def hint_of(connection: Connection) -> str:
    """What the person must have or do for a connection of this kind."""
    of_kind = [each for each in PRESETS if each.connection.kind == connection.kind]
    same = (each for each in of_kind if each.connection.base_url == connection.base_url)
    found = next(same, of_kind[-1])
    return found.hint
