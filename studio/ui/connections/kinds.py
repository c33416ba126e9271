"""How kinds of connections are called and drawn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from studio.core.models.connections import PRESETS, Connection, ConnectionKind, address_of
from studio.core.models.embedded.policy import GrammarLevel
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
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

NAMES: Mapping[ConnectionKind, str] = {
    "openai": "OpenAI",
    "azure": "Azure OpenAI",
    "anthropic": "Anthropic",
    "gemini": "Google Gemini",
    "ollama": "Ollama",
    "compatible": QT_TRANSLATE_NOOP("Kinds", "OpenAI-compatible server"),
    "embedded": QT_TRANSLATE_NOOP("Kinds", "Embedded model"),
    "scripted": QT_TRANSLATE_NOOP("Kinds", "Scripted replies"),
    "manual": QT_TRANSLATE_NOOP("Kinds", "You are the model"),
    "replay": QT_TRANSLATE_NOOP("Kinds", "Record and replay"),
}
"""What each kind is called."""

_HELP: Mapping[GrammarLevel, tuple[str, str]] = {
    "off": (
        QT_TRANSLATE_NOOP("Kinds", "Unaided"),
        QT_TRANSLATE_NOOP("Kinds", "The model writes whatever it likes."),
    ),
    "syntax": (
        QT_TRANSLATE_NOOP("Kinds", "Readable"),
        QT_TRANSLATE_NOOP("Kinds", "Each reply has the form that a run can read."),
    ),
    "policy": (
        QT_TRANSLATE_NOOP("Kinds", "Careful"),
        QT_TRANSLATE_NOOP("Kinds", "Replies can be read, and a tool is called before the answer."),
    ),
    "grounded": (
        QT_TRANSLATE_NOOP("Kinds", "Guided"),
        QT_TRANSLATE_NOOP(
            "Kinds",
            "Replies can be read, a tool is called before the answer, and its arguments are words "
            "of the question.",
        ),
    ),
}
"""How much is decided for the embedded model: one word and one sentence."""


def help_words(level: GrammarLevel) -> tuple[str, str]:
    """The word and the sentence of a level, in the language of the window."""
    word, sentence = _HELP[level]
    return QCoreApplication.translate("Kinds", word), QCoreApplication.translate("Kinds", sentence)


_BUNDLED = QT_TRANSLATE_NOOP("Kinds", "SmolLM2 135M, on this machine")
_STATES = {
    "running": QT_TRANSLATE_NOOP("Kinds", "trying …"),
    "works": QT_TRANSLATE_NOOP("Kinds", "works"),
    "fails": QT_TRANSLATE_NOOP("Kinds", "does not answer"),
    "untried": "",
}


def state_words(trial: ConnectionTrial) -> str:
    """How a try went, in few words; empty where there was none."""
    return QCoreApplication.translate("Kinds", _STATES[trial.state]) if _STATES[trial.state] else ""


def second_line(connection: Connection, trial: ConnectionTrial) -> str:
    """What the list says of a connection under its name."""
    return " · ".join(filter(None, (_what(connection), state_words(trial))))


def _what(connection: Connection) -> str:
    """What tells a connection from others of its kind."""
    settings = connection.settings
    match connection.kind:
        case "compatible":
            return address_of(connection).partition("://")[2].rstrip(
                "/"
            ) or QCoreApplication.translate("Kinds", "no address yet")
        case "embedded":
            return Path(
                str(settings.get("weights") or QCoreApplication.translate("Kinds", _BUNDLED))
            ).stem
        case "scripted":
            return Path(
                str(settings.get("script") or QCoreApplication.translate("Kinds", "no script yet"))
            ).name
        case "replay":
            return Path(
                str(settings.get("recording") or QCoreApplication.translate("Kinds", "no file yet"))
            ).name
        case "manual":
            return QCoreApplication.translate("Kinds", "you reply yourself")
        case _:
            return connection.model or name_of(connection.kind)


def name_of(kind: ConnectionKind) -> str:
    """What a kind is called, in the language of the window."""
    return QCoreApplication.translate("Kinds", NAMES[kind])


def hint_of(connection: Connection) -> str:
    """What the user must have or do for a connection of this kind."""
    of_kind = [each for each in PRESETS if each.connection.kind == connection.kind]
    same = (each for each in of_kind if each.connection.base_url == connection.base_url)
    found = next(same, of_kind[-1])
    return preset_words(found.hint)


def preset_words(text: str) -> str:
    """A title or a hint of a start, in the language of the window; a plug-in's own as it is."""
    return QCoreApplication.translate("Presets", text)
