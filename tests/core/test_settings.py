from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from studio.core.settings import Settings, SettingsFault, load_settings, save_settings


def test_settings_come_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "settings.toml"
    settings = (
        replace(
            Settings(
                theme="dark",
                editor_font_size=13.0,
                word_wrap=False,
                workspace="/w",
                language="de",
                editor_font="Serif",
            ),
            shortcuts=MappingProxyType({"run.start": "F6"}),
        )
        .with_recent(Path("/a"))
        .with_recent(Path("/b"))
        .with_recent(Path("/a"))
    )
    save_settings(path, settings)
    assert load_settings(path) == (settings, None)
    assert settings.recent == ("/a", "/b")


def test_folders_of_files_are_replaced_added_and_taken_out(tmp_path: Path) -> None:
    one, two, three = Path("/one"), Path("/two"), Path("/three")
    settings = Settings().with_more(one).with_more(two).with_more(one)
    assert settings.folders == (one, two)
    assert settings.recent_folders == ("/one", "/two")
    save_settings(tmp_path / "settings.toml", settings)
    assert load_settings(tmp_path / "settings.toml") == (settings, None)
    assert settings.with_folders([two]).folders == (two,)
    assert settings.with_folders([]).folders == ()
    assert settings.with_folder(three).folders == (three,)


def test_usual_values_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    save_settings(path, Settings())
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines
    assert all(line.startswith("#") for line in lines)


def test_a_broken_file_is_set_aside_and_said(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("theme = 'dark", encoding="utf-8")
    settings, fault = load_settings(path)
    assert settings == Settings()
    assert fault == SettingsFault("set aside", ("settings.broken.toml",))
    assert (tmp_path / "settings.broken.toml").read_text(encoding="utf-8") == "theme = 'dark"
    assert not path.exists()


def test_single_wrong_values_are_left_out_and_named(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        f"theme = 'pink'\nword_wrap = 'yes'\neditor_font_size = {10**400}\n"
        "workspace = '/w'\nother = 1\n",
        encoding="utf-8",
    )
    settings, fault = load_settings(path)
    assert settings == Settings(workspace="/w")
    assert fault == SettingsFault("left out", ("theme", "editor_font_size", "word_wrap"))


def test_how_long_runs_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    save_settings(path, Settings(history_keep=200, history_days=30))
    assert load_settings(path) == (Settings(history_keep=200, history_days=30), None)
    for wrong in ("-1", "true", "1.5", "'3'", "10000000000"):
        path.write_text(f"history_keep = {wrong}\n", encoding="utf-8")
        assert load_settings(path)[0] == Settings()
