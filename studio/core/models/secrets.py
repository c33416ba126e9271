"""Keys from the environment, the system's keyring, or this session's memory.

A key is a `Secret`, which is never printed, and is revealed only to build a client. Connections and
files contain only a reference to the place of the key.
"""

import asyncio
import os
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from studio.core.masking.masker import Masker, key_reference

Result = TypeVar("Result")

SecretPlace: TypeAlias = Literal["environment", "keyring", "session", "none"]
"""Place of a key."""

KEYRING = "keyring"
"""Reference to the key that the keyring, or else the session, has under the connection's name."""

_SERVICE = "prompt-studio"
_ENVIRONMENT = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYRING_SECONDS = 10.0


class Secret:
    """A key that repr, log, format and pickle do not show."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the key itself; only for building a client."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(•••)"

    __str__ = __repr__

    def __format__(self, _form: str) -> str:
        return repr(self)

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> str:
        raise TypeError("a secret cannot be pickled or copied")


@dataclass(frozen=True, slots=True)
class SecretLookup:
    """The result of looking up a reference."""

    secret: Secret | None
    """The key; None if there is none."""

    place: SecretPlace
    """Place where it was found."""

    reason: str = ""
    """Reason why there is none, or why it is only in this session."""


class SecretStore:
    """A store that reads and keeps keys by reference."""

    def __init__(
        self,
        environment: Mapping[str, str] | None = None,
        *,
        use_keyring: bool = True,
        masker: Masker | None = None,
    ) -> None:
        """Store where keys are looked up.

        Args:
            environment: variables; the process's own by default.
            use_keyring: `False` keeps keys for this session only.
            masker: receives every key that is read or stored.
        """
        self._environment = os.environ if environment is None else environment
        self._use_keyring = use_keyring
        self._session: dict[str, Secret] = {}
        self.masker = masker if masker is not None else Masker()
        """Masker with every key that this store has returned, and other registered secrets."""

    async def read(self, reference: str, owner: str) -> SecretLookup:
        """Look up the key for a reference.

        Args:
            reference: `${env:NAME}`, `keyring`, or empty for none.
            owner: name of its connection.
        """
        found = await self._read(reference, owner)
        if found.secret:
            self._note(owner, found.secret)
            if found.place == "environment":
                self.masker.note(reference, found.secret.reveal(), is_key=True)
        return found

    async def keep(self, owner: str, secret: Secret, *, only_session: bool = False) -> SecretLookup:
        """Store a key for a connection in the keyring, or for this session if that fails.

        Args:
            owner: name of its connection.
            secret: the key.
            only_session: whether to leave the keyring unchanged.
        """
        self._note(owner, secret)
        if only_session:
            self._session[owner] = secret
            return SecretLookup(secret, "session")
        if self._use_keyring:
            reason = await _in_worker(lambda: _keyring_set(owner, secret))
            if reason == "":
                self._session.pop(owner, None)
                return SecretLookup(secret, "keyring")
            reason = reason or "the system's keyring did not respond"
        else:
            reason = "the system's keyring is disabled"
        self._session[owner] = secret
        return SecretLookup(secret, "session", reason)

    async def let_go(self, owner: str) -> None:
        """Remove a connection's key from this session, but not from the keyring."""
        self._session.pop(owner, None)

    async def forget(self, owner: str) -> None:
        """Remove a connection's key from the keyring and from the session."""
        self._session.pop(owner, None)
        if self._use_keyring:
            await _in_worker(lambda: _keyring_delete(owner))

    def mask(self, text: str) -> str:
        """Return a text with every known secret masked, for messages of servers."""
        return self.masker.mask(text)

    def _note(self, owner: str, secret: Secret) -> None:
        self.masker.note(key_reference(owner), secret.reveal(), is_key=True)

    async def _read(self, reference: str, owner: str) -> SecretLookup:
        variable = environment_name(reference)
        if variable is not None:
            value = self._environment.get(variable, "").strip()
            if value:
                return SecretLookup(Secret(value), "environment")
            return SecretLookup(None, "none", f"the variable {variable} is not set")
        if reference != KEYRING:
            return SecretLookup(None, "none")
        if owner in self._session:
            return SecretLookup(self._session[owner], "session")
        if not self._use_keyring:
            return SecretLookup(None, "none", "no key was entered in this session")
        kept, reason = await _in_worker(lambda: _keyring_get(owner)) or (None, "it did not respond")
        if kept is not None:
            return SecretLookup(kept, "keyring")
        return SecretLookup(None, "none", reason or "no key is stored for this connection")


def secret_store() -> SecretStore:
    """Return the studio's key store, whose masker knows the secrets of the environment."""
    return SecretStore(masker=Masker(os.environ))


def environment_name(reference: str) -> str | None:
    """Return the variable in `${env:NAME}`; None for any other reference."""
    match = _ENVIRONMENT.fullmatch(reference)
    return match[1] if match else None


def is_reference(text: str) -> bool:
    """Return whether a text is a reference to a key, which may be written to a file."""
    return text in ("", KEYRING) or environment_name(text) is not None


def _keyring_get(owner: str) -> tuple[Secret | None, str]:
    def get() -> Secret | None:
        import keyring

        value = keyring.get_password(_SERVICE, owner)
        return Secret(value) if value else None

    kept: list[Secret | None] = []
    reason = _guarded(lambda: kept.append(get()))
    return (kept[0] if kept else None), reason


def _keyring_set(owner: str, secret: Secret) -> str:
    def store() -> None:
        import keyring

        keyring.set_password(_SERVICE, owner, secret.reveal())

    return _guarded(store)


def _keyring_delete(owner: str) -> str:
    def delete() -> None:
        import keyring

        keyring.delete_password(_SERVICE, owner)

    return _guarded(delete)


def _guarded(work: Callable[[], None]) -> str:
    """Return why an operation on the keyring failed; empty if it succeeded.

    Backends raise any exception (no Secret Service, locked, denied, D-Bus errors), whose text may
    contain the key: only the error's type is returned.
    """
    try:
        work()
    except Exception as error:  # noqa: BLE001 - the border to keyring backends
        return f"the system's keyring cannot be used ({type(error).__name__})"
    return ""


async def _in_worker(work: Callable[[], Result]) -> Result | None:
    """Run a blocking function in a daemon thread; None if it takes too long.

    It is not the loop's own executor, because a keyring that waits for a password dialog would keep
    the studio from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result) -> None:
        if not done.done():
            done.set_result(result)

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the loop has ended meanwhile: nothing awaits the result
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, name="studio-keyring", daemon=True).start()
    try:
        return await asyncio.wait_for(done, _KEYRING_SECONDS)
    except TimeoutError:
        return None
