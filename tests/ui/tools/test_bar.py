"""The reading of a large description in the window: seen, stopped, taken up again."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.tools.openapi.loading import ReadingProgress
from studio.core.tools.trust.store import TrustStore
from studio.ui.tools.bar import ReadingBars
from studio.ui.tools.pane import ToolsPane
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.controller import ToolsController
from tests.support import patience

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

DESCRIPTION = json.dumps(
    {
        "openapi": "3.1.0",
        "paths": {"/now": {"get": {"operationId": "now", "description": "What time it is. " * 9}}},
        "info": {"title": "Clock", "version": "1", "description": " " * 2_000_000},
    }
).encode()


class Held:
    """A server that gives half of a description, and the rest when it is let go."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        held = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(DESCRIPTION)))
                self.end_headers()
                half = len(DESCRIPTION) // 2
                try:
                    self.wfile.write(DESCRIPTION[:half])
                    held.go_on.wait(patience.SECONDS)
                    self.wfile.write(DESCRIPTION[half:])
                except OSError:
                    return  # the studio went away

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/clock.json"

    def close(self) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@pytest.fixture
def held() -> Iterator[Held]:
    server = Held()
    yield server
    server.close()


@pytest.fixture
def controller(qtbot: QtBot, tmp_path: Path) -> Iterator[ToolsController]:
    background = Background()
    trust = TrustStore(tmp_path / "data" / "trust.json")
    trust.trust(tmp_path)
    made = ToolsController(background, trust)
    yield made
    made.close()
    background.stop()


@pytest.fixture
def pane(qtbot: QtBot, controller: ToolsController) -> ToolsPane:
    made = ToolsPane()
    qtbot.addWidget(made)
    controller.registry_changed.connect(made.show_registry)
    controller.loading_changed.connect(made.show_loading)
    controller.reading_moved.connect(made.readings.show_progress)
    controller.reading_ended.connect(made.readings.end)
    controller.document_left.connect(made.readings.clear)
    made.readings.request_stop.connect(controller.stop_reading)
    made.request_reload.connect(controller.load_again)
    made.resize(520, 760)
    with qtbot.waitExposed(made):
        made.show()
    return made


def prompt(url: str) -> str:
    return (
        f"---\ntools:\n  - name: clock\n    kind: openapi\n    specification: {url}\n---\nHello\n"
    )


def test_a_reading_is_seen_stopped_and_taken_up_again(
    qtbot: QtBot, controller: ToolsController, pane: ToolsPane, held: Held, tmp_path: Path
) -> None:
    controller.set_document(parse(prompt(held.url), tmp_path / "a.prompty"))
    qtbot.waitUntil(lambda: bool(pane.readings.shown) and "of 2 MB" in said(pane))
    assert said(pane).startswith("Downloading clock.json: ")
    assert pane.readings.isVisible()
    (bar,) = pane.readings.shown
    assert 0 <= bar.progress.value() < bar.progress.maximum()
    with qtbot.waitSignal(controller.registry_changed):
        qtbot.mouseClick(bar.stop_button, Qt.MouseButton.LeftButton)
    assert pane.readings.shown == ()
    assert not pane.readings.isVisible()
    (banner,) = pane.banners.shown
    assert banner.text.endswith("was stopped; load the tools again to read it")
    with qtbot.waitSignal(controller.registry_changed):
        controller.reload()  # as after a key in the editor
    assert pane.banners.shown[0].text == banner.text
    held.go_on.set()
    with qtbot.waitSignal(
        controller.registry_changed, check_params_cb=lambda found: bool(found.entries)
    ):
        qtbot.mouseClick(pane.banners.shown[0], Qt.MouseButton.LeftButton)
    assert [entry.name for entry in pane.registry.entries] == ["now"]
    assert pane.banners.shown == []
    assert pane.readings.shown == ()


def test_another_document_has_no_bar_of_it(
    qtbot: QtBot, controller: ToolsController, pane: ToolsPane, held: Held, tmp_path: Path
) -> None:
    controller.set_document(parse(prompt(held.url), tmp_path / "a.prompty"))
    qtbot.waitUntil(lambda: bool(pane.readings.shown))
    with qtbot.waitSignal(controller.registry_changed):
        controller.set_document(parse("---\nname: b\n---\nHello\n", tmp_path / "b.prompty"))
    assert pane.readings.shown == ()


def said(pane: ToolsPane) -> str:
    return pane.readings.shown[0].words.text()


@pytest.mark.parametrize(
    ("progress", "words", "maximum"),
    [
        (ReadingProgress("a.json", "fetched", 1_200_000, 0), "Downloading a.json: 1.2 MB", 0),
        (
            ReadingProgress("a.json", "fetched", 400_000, 12_900_000),
            "Downloading a.json: 400 kB of 13 MB",
            12_900_000,
        ),
        (
            ReadingProgress("a.json", "read", 4_000_000, 13_001_822),
            "Reading a.json: 4 MB of 13 MB",
            13_001_822,
        ),
        (
            ReadingProgress("a\u202ejson", "operations", 300, 1223),
            "Reading a⟨U+202E⟩json: 300 of 1,223 operations",
            1223,
        ),
    ],
)
def test_each_stage_has_its_words(
    qtbot: QtBot, progress: ReadingProgress, words: str, maximum: int
) -> None:
    bars = ReadingBars()
    qtbot.addWidget(bars)
    bars.show_progress("openapi:a", progress)
    (bar,) = bars.shown
    assert bar.words.text() == words
    assert bar.progress.maximum() == maximum
    assert bar.stop_button.accessibleName().startswith("Stop reading a")
    bars.end("openapi:b")
    assert bars.shown == (bar,)
    bars.end("openapi:a")
    assert bars.shown == ()
