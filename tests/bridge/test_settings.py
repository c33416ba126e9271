from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.bridge.messages import Messages
from studio.bridge.settings import SettingsStore
from studio.core.settings import Settings, load_settings


def test_a_theme_for_this_time_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('theme = "light"\n', encoding="utf-8")
    store = SettingsStore(path, Messages())
    store.lend_theme("dark")
    assert store.value.theme == "dark"
    store.set(replace(store.value, word_wrap=False))
    assert load_settings(path)[0] == Settings(theme="light", word_wrap=False)
    store.set(replace(store.value, theme="system"))
    assert load_settings(path)[0].theme == "system"


def test_a_file_that_cannot_be_written_is_said_and_the_settings_hold(tmp_path: Path) -> None:
    messages = Messages()
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
    store = SettingsStore(path, Messages(), is_kept=False)
    assert (store.value, store.notice) == (Settings(), "")
    store.set(replace(store.value, theme="dark"))
    assert path.read_text(encoding="utf-8") == 'theme = "light"\nbroken'
