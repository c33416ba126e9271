"""A key store in memory, where a test may not touch the system's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """A real backend that keeps what it is given, as the system's would."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        try:
            del self.kept[service, username]
        except KeyError as error:
            raise PasswordDeleteError("nothing there") from error


@contextmanager
def memory_keyring() -> Iterator[MemoryKeyring]:
    """A key store that counts until the block ends."""
    before = keyring.get_keyring()
    store = MemoryKeyring()
    keyring.set_keyring(store)
    try:
        yield store
    finally:
        keyring.set_keyring(before)
