from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from studio.core.log import LOG_NAME, FaultFile, hard_crashes, start_log, stop_log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    assert start_log(tmp_path) == tmp_path / LOG_NAME
    yield tmp_path
    stop_log()


def test_the_log_turns_over_and_keeps_three(log: Path) -> None:
    line = "x" * 10_000
    for _ in range(600):
        logging.getLogger("studio.test").warning("%s", line)
    names = sorted(path.name for path in log.iterdir())
    assert names == [LOG_NAME, *(f"{LOG_NAME}.{number}" for number in (1, 2, 3))]
    assert all(path.stat().st_size <= 1_000_000 for path in log.iterdir())


def test_keys_are_hidden_in_the_log(log: Path) -> None:
    logging.getLogger("other.library").error("refused: sk-abcdefghijklmnopqrstuvwxyz0123")
    logging.getLogger("other.library").error("by http://me:pa%40ss-word@proxy:3128/ (a:b@c)")
    text = (log / LOG_NAME).read_text(encoding="utf-8")
    assert "refused" in text
    assert "sk-abcdefgh" not in text
    assert "ss-word" not in text
    assert "@proxy:3128/ (a:b@c)" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it has no device that is full")
def test_a_full_disk_writes_no_traceback_to_the_terminal(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = next(each for each in logging.getLogger().handlers if each.get_name() == LOG_NAME)
    assert isinstance(handler, logging.FileHandler)
    kept = handler.stream
    with suppress(OSError), Path("/dev/full").open("w", encoding="utf-8") as handler.stream:
        logging.getLogger("studio.test").warning("a line")
    handler.stream = kept
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="it has no device that is full")
def test_a_full_disk_is_no_reason_to_end_with_an_error(log: Path) -> None:
    handler = next(each for each in logging.getLogger().handlers if each.get_name() == LOG_NAME)
    assert isinstance(handler, logging.FileHandler)
    handler.stream.close()
    handler.stream = Path("/dev/full").open("w", encoding="utf-8")  # noqa: SIM115 - the log closes it
    handler.stream.write("a line that is not written yet")
    stop_log()
    assert handler not in logging.getLogger().handlers


def test_a_folder_that_cannot_be_written_is_no_reason_to_end(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("", encoding="utf-8")
    assert start_log(tmp_path / "taken") is None
    faults = FaultFile(tmp_path / "taken")
    faults.open()
    faults.close()


def test_only_files_of_ended_processes_tell_of_a_crash(tmp_path: Path) -> None:
    (tmp_path / f"hard-crash-{os.getpid()}.txt").write_text("me", encoding="utf-8")
    (tmp_path / f"hard-crash-{os.getppid()}.txt").write_text("still runs", encoding="utf-8")
    (tmp_path / "hard-crash-999999998.txt").write_text("", encoding="utf-8")
    (tmp_path / "hard-crash-999999999.txt").write_text("Fatal Python error", encoding="utf-8")
    assert [crash.text for crash in hard_crashes(tmp_path)] == ["Fatal Python error"]
    assert not (tmp_path / "hard-crash-999999998.txt").exists()
