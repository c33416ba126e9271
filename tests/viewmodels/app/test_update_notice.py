"""The notice of a newer version: off, on, and once a week."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.models.new_version import find_new_version
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.notifications import Notification, Notifications
from studio.viewmodels.app.settings import SettingsStore
from studio.viewmodels.app.update_notice import UpdateNotice
from tests.support.index_server import PackageIndex, package_index


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    with package_index() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.address)
        served.files = {"prompt-studio": {"prompt_studio-99.0-py3-none-any.whl": b""}}
        yield served


@pytest.fixture
def background() -> Iterator[Background]:
    made = Background()
    yield made
    made.stop()


def test_nobody_is_asked_before_it_is_switched_on(
    index: PackageIndex, background: Background, tmp_path: Path, qtbot: QtBot
) -> None:
    messages = Notifications()
    told: list[Notification] = []
    messages.noticed.connect(told.append)
    store = SettingsStore(tmp_path / "settings.toml", messages)
    mark = tmp_path / "data" / "mark"
    find = partial(find_new_version, "0.1.0", installed_from="")
    UpdateNotice(background, store, messages, mark, messages, find=find)
    assert not mark.exists()
    store.set(replace(store.value, update_notice=True))
    qtbot.waitUntil(lambda: bool(told))
    assert told[0].what == f"Prompt Studio 99.0 can be had from {index.address}."
    assert [path for path, _ in index.asked] == ["/simple/prompt-studio/"]

    again = UpdateNotice(background, store, messages, mark, messages, find=find)
    assert not again._is_due()
    os.utime(mark, (0, 0))
    assert again._is_due()
