"""Real tool files in folders of their own, and documents that name them."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from tests.support import patience

WriteTools = Callable[[str], Path]
WritePrompt = Callable[..., PromptDocument]


@pytest.fixture
def tool_file(tmp_path: Path) -> WriteTools:
    """Write a Python file of tools; gives its path."""

    def write(source: str, name: str = "my_tools.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source), encoding="utf-8")
        return path

    return write


@pytest.fixture
def prompt(tmp_path: Path) -> WritePrompt:
    """Write a prompt with the given front matter; gives the parsed document."""

    def write(front_matter: str, body: str = "system:\nHello\n") -> PromptDocument:
        path = tmp_path / "agent.prompty"
        path.write_text(f"---\n{textwrap.dedent(front_matter)}---\n{body}", encoding="utf-8")
        return parse(path.read_text(encoding="utf-8"), path)

    return write


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return True
    return state != "Z"


async def gone(pid: int) -> bool:
    """Wait for a process to end."""
    return await patience.until(lambda: not is_running(pid), f"the end of process {pid}")


def written(path: Path) -> str:
    """What has been written into a file; empty as long as nothing is there."""
    return path.read_text(encoding="utf-8") if path.exists() else ""
