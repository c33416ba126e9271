from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from studio.core.paths import narrow_home, program, user_paths


def test_one_folder_can_hold_everything(user_home: Path) -> None:
    paths = user_paths()
    assert {paths.config, paths.data, paths.cache} == {
        user_home / "config",
        user_home / "data",
        user_home / "cache",
    }


def test_otherwise_the_system_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PROMPT_STUDIO_HOME")
    paths = user_paths()
    assert paths.config.is_absolute()
    assert "prompt-studio" in paths.config.parts


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_an_old_home_is_narrowed_and_what_its_user_may_do_stays(user_home: Path) -> None:
    paths = user_paths()
    program = paths.cache / "tools" / "python"
    program.parent.mkdir(parents=True)
    paths.data.mkdir(parents=True)
    (paths.data / "runs.sqlite").touch(0o644)
    program.touch(0o755)
    outside = user_home / "outside"
    outside.touch(0o644)
    (paths.cache / "link").symlink_to(outside)
    narrow_home(paths)
    modes = {path.name: path.stat().st_mode & 0o777 for path in user_home.rglob("*")}
    assert (modes["data"], modes["tools"], modes["python"]) == (0o700, 0o700, 0o700)
    assert (modes["runs.sqlite"], modes["outside"]) == (0o600, 0o644)
    narrow_home(paths)  # a home without a folder, or one that is narrow, is left alone
    assert not paths.config.exists()


def test_a_started_studio_imports_nothing_from_the_folder_it_is_started_in(tmp_path: Path) -> None:
    for name in ("json", "argparse", "studio", "signal"):
        (tmp_path / f"{name}.py").write_text("print('imported')\n", encoding="utf-8")
    command = [*program(), "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("prompt-studio ")
