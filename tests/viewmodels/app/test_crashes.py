"""Where errors are caught is left as it was found."""

import sys
import threading

import pytest

from studio.viewmodels.app.crashes import Crashes


def test_the_hooks_of_before_come_back(qapp: object, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda *_: seen.append("window"))
    monkeypatch.setattr(threading, "excepthook", lambda _: seen.append("thread"))
    before = sys.excepthook, threading.excepthook
    crashes = Crashes()
    crashes.watch()
    assert (sys.excepthook, threading.excepthook) != before
    crashes.rest()
    assert (sys.excepthook, threading.excepthook) == before


def test_a_hook_that_somebody_set_since_is_theirs(
    qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    crashes = Crashes()
    crashes.watch()
    taken = threading.excepthook = lambda _: None
    crashes.rest()
    assert threading.excepthook is taken
