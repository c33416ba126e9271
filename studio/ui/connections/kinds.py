"""Names and icons of the kinds of connections."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from studio.application.words import marked, tr
from studio.core.models.connections import PRESETS, Connection, ConnectionKind, address_of
from studio.core.models.embedded.policy import GrammarLevel
from studio.ui.parts.fields import form_fields
from studio.viewmodels.connections.trials import ConnectionTrial

ICONS: Mapping[ConnectionKind, str] = {
    "openai": "bot",
    "azure": "bot",
    "anthropic": "bot",
    "gemini": "bot",
    "ollama": "plug",
    "compatible": "plug",
    "embedded": "cpu",
    "scripted": "list-ordered",
    "manual": "user",
    "replay": "history",
}
"""The drawing of each kind."""


def help_words(level: GrammarLevel) -> tuple[str, str]:
    """Return the word and the sentence of a level, in the language of the window."""
    row = next(row for row in form_fields("grammar") if row.key == level)
    return row.label, row.about


_BUNDLED = marked("SmolLM2 135M, on this machine")
_STATES = {
    "running": marked("trying …"),
    "works": marked("works"),
    "fails": marked("does not answer"),
    "untried": "",
}


def state_words(trial: ConnectionTrial) -> str:
    """Describe the result of a test in few words; empty if there was none."""
    return tr(_STATES[trial.state]) if _STATES[trial.state] else ""


def second_line(connection: Connection, trial: ConnectionTrial) -> str:
    """Return the second line of a connection in the list."""
    return " · ".join(filter(None, (_what(connection), state_words(trial))))


def _what(connection: Connection) -> str:
    """Return what tells a connection from others of its kind."""
    settings = connection.settings
    match connection.kind:
        case "compatible":
            return address_of(connection).partition("://")[2].rstrip("/") or tr("no address yet")
        case "embedded":
            return Path(str(settings.get("weights") or tr(_BUNDLED))).stem
        case "scripted":
            return Path(str(settings.get("script") or tr("no script yet"))).name
        case "replay":
            return Path(str(settings.get("recording") or tr("no file yet"))).name
        case "manual":
            return tr("you reply yourself")
        case _:
            return connection.model or name_of(connection.kind)


def name_of(kind: ConnectionKind) -> str:
    """Return the name of a kind, in the language of the window."""
    return next(row.label for row in form_fields("kinds") if row.key == kind)


def hint_of(connection: Connection) -> str:
    """Return the prerequisites for a connection of this kind."""
    of_kind = [each for each in PRESETS if each.connection.kind == connection.kind]
    same = (each for each in of_kind if each.connection.base_url == connection.base_url)
    found = next(same, of_kind[-1])
    return preset_words(found.hint)


def preset_words(text: str) -> str:
    """A title or a hint of a start, in the language of the window; a plug-in's own as it is."""
    return tr(text)
