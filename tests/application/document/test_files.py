from __future__ import annotations

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.application.document.files import FileError, decode, encode, read_file, write_file


@pytest.mark.parametrize(
    "raw",
    [
        b"a\nb\n",
        b"a\r\nb\r\n",
        b"a\rb\r",
        codecs.BOM_UTF8 + "é\r\n".encode(),
        codecs.BOM_UTF16_LE + "é\n😀".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "é\n".encode("utf-16-be"),
        b"caf\xe9 \xff\n",
        b"",
        b"no newline",
    ],
)
def test_bytes_come_back_as_they_were(raw: bytes) -> None:
    assert encode(decode(raw)) == raw


@given(st.binary(max_size=60))
def test_any_bytes_can_be_read(raw: bytes) -> None:
    file = decode(raw)
    assert "\r" not in file.text
    encode(file)


def test_what_cannot_be_kept_is_said() -> None:
    assert any("CRLF" in notice for notice in decode(b"a\r\nb\r\nc\n").notices)
    assert any("Latin-1" in notice for notice in decode(b"\xff").notices)
    assert any("U+2029" in notice for notice in decode("a\u2029b".encode()).notices)
    assert decode(b"fine\n").notices == ()


def test_saving_through_a_link_keeps_link_and_permissions(tmp_path: Path) -> None:
    target, link = tmp_path / "a.prompty", tmp_path / "b.prompty"
    target.write_bytes(b"old\r\n")
    target.chmod(0o640)
    link.symlink_to(target)
    file = read_file(link)
    saved = write_file(link, type(file)("new\n", file.newline))
    assert link.is_symlink()
    assert target.read_bytes() == b"new\r\n"
    assert target.stat().st_mode & 0o777 == 0o640
    assert saved.digest == read_file(target).digest
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.prompty", "b.prompty"]


def test_a_character_that_the_encoding_lacks_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_bytes(b"caf\xe9")
    file = read_file(path)
    with pytest.raises(FileError, match="latin-1") as caught:
        write_file(path, type(file)("😀", encoding=file.encoding))
    assert "UTF-8" in caught.value.hint
    assert path.read_bytes() == b"caf\xe9"


def test_a_folder_in_the_way_is_said_and_nothing_is_left(tmp_path: Path) -> None:
    path = tmp_path / "folder.prompty"
    path.mkdir()
    with pytest.raises(FileError, match="could not be saved"):
        write_file(path, decode(b"text"))
    assert [each.name for each in tmp_path.iterdir()] == ["folder.prompty"]


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot be opened: no such file"):
        read_file(tmp_path / "none.prompty")
