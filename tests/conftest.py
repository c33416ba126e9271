"""What holds for every test: own folders, no network outside this machine, nothing left behind."""

from __future__ import annotations

import gc
import ipaddress
import os
import sys
import threading
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from pytestqt.qtbot import QtBot

from studio.core.whole_imports import import_whole
from tests.support import patience

# Whole, before there is a second thread: its modules import each other, and a thread of one test
# that imports them beside the next test leaves one of the two with half a module.
import_whole("pydantic.main", "pydantic.types", "pydantic.fields")

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# As in the studio (`studio/viewmodels/app/background.py`): a search for garbage in another thread
# would end Qt's objects there, and the event loop would hang. `no_windows_left` searches, in this
# thread.
gc.disable()

# A test draws the same examples in every run, and judges them by nothing that a busy machine
# changes. `make fuzz` draws anew each time (`--hypothesis-profile=free`).
_UNTIMED: dict[str, Any] = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow],
    "database": None,
}
settings.register_profile("fixed", derandomize=True, **_UNTIMED)
settings.register_profile("free", print_blob=True, **_UNTIMED)
settings.load_profile("fixed")


def _refuse_outside(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook; it cannot be taken out again, so it lives as long as the test process."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if not isinstance(address, tuple):
        return  # a socket file
    try:
        inside = ipaddress.ip_address(str(address[0])).is_loopback
    except ValueError:
        inside = address[0] == "localhost"
    if not inside:
        raise PermissionError(f"tests may not connect to {address!r}")


sys.addaudithook(_refuse_outside)


@pytest.fixture(autouse=True)
def user_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test settings, history and cache folders of its own."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(home))
    # The person's own key store is none of a test's business, and may keep it waiting.
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    return home


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """Fail a test that leaves a thread running."""
    before = set(threading.enumerate())
    yield
    left = [thread for thread in threading.enumerate() if thread not in before]
    for thread in left:
        # Threads of Qt's pool show up as dummies, and stay until Python ends.
        if not isinstance(thread, threading._DummyThread):
            thread.join(patience.SECONDS)
    alive = [
        thread.name
        for thread in left
        if thread.is_alive() and not isinstance(thread, threading._DummyThread)
    ]
    assert not alive, f"threads left running: {alive}"


@pytest.fixture(scope="module", autouse=True)
def only_new_objects_are_searched() -> None:
    """Take what is there before a file's tests out of the search for garbage.

    The modules and the thousands of collected tests are some two million objects: to look at them
    all after each test of a window took 0.7 s, which was half of the time of the whole suite.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def no_windows_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a window open, a pool job or an active timer; let go of its keys."""
    gc.disable()
    yield
    if "qapp" not in request.fixturenames:
        gc.collect(1)
        return
    from PySide6.QtCore import QEvent, Qt, QThreadPool, QTimer
    from PySide6.QtWidgets import QApplication
    from shiboken6 import isValid

    from studio.ui.style.application import finish_restyling
    from tests.support.held import let_go

    finish_restyling()
    let_go()
    done = QThreadPool.globalInstance().waitForDone(patience.MS)
    assert done, "a job is left in the thread pool"
    QApplication.sendPostedEvents()
    windows = [
        window
        for window in QApplication.topLevelWidgets()
        if window.isVisible() and window.windowType() != Qt.WindowType.ToolTip  # closes itself
    ]
    assert not windows, f"windows left open: {windows}"
    # What is to go goes here, in the thread of the windows: left to chance, the collector runs in a
    # thread of a later test, and ends objects of Qt there, which ends the process.
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    timers = [
        timer
        for timer in gc.get_objects()
        # By `type`: `isinstance` asks openai's lazy parts for their class, and they load for it.
        if issubclass(type(timer), QTimer) and isValid(timer) and timer.isActive()
    ]
    for timer in timers:
        timer.stop()
    assert not timers, f"timers left active: {[(timer, timer.parent()) for timer in timers]}"
    from studio.ui.style.theme import LIGHT
    from tests.support.themes import wear

    wear(LIGHT)  # which costs nothing where the test left the theme and its fonts alone


@pytest.fixture(autouse=True)
def notices_stay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a notice stay until a test looks at it: five seconds are few on a busy machine."""
    if "qapp" in request.fixturenames:
        from studio.ui.window import notices

        seconds = patience.MS // 1000
        monkeypatch.setattr(notices, "_SECONDS", dict.fromkeys(notices._SECONDS, seconds))


class PatientBot(QtBot):
    """Qt's robot with the patience of all tests; its own five seconds are few on a busy machine."""

    waitUntil = partialmethod(QtBot.waitUntil, timeout=patience.MS)  # noqa: N815
    waitSignal = partialmethod(QtBot.waitSignal, timeout=patience.MS)  # noqa: N815
    waitSignals = partialmethod(QtBot.waitSignals, timeout=patience.MS)  # noqa: N815
    waitExposed = partialmethod(QtBot.waitExposed, timeout=patience.MS)  # noqa: N815
    waitActive = partialmethod(QtBot.waitActive, timeout=patience.MS)  # noqa: N815


@pytest.fixture(scope="session")
def qapp(qapp: object) -> object:
    """Give Qt tests the look of the application, whichever of them comes first."""
    from studio.ui.style.theme import LIGHT
    from tests.support.themes import wear

    wear(LIGHT)
    return qapp


@pytest.fixture
def qtbot(qapp: object, request: pytest.FixtureRequest) -> QtBot:
    """Give Qt tests the patient robot."""
    return PatientBot(request)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The root of the checkout."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture
def language(qapp: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """The language of the windows that are made after it: "en", or the parameter of the test."""
    from PySide6.QtCore import QCoreApplication, QLocale

    from studio.ui.base.services import install_language

    chosen, before = getattr(request, "param", "en"), QLocale()
    translators = install_language(qapp, chosen)
    yield chosen
    for each in translators:
        QCoreApplication.removeTranslator(each)
    QLocale.setDefault(before)
