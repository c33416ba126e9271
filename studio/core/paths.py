"""Folders of the user's own files: settings, history, logs, caches."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_NAME = "prompt-studio"


@dataclass(frozen=True, slots=True)
class UserPaths:
    """Where the studio keeps what it writes, apart from prompt files."""

    config: Path
    """Settings and connections (never keys)."""

    data: Path
    """Run history, swap files, window state."""

    cache: Path
    """What can be made again."""


def narrow_home(paths: UserPaths) -> None:
    """Let only the user look into the studio's folders, once: earlier versions left them open."""
    for folder in (paths.config, paths.data, paths.cache):
        with suppress(OSError):
            if os.name == "nt" or not folder.stat().st_mode & 0o077:
                continue
            for place in (*folder.rglob("*"), folder):  # the folder last: it says that all are done
                if not place.is_symlink():
                    place.chmod(place.stat().st_mode & 0o700)


def user_paths() -> UserPaths:
    """The platform's folders, or `PROMPT_STUDIO_HOME` where that is set."""
    home = os.environ.get("PROMPT_STUDIO_HOME")
    if home:
        root = Path(home)
        return UserPaths(root / "config", root / "data", root / "cache")
    import platformdirs

    return UserPaths(
        platformdirs.user_config_path(_NAME),
        platformdirs.user_data_path(_NAME),
        platformdirs.user_cache_path(_NAME),
    )
