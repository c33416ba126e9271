"""The settings of a project, in a file at or above a folder."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from studio.core.text.files import read_text
from studio.core.text.values import reason_of

OWN_FILE = "prompt-studio.toml"


class SettingsError(Exception):
    """Raised when settings are invalid; the text says what, where, and what is valid."""


def sections(start: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Yield the settings files at and above a folder, nearest first, with the studio's table.

    Raises:
        SettingsError: a file cannot be read.
    """
    for folder in (start, *start.parents):
        # Each edit looks here: paths as objects would take 3 % of its check.
        if os.path.isfile(f"{folder}/{OWN_FILE}"):
            own = folder / OWN_FILE
            yield own, _table(own)
        if os.path.isfile(f"{folder}/pyproject.toml"):
            project = folder / "pyproject.toml"
            tool = _table(project).get("tool", {})
            ours = tool.get("prompt-studio", {}) if isinstance(tool, Mapping) else {}
            yield project, ours if isinstance(ours, Mapping) else {}


def _table(path: Path) -> Mapping[str, object]:
    import tomllib  # most folders have no settings, and checking a file should start quickly

    try:
        return tomllib.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path}: {reason_of(error)}") from None
