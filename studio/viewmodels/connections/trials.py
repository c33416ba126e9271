"""Trying connections in the background: whether they answer, and with which models."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.models.abilities_trial import TriedAbility, tried_table, try_abilities
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.models.connection_file import Connections
from studio.core.models.connections import Connection, address_of
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.factory import open_model
from studio.core.models.probe import Probe, probe
from studio.core.models.secrets import SecretStore
from studio.core.prompty.document import ModelDeclaration
from studio.core.text.values import JsonObject
from studio.viewmodels.app.background import Background
from studio.viewmodels.connections.keys import ConnectionKeys

TrialState: TypeAlias = Literal["untried", "running", "works", "fails"]
"""How a trial stands."""


@dataclass(frozen=True, slots=True)
class ConnectionTrial:
    """The last try of a connection."""

    state: TrialState = "untried"
    """How it stands."""

    probe: Probe | None = None
    """Its outcome, once it has ended."""

    asks: str = ""
    """The model that is being asked for each ability; empty while none is."""

    tried: tuple[TriedAbility, ...] = ()
    """What became of the abilities asked for so far."""


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
        self._running: dict[str, Future[Probe] | Future[tuple[TriedAbility, ...]]] = {}

    def of(self, connection: Connection) -> ConnectionTrial:
        """The last try of a connection as it is; one that was changed since is untried."""
        tried, trial = self._trials.get(connection.name, (None, ConnectionTrial()))
        return trial if tried is not None and _same(tried, connection) else ConnectionTrial()

    def models(self, connection: Connection) -> tuple[str, ...]:
        """The models that its server was found to offer; empty while nobody asked."""
        found = self.of(connection).probe
        return found.models if found is not None else ()

    def listed(self, connection: Connection, model_id: str) -> JsonObject | None:
        """What its server said of a model in its list; `None` while nobody asked."""
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
        if name in self._running:
            self.cancel(name)
        self._set(connection, ConnectionTrial("running"))
        future = self._background.start(self._try(connection))
        self._running[name] = future
        future.add_done_callback(
            lambda ended: self._background.post(
                lambda: self._on_ended(connection, ended, abilities=abilities)
            )
        )

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

    async def _try(self, connection: Connection) -> Probe:
        """Try it; what answers right here is opened, which finds files that are missing."""
        await self._keys.settled()
        if connection.is_remote or connection.kind == "embedded":
            return await probe(connection, self._secrets, self._embedded)
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

    def _on_ended(self, connection: Connection, future: Future[Probe], *, abilities: bool) -> None:
        if self._running.get(connection.name) is not future:
            return  # cancelled, or another try was begun
        del self._running[connection.name]
        if future.cancelled():
            self._set(connection, ConnectionTrial())
            return
        error = future.exception()
        found = future.result() if error is None else _broken(error)
        only = found.models[0] if len(found.models) == 1 else ""
        model = (connection.model or only) if abilities and connection.is_remote else ""
        if not found.works or not model:
            self._set(connection, ConnectionTrial("works" if found.works else "fails", found))
            return
        self._set(connection, ConnectionTrial("works", found, model))
        asking = self._background.start(self._ask(connection, model))
        self._running[connection.name] = asking
        asking.add_done_callback(
            lambda ended: self._background.post(lambda: self._on_asked(connection, model, ended))
        )

    async def _ask(self, connection: Connection, model: str) -> tuple[TriedAbility, ...]:
        def told(each: TriedAbility) -> None:
            self._background.post(lambda: self._on_told(connection, model, each))

        read = partial(self._secrets.read, connection.key, connection.name)
        return await try_abilities(connection, model, read, told)

    def _on_told(self, connection: Connection, model: str, each: TriedAbility) -> None:
        trial = self.of(connection)
        if trial.asks == model:
            self._set(connection, replace(trial, tried=(*trial.tried, each)))

    def _on_asked(
        self, connection: Connection, model: str, future: Future[tuple[TriedAbility, ...]]
    ) -> None:
        if self._running.get(connection.name) is not future:
            return  # cancelled, or another try was begun
        del self._running[connection.name]
        trial = replace(self.of(connection), asks="")
        if not future.cancelled() and future.exception() is None:
            trial = replace(trial, tried=future.result())
            self.tried.emit(connection.name, tried_table(model, future.result()))
        self._set(connection, trial)

    def _set(self, connection: Connection, trial: ConnectionTrial) -> None:
        self._trials[connection.name] = (connection, trial)
        self.changed.emit(connection.name, trial)


def _broken(error: BaseException) -> Probe:
    """A defect on the way: said by its kind only, since a text may hold what was sent."""
    return Probe(
        False,
        tr("Trying it broke off ({name}).").format(name=type(error).__name__),
        tr("Check its fields."),
    )


def _same(tried: Connection, now: Connection) -> bool:
    """Whether nothing changed that decides whether it answers."""
    return address_of(tried) == address_of(now) and _asked(tried) == _asked(now)


def _asked(connection: Connection) -> Connection:
    return replace(connection, model="", capabilities={}, tried={}, name="", base_url="")
