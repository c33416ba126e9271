"""A newer version in the user's own package source."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

import pytest

from studio.core.models.base import ModelError
from studio.core.models.new_version import (
    candidate_of,
    find_new_version,
    is_newer,
    upgrade_command,
)
from tests.support.index_server import PackageIndex, package_index


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with package_index() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.address)
        yield served


async def test_the_index_that_pip_uses_is_asked(index: PackageIndex) -> None:
    with pytest.raises(ModelError, match="has no prompt-studio"):
        await find_new_version("0.1.0", "")
    names = (
        "prompt_studio-0.2.0-py3-none-any.whl", "prompt_studio-0.10.0.tar.gz",
        "prompt_studio-1.0rc1-py3-none-any.whl", "prompt_studio_theme-9.0.tar.gz",
    )  # fmt: skip
    index.files = {"prompt-studio": dict.fromkeys(names, b"")}
    found = await find_new_version("0.2.0", "")
    assert found is not None
    assert (found.version, found.source) == ("0.10.0", index.address)
    assert await find_new_version("0.10", "") is None


async def test_an_index_that_is_away_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(ModelError, match="cannot be asked"):
        await find_new_version("0.1.0", "")


async def test_a_studio_of_a_checkout_asks_no_index(index: PackageIndex) -> None:
    with pytest.raises(ModelError, match="was installed from"):
        await find_new_version("0.1.0", "file:///home/a/prompt-studio")
    assert not index.asked


def test_what_apt_says() -> None:
    said = "prompt-studio:\n  Installed: 0.1.0\n  Candidate: 1:0.3.0-1\n  Version table:\n"
    assert candidate_of(said) == "0.3.0"
    assert candidate_of("prompt-studio:\n  Candidate: (none)\n") == ""
    assert not is_newer("", "0.1.0")


@pytest.mark.parametrize(
    ("prefix", "command"),
    [
        (PurePosixPath("/home/a/.local/share/pipx/venvs/prompt-studio"), "pipx upgrade"),
        (PureWindowsPath(r"C:\Users\a\AppData\Roaming\uv\tools\prompt-studio"), "uv tool upgrade"),
        (PurePosixPath("/home/a/project/.venv"), "pip install --upgrade"),
    ],
)
def test_how_it_is_installed(prefix: PurePosixPath | PureWindowsPath, command: str) -> None:
    assert upgrade_command(prefix) == f"{command} prompt-studio"
