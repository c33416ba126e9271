"""Paths of the user's files (settings, history, logs, caches) and of bundled files."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from studio.core.text.files import read_text

_NAME = "prompt-studio"


@dataclass(frozen=True, slots=True)
class UserPaths:
    """The folders to which the studio writes, apart from prompt files."""

    config: Path
    """Settings and connections (never keys)."""

    data: Path
    """Run history, swap files, window state."""

    cache: Path
    """Folder of files that can be recreated."""


def narrow_home(paths: UserPaths) -> None:
    """Restrict the studio's folders to the user, once: earlier versions left them readable."""
    for folder in (paths.config, paths.data, paths.cache):
        with suppress(OSError):
            if os.name == "nt" or not folder.stat().st_mode & 0o077:
                continue
            for place in (*folder.rglob("*"), folder):  # the folder last: it marks all as done
                if not place.is_symlink():
                    place.chmod(place.stat().st_mode & 0o700)


def user_paths() -> UserPaths:
    """Return the platform's folders, or `PROMPT_STUDIO_HOME` if it is set."""
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


TRIALS = "--trials"
"""Command-line option of the process that opens texts before the window does."""


def program() -> list[str]:
    """Return the start of a command that starts the studio, safe in any current folder.

    Without `-P`, Python would import modules from the current folder, which may not be trusted.
    """
    frozen = getattr(sys, "frozen", False)
    return [sys.executable] if frozen else [sys.executable, "-P", "-m", "studio"]


# Bundled files: beside a checkout, or inside the installed package.

_PACKAGE = Path(__file__).resolve().parent.parent


@cache
def resource_root() -> Path:
    """Return the folder of bundled resources.

    It is `studio/_resources` in a wheel, and beside the package in a checkout.

    Raises:
        FileNotFoundError: neither exists; the installation is broken.
    """
    for candidate in (_PACKAGE / "_resources", _PACKAGE.parent / "resources"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("bundled resources are missing; install Prompt Studio again")


def docs_root() -> Path:
    """Return the folder of the user guide, which is among the resources in a wheel.

    Raises:
        FileNotFoundError: it does not exist; the installation is broken.
    """
    for candidate in (resource_root() / "docs", _PACKAGE.parent / "docs"):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError("the user guide is missing; install Prompt Studio again")


def resource(*parts: str) -> Path:
    """Return the path of a bundled file, whether or not it exists."""
    return resource_root().joinpath(*parts)


def resource_text(*parts: str) -> str:
    """Return the text of a bundled file."""
    return read_text(resource(*parts), encoding="utf-8")


def resource_table(*parts: str) -> Mapping[str, Mapping[str, str]]:
    """Read a bundled table: the rows below each `[section]`, by their first word.

    Two or more blanks separate the word from the rest of its row; `#` begins a comment.

    Raises:
        ValueError: A row has only one word, or precedes the first section.
    """
    sections: dict[str, dict[str, str]] = {}
    rows: dict[str, str] | None = None
    for line in resource_text(*parts).splitlines():
        word, _, rest = line.partition("  ")
        if line.startswith("["):
            rows = sections.setdefault(line.strip("[]"), {})
        elif line and not line.startswith("#"):
            if rows is None or not rest:
                raise ValueError(f"{'/'.join(parts)}: {line!r} is no row of a section")
            rows[word] = rest.strip()
    return sections
