from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.paths import user_paths


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
