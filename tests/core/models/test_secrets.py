"""Keys come from where the reference says, and are seen by nobody."""

from __future__ import annotations

import copy
import json
import logging
import pickle
import threading
from collections.abc import Iterator

import keyring
import keyring.errors
import pytest

from studio.core.models import secrets
from studio.core.models.secrets import KEYRING, Secret, SecretStore, environment_name, is_reference
from tests.support import patience
from tests.support.memory_keyring import MemoryKeyring, memory_keyring

KEY = "sk-planted-0123456789"


class BrokenKeyring(MemoryKeyring):
    """As on a machine without a Secret Service; its texts hold what it was given."""

    def get_password(self, service: str, username: str) -> str | None:
        raise keyring.errors.NoKeyringError("no backend")

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot keep {password}")


class WaitingKeyring(MemoryKeyring):
    """As one that waits for a password dialog."""

    def __init__(self) -> None:
        super().__init__()
        self.answered = threading.Event()

    def get_password(self, service: str, username: str) -> str | None:
        self.answered.wait(patience.SECONDS)
        return None


@pytest.fixture
def backend() -> Iterator[MemoryKeyring]:
    with memory_keyring() as store:
        yield store


async def test_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    store = SecretStore({"MY_KEY": KEY, "EMPTY": " "})
    found = await store.read("${env:MY_KEY}", "X")
    assert (found.secret, found.place) == (Secret(KEY), "environment")
    for name in ("EMPTY", "MISSING"):
        found = await store.read(f"${{env:{name}}}", "X")
        assert found.secret is None
        assert name in found.reason
    monkeypatch.setenv("LATER", KEY)
    assert (await SecretStore().read("${env:LATER}", "X")).secret == Secret(KEY)


async def test_the_keyring(backend: MemoryKeyring) -> None:
    store = SecretStore({})
    assert (await store.read(KEYRING, "Mine")).secret is None
    assert (await store.keep("Mine", Secret(KEY))).place == "keyring"
    assert list(backend.kept.values()) == [KEY]
    other = SecretStore({})
    found = await other.read(KEYRING, "Mine")
    assert (found.secret, found.place) == (Secret(KEY), "keyring")
    await other.forget("Mine")
    assert (await store.read(KEYRING, "Mine")).secret is None


async def test_without_a_keyring_a_key_lives_as_long_as_the_session(backend: MemoryKeyring) -> None:
    keyring.set_keyring(BrokenKeyring())
    store = SecretStore({})
    found = await store.read(KEYRING, "Mine")
    assert (found.secret, found.place) == (None, "none")
    assert "NoKeyringError" in found.reason
    kept = await store.keep("Mine", Secret(KEY))
    assert kept.place == "session"
    assert "RuntimeError" in kept.reason
    assert KEY not in kept.reason
    assert (await store.read(KEYRING, "Mine")).secret == Secret(KEY)
    await store.forget("Mine")
    assert (await store.read(KEYRING, "Mine")).secret is None


async def test_a_keyring_that_waits_is_not_waited_for(
    backend: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = WaitingKeyring()
    keyring.set_keyring(waiting)
    monkeypatch.setattr(secrets, "_KEYRING_SECONDS", 0.05)
    found = await SecretStore({}).read(KEYRING, "Mine")
    waiting.answered.set()
    assert (found.secret, found.place) == (None, "none")
    assert found.reason


async def test_the_keyring_can_be_switched_off(backend: MemoryKeyring) -> None:
    store = SecretStore({}, use_keyring=False)
    assert (await store.keep("Mine", Secret(KEY))).place == "session"
    assert backend.kept == {}
    await store.forget("Mine")


async def test_a_key_for_this_session_never_reaches_the_keyring(backend: MemoryKeyring) -> None:
    store = SecretStore({})
    kept = await store.keep("mine", Secret(KEY), only_session=True)
    assert (kept.place, backend.kept) == ("session", {})
    assert (await store.read(KEYRING, "mine")).secret == Secret(KEY)
    assert KEY not in store.mask(f"said {KEY}")


async def test_no_reference_is_no_key() -> None:
    assert (await SecretStore({}).read("", "X")).place == "none"


def test_a_secret_shows_itself_to_nobody(caplog: pytest.LogCaptureFixture) -> None:
    secret = Secret(KEY)
    logging.getLogger("test").warning("%s %r %s", secret, secret, [secret])
    shown = [repr(secret), str(secret), f"{secret}", f"{secret:>40}", f"{[secret]}", caplog.text]
    assert all(KEY not in text for text in shown)
    for leak in (lambda: pickle.dumps(secret), lambda: copy.deepcopy(secret)):
        with pytest.raises(TypeError, match="secret"):
            leak()
    with pytest.raises(TypeError):
        json.dumps(secret)


async def test_texts_are_masked() -> None:
    store = SecretStore({"A": KEY, "B": "ab"})
    await store.read("${env:A}", "X")
    await store.read("${env:B}", "X")
    assert store.mask(f"Bad key {KEY} about") == "Bad key ${env:A} about"


@pytest.mark.parametrize(
    ("text", "name"),
    [("${env:A_1}", "A_1"), ("${env:A:default}", None), ("$A", None), ("x${env:A}", None)],
)
def test_references(text: str, name: str | None) -> None:
    assert environment_name(text) == name
    assert is_reference(text) is (name is not None)
    assert is_reference("")
    assert is_reference(KEYRING)
