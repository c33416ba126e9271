"""Trying connections in the background: whether they answer, and with which models."""

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

# Keys of connections: kept, looked for and forgotten in the loop's thread; never handed on.


@dataclass(frozen=True, slots=True)
class KeyState:
    """The place of a connection's key, without the key."""

    place: SecretPlace
    """Place; "none" where there is none."""

    reason: str = ""
    """Reason why there is none, or why it is only in this session."""


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
                work.close()  # where the wait was cut off, it never began

        self._pending.add(self._background.start(in_order(), told))


TrialState: TypeAlias = Literal["untried", "running", "works", "fails"]
"""State of a trial."""


@dataclass(frozen=True, slots=True)
class ConnectionTrial:
    """The last try of a connection."""

    state: TrialState = "untried"
    """State of the trial."""

    probe: Probe | None = None
    """Its outcome, once it has ended."""

    asks: str = ""
    """The model that is being asked for each ability; empty while none is."""

    tried: tuple[TriedAbility, ...] = ()
    """Results of the abilities tested so far."""


class ConnectionTrials(QObject):
    """At most one try of each connection at a time."""

    changed = Signal(str, ConnectionTrial)  # name of the connection, Trial
    tried = Signal(str, dict)  # name of the connection, the table to be kept (`tried_table`)

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
        """Return the last try of a connection, if it has not changed since."""
        tried, trial = self._trials.get(connection.name, (None, ConnectionTrial()))
        return trial if tried is not None and _same(tried, connection) else ConnectionTrial()

    def models(self, connection: Connection) -> tuple[str, ...]:
        """Return the models that its server offers; empty before the first request."""
        found = self.of(connection).probe
        return found.models if found is not None else ()

    def listed(self, connection: Connection, model_id: str) -> JsonObject | None:
        """Return the server's entry of a model in its list; `None` before the first request."""
        found = self.of(connection).probe
        described = found.listed if found is not None else ()
        return next((each for each in described if each.get("id") == model_id), None)

    def start(self, connection: Connection, *, abilities: bool = False) -> None:
        """Try a connection; one of that name under way is cancelled first.

        Args:
            connection: what is tried.
            abilities: whether its model is then asked once for each ability.
        """
        name = connection.name
        self.cancel(name)
        self._set(connection, ConnectionTrial("running"))

        def show(trial: ConnectionTrial) -> None:
            if self._running.get(name) is future:  # else cancelled, or another try was begun
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
        """Break a try off; what is known by then stays, else the connection is untried again."""
        future = self._running.pop(name, None)
        if future is not None:
            future.cancel()
            connection, trial = self._trials[name]
            known = trial.probe is not None
            self._set(connection, replace(trial, asks="") if known else ConnectionTrial())

    def rename(self, old: str, connection: Connection) -> None:
        """Let a finished try follow its connection's new name."""
        self.cancel(old)
        tried = self._trials.pop(old, None)
        if tried is not None:
            self._trials[connection.name] = (connection, tried[1])

    def forget(self, name: str) -> None:
        """Let go of a connection that is gone."""
        self.cancel(name)
        self._trials.pop(name, None)

    async def _try(
        self, connection: Connection, show: Callable[[ConnectionTrial], None], *, abilities: bool
    ) -> None:
        """Try it, then ask its model once for each ability; `show` gets each new standing."""
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
        """Ask it; what answers right here is opened, which finds files that are missing."""
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
    """Report a defect of a trial by its kind only, since its text can contain what was sent."""
    return Probe(
        False,
        tr("The test was interrupted ({name}).").format(name=type(error).__name__),
        tr("Check its fields."),
    )


def _same(tried: Connection, now: Connection) -> bool:
    """Return whether nothing has changed that affects whether it answers."""
    return address_of(tried) == address_of(now) and _asked(tried) == _asked(now)


def _asked(connection: Connection) -> Connection:
    return replace(connection, model="", capabilities={}, tried={}, name="", base_url="")
