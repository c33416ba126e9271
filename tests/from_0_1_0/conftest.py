"""What version 0.1.0 left behind, and copies of it that a test may change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

AT_HOME = "/srv/ada"
"""The folder that the files of 0.1.0 name."""


@pytest.fixture(scope="session")
def left_behind() -> Path:
    """The files as 0.1.0 wrote them; never written to."""
    return Path(__file__).resolve().parents[1] / "data" / "from_0_1_0"


@pytest.fixture
def old_home(left_behind: Path, user_home: Path) -> Path:
    """The user's folder of 0.1.0, in place of the test's own."""
    shutil.copytree(left_behind / "home", user_home, dirs_exist_ok=True)
    return user_home


@pytest.fixture
def old_prompts(left_behind: Path, tmp_path: Path) -> Path:
    """The prompts of 0.1.0 in a folder of the test."""
    return Path(shutil.copytree(left_behind / "prompts", tmp_path / "prompts"))
