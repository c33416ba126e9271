"""Keys of connections: kept, looked for and forgotten in the loop's thread; never handed on."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.models.secrets import KEYRING, Secret, SecretLookup, SecretPlace, SecretStore
from studio.viewmodels.app.background import Background


@dataclass(frozen=True, slots=True)
class KeyState:
    """Where a connection's key is, without the key."""

    place: SecretPlace
    """Where; "none" where there is none."""

    reason: str = ""
    """Why there is none, or why it is only in this session."""


class ConnectionKeys(QObject):
    """Says where keys are; the keys themselves stay in the store."""

    found = Signal(str, KeyState)  # name of a connection, KeyState

    def __init__(
        self, background: Background, secrets: SecretStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._secrets = secrets
        self._pending: set[Future[SecretLookup]] = set()
        # One after the other, as they were asked for: what a slow key store says of an old name
        # must not arrive after what was done since.
        self._order = asyncio.Lock()

    def look_up(self, reference: str, owner: str) -> None:
        """Find out whether there is a key; `found` says."""
        self._start(owner, self._secrets.read(reference, owner))

    def keep(self, owner: str, key: str, *, only_session: bool) -> None:
        """Keep a key in the system's key store, or for this session only; `found` says where."""
        secret = Secret(key.strip())
        self._start(owner, self._secrets.keep(owner, secret, only_session=only_session))

    def let_go(self, owner: str) -> None:
        """Remove a key from this session alone; what the key store holds stays there."""
        self._start(owner, self._let_go(owner))

    def forget(self, owner: str) -> None:
        """Remove a key from the key store and from this session."""
        self._start(owner, self._forget(owner))

    def rename(self, old: str, new: str) -> None:
        """Let a key follow its connection's new name."""
        self._start(new, self._rename(old, new))

    async def settled(self) -> None:
        """Wait until what was begun is done; runs in the loop. A new name's key moves meanwhile."""
        waiting = [asyncio.wrap_future(each) for each in tuple(self._pending)]
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _let_go(self, owner: str) -> SecretLookup:
        await self._secrets.let_go(owner)
        return await self._secrets.read(KEYRING, owner)

    async def _forget(self, owner: str) -> SecretLookup:
        await self._secrets.forget(owner)
        return SecretLookup(None, "none", tr("no key is kept for this connection"))

    async def _rename(self, old: str, new: str) -> SecretLookup:
        kept = await self._secrets.read(KEYRING, old)
        if kept.secret is None:
            return kept
        moved = await self._secrets.keep(new, kept.secret, only_session=kept.place == "session")
        await self._secrets.forget(old)
        return moved

    def _start(self, owner: str, work: Coroutine[Any, Any, SecretLookup]) -> None:
        def told(future: Future[SecretLookup]) -> None:
            self._pending.discard(future)
            if not future.cancelled() and future.exception() is None:
                lookup = future.result()
                self.found.emit(owner, KeyState(lookup.place, lookup.reason))

        async def in_order() -> SecretLookup:
            try:
                async with self._order:
                    return await work
            finally:
                work.close()  # where the wait was cut off, it never began

        self._pending.add(self._background.start(in_order(), told))
