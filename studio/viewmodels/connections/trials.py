"""Connection tests in the background: whether servers answer, and which models they have."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice, open_model
from studio.core.models.connections import Connection, Connections, address_of
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.probe import Probe, TriedAbility, probe, tried_table, try_abilities
from studio.core.models.secrets import KEYRING, Secret, SecretLookup, SecretPlace, SecretStore
from studio.core.prompty.document import ModelDeclaration
from studio.core.text.values import JsonObject
from studio.viewmodels.app.background import Background

# Keys of connections: stored, looked up and deleted in the loop's thread, never returned.


@dataclass(frozen=True, slots=True)
class KeyState:
    """The place of a connection's key, without the key itself."""

    place: SecretPlace
    """Place of the key; "none" if there is no key."""

    reason: str = ""
    """Reason why there is no key, or why it is only stored for this session."""


class ConnectionKeys(QObject):
    """Reports where keys are stored; the keys themselves stay in the store."""

    found = Signal(str, KeyState)  # name of a connection, KeyState

    def __init__(
        self, background: Background, secrets: SecretStore, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._secrets = secrets
        self._pending: set[Future[SecretLookup]] = set()
        # In the order of the requests: a slow answer about an old name must not arrive after a
        # later change.
        self._order = asyncio.Lock()

    def look_up(self, reference: str, owner: str) -> None:
        """Look up whether there is a key; `found` reports it."""
        self._start(owner, self._secrets.read(reference, owner))

    def keep(self, owner: str, key: str, *, only_session: bool) -> None:
        """Save a key in the system's key store or for this session only; `found` reports where."""
        secret = Secret(key.strip())
        self._start(owner, self._secrets.keep(owner, secret, only_session=only_session))

    def let_go(self, owner: str) -> None:
        """Remove a key from this session only; a key in the key store stays."""
        self._start(owner, self._let_go(owner))

    def forget(self, owner: str) -> None:
        """Delete a key from the key store and from this session."""
        self._start(owner, self._forget(owner))

    def rename(self, old: str, new: str) -> None:
        """Move a key to the new name of its connection."""
        self._start(new, self._rename(old, new))

    async def settled(self) -> None:
        """Wait in the loop until the started changes are done, such as a move to a new name."""
        waiting = [asyncio.wrap_future(each) for each in tuple(self._pending)]
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _let_go(self, owner: str) -> SecretLookup:
        await self._secrets.let_go(owner)
        return await self._secrets.read(KEYRING, owner)

    async def _forget(self, owner: str) -> SecretLookup:
        await self._secrets.forget(owner)
        return SecretLookup(None, "none", tr("no key is stored for this connection"))

    async def _rename(self, old: str, new: str) -> SecretLookup:
        kept = await self._secrets.read(KEYRING, old)
        if kept.secret is None:
            return kept
        moved = await self._secrets.keep(new, kept.secret, only_session=kept.place == "session")
        await self._secrets.forget(old)
        return moved

    def _start(self, owner: str, work: Coroutine[object, object, SecretLookup]) -> None:
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
                work.close()  # cancelled before it began

        self._pending.add(self._background.start(in_order(), told))


TrialState: TypeAlias = Literal["untried", "running", "works", "fails"]
"""State of a test."""


@dataclass(frozen=True, slots=True)
class ConnectionTrial:
    """The last test of a connection."""

    state: TrialState = "untried"
    """State of the test."""

    probe: Probe | None = None
    """Outcome of the test, once it has ended."""

    asks: str = ""
    """Ability that is being tested; empty while none is."""

    tried: tuple[TriedAbility, ...] = ()
    """Results of the abilities tested so far."""


class ConnectionTrials(QObject):
    """Runs at most one test of each connection at a time."""

    changed = Signal(str, ConnectionTrial)  # name of the connection, its test
    tried = Signal(str, dict)  # name of the connection, table to save (`tried_table`)

    def __init__(
        self,
        background: Background,
        secrets: SecretStore,
        embedded: EmbeddedServer,
        connections: Callable[[], Connections],
        keys: ConnectionKeys,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._secrets = secrets
        self._embedded = embedded
        self._connections = connections
        self._keys = keys
        self._trials: dict[str, tuple[Connection, ConnectionTrial]] = {}
        self._running: dict[str, Future[None]] = {}

    def of(self, connection: Connection) -> ConnectionTrial:
        """Return the last test of a connection, unless the connection has changed since."""
        tried, trial = self._trials.get(connection.name, (None, ConnectionTrial()))
        return trial if tried is not None and _same(tried, connection) else ConnectionTrial()

    def models(self, connection: Connection) -> tuple[str, ...]:
        """Return the models that the server offers; empty before the first request."""
        found = self.of(connection).probe
        return found.models if found is not None else ()

    def listed(self, connection: Connection, model_id: str) -> JsonObject | None:
        """Return the server's list entry of a model; None before the first request."""
        found = self.of(connection).probe
        described = found.listed if found is not None else ()
        return next((each for each in described if each.get("id") == model_id), None)

    def start(self, connection: Connection, *, abilities: bool = False) -> None:
        """Test a connection; a running test of the same name is cancelled first.

        Args:
            connection: the connection.
            abilities: whether the model's abilities are also tested, with one request each.
        """
        name = connection.name
        self.cancel(name)
        self._set(connection, ConnectionTrial("running"))

        def show(trial: ConnectionTrial) -> None:
            if self._running.get(name) is future:  # otherwise cancelled or replaced by another test
                self._set(connection, trial)

        def end(ended: Future[None]) -> None:
            if self._running.get(name) is not future:
                return
            del self._running[name]
            trial = replace(self.of(connection), asks="")
            error = None if ended.cancelled() else ended.exception()
            if trial.probe is None:
                found = _broken(error) if error is not None else None
                trial = ConnectionTrial("fails", found) if found is not None else ConnectionTrial()
            elif error is None and trial.tried:
                asked = connection.model or trial.probe.models[0]
                self.tried.emit(name, tried_table(asked, trial.tried))
            self._set(connection, trial)

        def show_soon(trial: ConnectionTrial) -> None:
            self._background.post(partial(show, trial))

        future = self._background.start(self._try(connection, show_soon, abilities=abilities), end)
        self._running[name] = future

    def cancel(self, name: str) -> None:
        """Cancel a test; the results so far stay, if there are any."""
        future = self._running.pop(name, None)
        if future is not None:
            future.cancel()
            connection, trial = self._trials[name]
            known = trial.probe is not None
            self._set(connection, replace(trial, asks="") if known else ConnectionTrial())

    def rename(self, old: str, connection: Connection) -> None:
        """Move a finished test to the new name of its connection."""
        self.cancel(old)
        tried = self._trials.pop(old, None)
        if tried is not None:
            self._trials[connection.name] = (connection, tried[1])

    def forget(self, name: str) -> None:
        """Remove the tests of a deleted connection."""
        self.cancel(name)
        self._trials.pop(name, None)

    async def _try(
        self, connection: Connection, show: Callable[[ConnectionTrial], None], *, abilities: bool
    ) -> None:
        """Test the connection, then each ability; call `show` after each step."""
        found = await self._probe(connection)
        only = found.models[0] if len(found.models) == 1 else ""
        model = (connection.model or only) if abilities and connection.is_remote else ""
        trial = ConnectionTrial("works" if found.works else "fails", found)
        if not found.works or not model:
            show(trial)
            return
        show(replace(trial, asks=model))
        read = partial(self._secrets.read, connection.key, connection.name)
        so_far: list[TriedAbility] = []

        def told(ability: TriedAbility) -> None:
            so_far.append(ability)
            show(replace(trial, asks=model, tried=tuple(so_far)))

        tried = await try_abilities(connection, model, read, told)
        show(replace(trial, asks=model, tried=tried))

    async def _probe(self, connection: Connection) -> Probe:
        """Send a test request; open an embedded or scripted model, which finds missing files."""
        await self._keys.settled()
        if not connection.is_remote and connection.kind != "embedded":
            choice = ModelChoice(connection, ModelDeclaration(), "tried")
            try:
                model = open_model(
                    choice,
                    secrets=self._secrets,
                    embedded=self._embedded,
                    connections=self._connections(),
                )
                await model.close()
            except ModelError as error:
                return Probe(False, error.message, error.hint)
        return await probe(connection, self._secrets, self._embedded)

    def _set(self, connection: Connection, trial: ConnectionTrial) -> None:
        self._trials[connection.name] = (connection, trial)
        self.changed.emit(connection.name, trial)


def _broken(error: BaseException) -> Probe:
    """Report an unexpected error of a test by its type only: its text may contain sent data."""
    return Probe(
        False,
        tr("The test was interrupted ({name}).").format(name=type(error).__name__),
        tr("Check its fields."),
    )


def _same(tried: Connection, now: Connection) -> bool:
    """Return whether nothing has changed that affects the test."""
    return address_of(tried) == address_of(now) and _asked(tried) == _asked(now)


def _asked(connection: Connection) -> Connection:
    return replace(connection, model="", capabilities={}, tried={}, name="", base_url="")
