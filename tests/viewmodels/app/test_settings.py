from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.core.settings import Settings, load_settings, save_settings
from studio.viewmodels.app.notifications import Notifications
from studio.viewmodels.app.settings import SettingsStore


def test_a_theme_for_this_time_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('theme = "light"\n', encoding="utf-8")
    store = SettingsStore(path, Notifications())
    store.lend_theme("dark")
    assert store.value.theme == "dark"
    store.set(replace(store.value, word_wrap=False))
    assert load_settings(path)[0] == Settings(theme="light", word_wrap=False)
    store.set(replace(store.value, theme="system"))
    assert load_settings(path)[0].theme == "system"


def test_two_windows_keep_each_others_settings(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    one, other = SettingsStore(path, Notifications()), SettingsStore(path, Notifications())
    one.set(replace(one.value, theme="dark"))
    other.set(replace(other.value, word_wrap=False))
    one.set(replace(one.value, editor_font_size=14.0))
    assert load_settings(path)[0] == Settings(theme="dark", word_wrap=False, editor_font_size=14.0)


def test_a_file_that_went_away_or_broke_meanwhile_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    store = SettingsStore(path, Notifications())
    store.set(replace(store.value, theme="dark"))
    path.unlink()
    store.set(replace(store.value, word_wrap=False))
    assert load_settings(path)[0] == Settings(theme="dark", word_wrap=False)
    path.write_text("theme = 'dark", encoding="utf-8")
    store.set(replace(store.value, word_wrap=True))
    assert load_settings(path)[0] == Settings(theme="dark")
    assert (tmp_path / "settings.broken.toml").read_text(encoding="utf-8") == "theme = 'dark"


def test_what_could_not_be_written_is_written_with_the_next_change(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    store = SettingsStore(folder / "settings.toml", Notifications())
    folder.write_text("in the way", encoding="utf-8")
    store.set(replace(store.value, theme="dark"))
    folder.unlink()
    save_settings(folder / "settings.toml", Settings(language="de"))
    store.set(replace(store.value, word_wrap=False))
    kept = load_settings(folder / "settings.toml")[0]
    assert kept == Settings(language="de", theme="dark", word_wrap=False)


def test_a_file_that_cannot_be_written_is_said_and_the_settings_hold(tmp_path: Path) -> None:
    messages = Notifications()
    said: list[str] = []
    messages.noticed.connect(lambda notice: said.append(notice.what))
    (tmp_path / "taken").write_text("a file where the folder belongs", encoding="utf-8")
    store = SettingsStore(tmp_path / "taken" / "settings.toml", messages)
    store.set(replace(store.value, theme="dark"))
    assert said == ["The settings cannot be written."]
    assert store.value.theme == "dark"


def test_settings_of_safe_mode_are_the_usual_ones_and_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('theme = "light"\nbroken', encoding="utf-8")
    store = SettingsStore(path, Notifications(), is_kept=False)
    assert (store.value, store.notice) == (Settings(), "")
    store.set(replace(store.value, theme="dark"))
    assert path.read_text(encoding="utf-8") == 'theme = "light"\nbroken'
