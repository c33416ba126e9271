from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.text.files import open_text, read_bounded, read_text
from tests.support.no_files import REASONS, each_kind, make_no_file, needs_posix
from tests.support.soon import soon


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


@needs_posix
@each_kind
def test_what_is_no_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = make_no_file(kind, tmp_path / "x")
    (tmp_path / "link").symlink_to(path)
    for name in ("x", "link"):
        for read in (read_bounded, read_text, open_text):
            if (kind, read) == ("huge", open_text):
                continue  # it is read line by line, by those who count
            with soon(), pytest.raises(OSError, match=REASONS[kind]):
                read(tmp_path / name)


def test_a_folder_and_a_missing_file_are_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_bounded(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_bounded(tmp_path / "none")


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="a file of Linux that has no size")
def test_a_file_with_more_than_its_size_says_is_read_to_the_limit() -> None:
    assert Path("/proc/self/maps").stat().st_size == 0
    with pytest.raises(OSError, match="larger than 10 bytes"):
        read_bounded(Path("/proc/self/maps"), 10)


def test_a_text_is_read_as_python_reads_texts(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\xff")
    with pytest.raises(UnicodeDecodeError):
        read_text(path)
    assert read_text(path, encoding="utf-8-sig", errors="replace") == "one\ntwo\nthree\ufffd"
    with pytest.raises(OSError, match="larger than 3 bytes"):
        read_text(path, 3)
