"""Whether the user's own package source has a newer studio: pip's index, or apt for the package.

Nobody is asked before the user wants it: by `prompt-studio update`, or by a setting that is off.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import PurePath

from studio import __version__
from studio.core.models.base import ModelError
from studio.core.models.package_index import IndexFile, files_of, index_address, shown_address

PROJECT = "prompt-studio"
_RELEASE = re.compile(r"prompt[-_.]studio-(\d+(?:\.\d+)*)(?:\.tar\.gz|-[^/]*\.whl)", re.IGNORECASE)
_CANDIDATE = re.compile(r"^\s*Candidate:\s*(?:\d+:)?(\d+(?:\.\d+)*)", re.MULTILINE)
_APT_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class NewVersion:
    """A newer studio that can be had."""

    version: str
    """Its number."""

    source: str
    """Who has it."""

    command: str
    """What installs it."""


async def find_new_version(
    current: str = __version__, installed_from: str | None = None
) -> NewVersion | None:
    """Ask the source that this studio came from; None where it has nothing newer.

    Args:
        current: the version that is here.
        installed_from: a folder or file that it was installed from; empty for an index, None to
            look that up.

    Raises:
        ModelError: the source does not answer, or does not know the studio; or it came from none.
    """
    if getattr(sys, "frozen", False):
        found = candidate_of(await _apt_policy())
        command = f"sudo apt install --only-upgrade {PROJECT}"
        return NewVersion(found, "apt", command) if is_newer(found, current) else None
    origin = own_origin() if installed_from is None else installed_from
    if origin:
        # An index may have a stranger's project of the same name.
        message = f"This studio was installed from {origin}, and is updated there."
        raise ModelError("no-index", message)
    index = index_address()
    found = newest_of(await files_of(PROJECT, index))
    if not found:
        raise ModelError("no-index", f"{shown_address(index)} has no {PROJECT}.")
    if not is_newer(found, current):
        return None
    return NewVersion(found, shown_address(index), upgrade_command(PurePath(sys.prefix)))


def own_origin() -> str:
    """The folder or file that this studio was installed from; empty where an index gave it."""
    try:
        text = distribution(PROJECT).read_text("direct_url.json")
    except PackageNotFoundError:
        return "a folder"
    return str(json.loads(text)["url"]) if text else ""


def newest_of(files: Iterable[IndexFile]) -> str:
    """The newest release among the files of the project; empty where there is none.

    Releases before their time (`1.0rc1`) and those that were taken back are none.
    """
    names = (_RELEASE.fullmatch(file.name) for file in files if not file.is_yanked)
    return max((found[1] for found in names if found), key=_numbers, default="")


def candidate_of(policy: str) -> str:
    """The version that apt would install, of what `apt-cache policy` says; empty where none."""
    found = _CANDIDATE.search(policy)
    return found[1] if found else ""


def is_newer(version: str, current: str) -> bool:
    """Whether a version is above another."""
    return bool(version) and _numbers(version) > _numbers(current)


def upgrade_command(prefix: PurePath) -> str:
    """What brings a newer studio into the environment that this one runs in."""
    parts = [part.lower() for part in prefix.parts]
    if "pipx" in parts:
        return f"pipx upgrade {PROJECT}"
    if "uv" in parts and "tools" in parts:
        return f"uv tool upgrade {PROJECT}"
    return f"pip install --upgrade {PROJECT}"


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(each) for each in re.findall(r"\d+", version.partition("+")[0])]
    while numbers and not numbers[-1]:
        numbers.pop()  # 1.0 is 1.0.0
    return tuple(numbers)


async def _apt_policy() -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        asked = await asyncio.create_subprocess_exec(
            "apt-cache", "policy", PROJECT, env=environment,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        words, _ = await asyncio.wait_for(asked.communicate(), _APT_SECONDS)
    except (OSError, TimeoutError):
        message = "This system's apt cannot be asked for newer versions."
        raise ModelError("unreachable", message) from None
    return words.decode("utf-8", "replace")
