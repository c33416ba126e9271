"""How a tool file stands is known before each call, also where little is looked at again."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from studio.core.tools.python.worker import ToolFileWatch

_LONG_AGO = 1_000_000_000


def settled(*folders: Path) -> None:
    """Make folders look as if nothing was made in them for years, so that their stamps count."""
    for folder in folders:
        os.utime(folder, (_LONG_AGO, _LONG_AGO))


def project(tmp_path: Path) -> tuple[Path, Path]:
    """A tool file in a project, and the project's folder."""
    top = tmp_path / "project"
    (top / "tools" / "parts").mkdir(parents=True)
    (top / "pyproject.toml").touch()
    (top / "tools" / "parts" / "words.py").write_text("A = 1\n", encoding="utf-8")
    file = top / "tools" / "tools.py"
    file.write_text("def f(): ...\n", encoding="utf-8")
    settled(top / "tools" / "parts", top / "tools", top)
    return file, top


def test_a_file_that_did_not_change_stands_as_before(tmp_path: Path) -> None:
    file, top = project(tmp_path)
    watch = ToolFileWatch(file)
    state = watch.state()
    assert [Path(place).name for place, _, _ in state.modules] == ["tools.py", "words.py"]
    assert watch.state() is state
    (top / "notes.txt").touch()  # its folder changed, and nothing that counts
    assert watch.state() is state


def test_what_is_saved_made_or_gone_is_seen_at_once(tmp_path: Path) -> None:
    file, top = project(tmp_path)
    watch = ToolFileWatch(file)
    known = [watch.state()]

    def is_new() -> bool:
        known.append(watch.state())
        return known[-1] != known[-2]

    file.write_text("def longer(): ...\n", encoding="utf-8")
    assert is_new()
    (file.parent / "parts" / "words.py").write_text("A = 123\n", encoding="utf-8")
    assert is_new()
    (file.parent / "parts" / "more.py").touch()
    assert is_new()
    settled(file.parent / "parts", file.parent, top)
    assert not is_new()
    (file.parent / "parts" / "more.py").unlink()
    assert is_new()
    file.unlink()
    assert is_new()


def test_an_environment_that_is_made_between_two_calls_runs_the_next(tmp_path: Path) -> None:
    file, top = project(tmp_path)
    watch = ToolFileWatch(file)
    assert watch.state().interpreter.path is None
    made = top / ".venv"
    (made / "bin").mkdir(parents=True)
    (made / "pyvenv.cfg").touch()
    (made / "bin" / "python").symlink_to(sys.executable)
    assert watch.state().interpreter.environment == made


def test_a_folder_that_changed_just_now_is_read_again(tmp_path: Path) -> None:
    """The clock of a file system may stand still between two changes."""
    file, _ = project(tmp_path)
    just_now = time.time() + 3_600  # however slow this test is
    os.utime(file.parent, (just_now, just_now))
    watch = ToolFileWatch(file)
    state = watch.state()
    (file.parent / "second.py").touch()
    os.utime(file.parent, (just_now, just_now))
    assert watch.state() != state


def test_a_file_that_is_not_there_stands_too(tmp_path: Path) -> None:
    state = ToolFileWatch(tmp_path / "none" / "tools.py").state()
    assert state.modules == ()
    assert state.interpreter.path is None
