"""The user's settings: a frozen value, stored as a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from studio.core.text.files import keep_aside, read_text, write_private

ThemeSetting: TypeAlias = Literal["light", "dark", "system"]

_THEMES = ("light", "dark", "system")
_MOST_RECENT = 12
_LARGEST = 1_000_000
"""Maximum of any number in the settings."""
_HEAD = """\
# Settings of Prompt Studio. Only values that differ from the defaults are here; the settings of
# the window write the same file. It is read when the studio starts; a damaged one is set aside.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings. Keys of providers are never among them."""

    theme: ThemeSetting = "system"
    """Theme: light, dark, or the desktop's."""

    language: str = ""
    """Language of the window, such as "de"; empty for the system's."""

    interface_font: str = ""
    """Family of the interface's font; empty for the bundled one."""

    interface_font_size: float = 10.0
    """Size of the interface's text, in points."""

    reduce_motion: bool = False
    """Whether to avoid animations, whatever the system's setting."""

    editor_font: str = ""
    """Family of the editor's font; empty for the bundled one."""

    editor_font_size: float = 10.0
    """Size of the editor's text, in points."""

    word_wrap: bool = True
    """Whether long lines are wrapped."""

    show_whitespace: bool = False
    """Whether spaces and tabs are drawn in the editor."""

    inline_values: bool = True
    """Whether values of the template are shown in gray after its lines."""

    restore_session: bool = True
    """Whether a start opens the files of the last session."""

    hot_exit: bool = True
    """Whether quitting keeps unsaved texts for the next start without asking."""

    notify_ended: bool = False
    """Whether the desktop is notified when an experiment ends and the window is not in front."""

    cases_cents: int = 5
    """Maximum cost of a run of a prompt's cases without a question, in US cents."""

    history_keep: int = 0
    """Number of newest runs to keep; 0 for all."""

    history_days: int = 0
    """Age at which runs are deleted, in days; 0 for never."""

    spelling: str = ""
    """Language of the spelling check for prose (`en_US`); empty for none."""

    own_words: tuple[str, ...] = ()
    """Words that the user added to the dictionary."""

    workspace: str = ""
    """First folder shown in Files; empty for none."""

    more_folders: tuple[str, ...] = ()
    """Further folders shown in Files."""

    model_folders: tuple[str, ...] = ()
    """Folders whose GGUF files are offered as models."""

    recent: tuple[str, ...] = ()
    """Recently opened files, newest first."""

    recent_folders: tuple[str, ...] = ()
    """Recently shown folders, newest first."""

    shortcuts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Changed shortcuts by action id; an empty one means none."""

    def with_recent(self, path: Path) -> Settings:
        """Return the settings with a file first among the recent ones."""
        name = str(path)
        kept = tuple(each for each in self.recent if each != name)
        return replace(self, recent=(name, *kept)[:_MOST_RECENT])

    def with_folder(self, folder: Path) -> Settings:
        """Return the settings with only this folder in Files, first among the recent ones."""
        name = str(folder)
        kept = tuple(each for each in self.recent_folders if each != name)
        recent = (name, *kept)[:_MOST_RECENT]
        return replace(self, workspace=name, more_folders=(), recent_folders=recent)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders shown in Files, in order."""
        return tuple(Path(name) for name in (self.workspace, *self.more_folders) if name)

    def with_more(self, folder: Path) -> Settings:
        """Return the settings with a folder added in Files."""
        shown = self.folders
        added = self.with_folder(folder)
        return added.with_folders(shown if folder in shown else (*shown, folder))

    def with_folders(self, folders: Sequence[Path]) -> Settings:
        """Return the settings with these folders in Files."""
        first, *more = [str(each) for each in folders] or [""]
        return replace(self, workspace=first, more_folders=tuple(more))


@dataclass(frozen=True, slots=True)
class SettingsFault:
    """A problem of a settings file."""

    kind: Literal["unreadable", "set aside", "left out"]
    """Kind: the file cannot be read and is left in place; it is broken and was renamed; some values
    are invalid and ignored.
    """

    names: tuple[str, ...] = ()
    """Name of the renamed file, or names of the ignored settings."""


def load_settings(path: Path) -> tuple[Settings, SettingsFault | None]:
    """Read the settings.

    Returns:
        The settings, and their problem or None. A broken file is renamed to `settings.broken.toml`;
            invalid values are ignored.
    """
    if not path.exists():
        return Settings(), None
    try:
        data = tomllib.loads(read_text(path))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        try:
            aside = keep_aside(path)
            path.unlink(missing_ok=True)
        except OSError:
            return Settings(), SettingsFault("unreadable")
        return Settings(), SettingsFault("set aside", (aside.name,))
    return _from_data(data)


def save_settings(path: Path, settings: Settings) -> None:
    """Write the settings atomically; default values are omitted.

    Raises:
        OSError: the file cannot be written.
    """
    import tomli_w

    usual = Settings()
    data: dict[str, object] = {}
    for each in fields(Settings):
        value = getattr(settings, each.name)
        if value != getattr(usual, each.name):
            data[each.name] = _plain(value)
    write_private(path, (_HEAD + tomli_w.dumps(data)).encode("utf-8"))


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _from_data(data: Mapping[str, Any]) -> tuple[Settings, SettingsFault | None]:
    taken: dict[str, Any] = {}
    wrong: list[str] = []
    usual = Settings()
    for each in fields(Settings):
        if each.name not in data:
            continue
        value = _checked(each.name, data[each.name], getattr(usual, each.name))
        if value is None:
            wrong.append(each.name)
        else:
            taken[each.name] = value
    return Settings(**taken), SettingsFault("left out", tuple(wrong)) if wrong else None


def _checked(name: str, value: object, usual: object) -> object | None:
    """Return the value with its type, or None if it is invalid."""
    if name == "theme":
        return value if value in _THEMES else None
    if isinstance(usual, bool):
        return value if isinstance(value, bool) else None
    if isinstance(usual, int):
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        return value if 0 <= value <= _LARGEST else None
    if isinstance(usual, float):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return float(value) if 6 <= value <= 40 else None
    if isinstance(usual, str):
        return value if isinstance(value, str) else None
    if isinstance(usual, tuple):
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        return None
    if isinstance(value, dict) and all(isinstance(item, str) for item in value.values()):
        return MappingProxyType(value)
    return None


# The open files and their carets, which the next start restores.


SESSION = "session.json"
"""File name in the user's data folder."""

_MOST = 40


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that was open."""

    path: str
    """Absolute path of the file."""

    caret: int = 0
    """Position of the caret in the editor's document (UTF-16 units)."""

    scroll: int = 0
    """Value of the editor's vertical scroll bar."""


@dataclass(frozen=True, slots=True)
class Session:
    """The open files."""

    files: tuple[OpenFile, ...] = ()
    """The files, from left to right."""

    current: str = ""
    """Path of the file in front; empty if there was none."""


def load_session(path: Path) -> Session:
    """Read the session; empty if there is none or it is invalid."""
    if not path.exists():
        return Session()
    import json

    try:
        data = json.loads(read_text(path))
        files = [
            OpenFile(str(each["path"]), int(each.get("caret", 0)), int(each.get("scroll", 0)))
            for each in data["files"]
        ]
        return Session(tuple(files[:_MOST]), str(data.get("current", "")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        # Only the session is lost, not the files themselves.
        return Session()


def save_session(path: Path, session: Session) -> bool:
    """Write the session atomically; return False if it cannot be written."""
    import json

    try:
        write_private(path, json.dumps(asdict(session), indent=1).encode())
    except OSError:
        return False
    return True
