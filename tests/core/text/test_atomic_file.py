"""Writing a file: the old one or the new one, whole, at every moment."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from studio.core.text.files import private_file, write_atomically, write_private
from tests.support import patience

_CHECKOUT = Path(__file__).resolve().parents[3]


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"

    write_atomically(path, "\ufeffa\r\nb\né\U0001f600")

    assert path.read_bytes() == "\ufeffa\r\nb\né\U0001f600".encode()
    assert [item.name for item in tmp_path.iterdir()] == ["a.prompty"]


def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.txt"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)

    write_atomically(link, "new")

    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    held = os.umask(0o027)
    try:
        write_atomically(tmp_path / "new.txt", "x")
    finally:
        os.umask(held)

    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_a_failed_write_leaves_the_old_file_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "new \ud800")
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "a.txt", "x")

    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_what_a_killed_write_left_is_removed_by_a_later_one(tmp_path: Path) -> None:
    path = tmp_path / "a[1].txt"
    hour_ago = time.time() - 3600
    left = [
        tmp_path / name
        for name in (
            ".a[1].txt.0123456789abcdef.tmp",
            ".a[1].txt.0123456789abcdee.tmp",
            ".a[1].txt.mine.tmp",
            ".b.txt.0123456789abcdef.tmp",
        )
    ]
    for each in left:
        each.write_text("half", encoding="utf-8")
        os.utime(each, (hour_ago, hour_ago))
    os.utime(left[1])  # another process may be writing it

    write_atomically(path, "new")

    assert [each.exists() for each in left] == [False, True, True, True]


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path) -> None:
    """A child with a limit on file size: its write fails half way, as on a full disk."""
    resource = pytest.importorskip("resource")
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    program = (
        "import signal, sys\n"
        "from pathlib import Path\n"
        "from studio.core.text.files import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "try:\n"
        "    write_atomically(Path(sys.argv[1]), 'x' * 100_000)\n"
        "except OSError as error:\n"
        "    print('refused', error.filename)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=_CHECKOUT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )

    assert done.stdout.strip() == f"refused {path}", done.stderr
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(os.name == "nt", reason="pipes have no names in folders there")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = "x" * 200_000  # more than a pipe holds
    with ThreadPoolExecutor(1) as reader:
        read = reader.submit(pipe.read_text, encoding="utf-8")
        write_atomically(pipe, content)
        assert read.result(patience.SECONDS) == content
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd")
def test_what_is_open_already_keeps_what_is_in_it(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("before\n", encoding="utf-8")
    with log.open("ab", buffering=0) as stream:  # as /dev/stdout is, behind `>> log.txt`
        write_atomically(Path(f"/dev/fd/{stream.fileno()}"), "made\n")
        stream.write(b"after\n")
    assert log.read_text(encoding="utf-8") == "before\nmade\nafter\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_what_is_private_is_the_users_alone_whatever_it_was(tmp_path: Path) -> None:
    path = tmp_path / "home" / "data" / "a.json"
    write_private(path, b"new")
    path.chmod(0o644)
    write_private(path, b"newer")
    private_file(path.with_name("b"))
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in tmp_path.rglob("*")}
    assert modes == {"home": 0o700, "data": 0o700, "a.json": 0o600, "b": 0o600}
    assert path.read_bytes() == b"newer"
