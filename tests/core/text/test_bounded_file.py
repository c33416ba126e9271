from __future__ import annotations

import os
from pathlib import Path

import pytest

from studio.core.text.bounded_file import read_bounded
from tests.support.soon import soon

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")


def test_a_file_up_to_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to(path)
    assert read_bounded(path, 10) == b"0123456789"
    assert read_bounded(tmp_path / "link", 10) == b"0123456789"
    with pytest.raises(OSError, match="larger than 9 bytes"):
        read_bounded(path, 9)


def test_a_large_file_is_refused_without_being_read(tmp_path: Path) -> None:
    path = tmp_path / "holes"
    with path.open("wb") as file:
        file.truncate(2**40)
    with soon(), pytest.raises(OSError, match="larger than 50 MB"):
        read_bounded(path)


@needs_pipes
def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "to-pipe").symlink_to(pipe)
    for name in ("pipe", "zero", "to-pipe"):
        with soon(), pytest.raises(OSError, match="a device or a pipe"):
            read_bounded(tmp_path / name)
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "none")
