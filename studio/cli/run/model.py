"""Choose the model of a run: the prompt's, or another one when a stored run continues."""

import argparse
import sys
from pathlib import Path
from typing import TypeAlias

from studio.application.connections.model import (
    Answerers,
    asked_by,
    choice_of,
    choice_words,
    choices_of_run,
)
from studio.application.run.past.again import PastRun
from studio.application.trust import is_trusted
from studio.cli.terminal import UsageError, tell
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.values.commands import ChooseModel, Command
from studio.core.agent.values.step import RunModel
from studio.core.models.base import ChatModel, ModelError
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connections
from studio.core.models.scripted import RecordingModel, ReplayModel
from studio.core.prompty.document import PromptDocument
from studio.core.tools.trust.store import TrustStore

Chosen: TypeAlias = tuple[ChatModel, tuple[Command, ...]]
"""Model, and the commands that record the choice in the run."""


def model_of_prompt(
    options: argparse.Namespace, document: PromptDocument, trust: TrustStore, answerers: Answerers
) -> ChatModel:
    """Return the model for a prompt and print why it was chosen.

    Raises:
        UsageError: the connection does not exist.
        ModelError: the connection is incomplete, or the prompt sets an address.
    """
    if options.replay is not None:
        return ReplayModel(Path(options.replay))
    choice = choice_for(options, document, trust, answerers.connections)
    how = (
        "Nothing was sent. Add the connection (prompt-studio connections add), name another for "
        "this call (--connection NAME), or use one for the folder (prompt-studio connections use "
        "NAME)."
    )
    trusted = is_trusted(document.source.path, trust)
    model = answerers.open(choice, document.source.path, trusted=trusted, how=how)
    return recorded(model, options.record, answerers)


def choice_for(
    options: argparse.Namespace,
    document: PromptDocument,
    trust: TrustStore,
    connections: Connections,
) -> ModelChoice:
    """Return the connection and model of a prompt and print notes about them.

    Args:
        options: `connection` and `model` are the user's choice.
        document: the prompt.
        trust: the trusted folders.
        connections: the configured connections.

    Raises:
        UsageError: the connection does not exist.
    """
    for problem in connections.problems:
        tell(f"prompt-studio: {problem}")
    if options.connection and connections.named(options.connection) is None:
        known = ", ".join(repr(each.name) for each in connections.connections)
        raise UsageError(f"no connection {options.connection!r}; there are {known}")
    asked = asked_by(document, trust)
    choice = choice_of(asked, connections, options.connection, options.model)
    if (choice.missing or choice.warning) and not choice.refusal:
        tell(f"prompt-studio: {choice_words(choice)}")
    return choice


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `choice_for`."""
    parser.add_argument("--connection", default="", metavar="NAME", help="connection to use")
    parser.add_argument(
        "-m", "--model", default="", help="model to use, instead of the prompt's or connection's"
    )


def model_of_fork(
    options: argparse.Namespace,
    past: PastRun,
    model: ChatModel,
    answerers: Answerers,
    trust: TrustStore,
) -> Chosen:
    """Return the model with which a stored run continues; ask the user if it has changed.

    Args:
        options: `connection`, `model` and `fork_model` are the user's choice; replies are recorded
            in `record`.
        past: the run.
        model: the model that the prompt currently requests.
        answerers: services that open models.
        trust: the trusted folders.

    Raises:
        ModelError: there is no terminal to ask on, or the run's model is not configured.
    """
    had, now = past.state.answered_by, run_model_of(model)
    if now.is_same(had):
        return model, ()
    is_named = bool(options.connection or options.model)
    word = options.fork_model or ("prompt" if is_named else _asked(had, now))
    if word == "prompt":
        return model, (ChooseModel(now, had, model),)
    document = past.document
    asked = asked_by(document, trust)
    choices = choices_of_run(asked, answerers.connections, had)
    found = answerers.open_same(had, choices, document.source.path, trusted=asked.trusted)
    if found is None:
        raise ModelError(
            "missing-model",
            f"The model of the run, {had.name}, is not configured here.",
            "Add a connection for it, or continue with the prompt's: --fork-model prompt.",
        )
    return recorded(found[0], options.record, answerers), (ChooseModel(had, now),)


def _asked(had: RunModel, now: RunModel) -> str:
    """Ask on the terminal which model to use and return the answer."""
    words = f"The run used {had.name}; the prompt now requests {now.name}."
    if not sys.stdin.isatty():
        raise ModelError(
            "other-model", words, "Choose one: --fork-model run, or --fork-model prompt."
        )
    tell(f"prompt-studio: {words}")
    while True:
        tell(f"Continue with {had.name} (run) or {now.name} (prompt)? ", end="")
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise ModelError("other-model", "Nothing was sent: no model was chosen.")
        if line.strip() in ("run", "prompt"):
            return line.strip()


def open_named(
    document: PromptDocument,
    trust: TrustStore,
    answerers: Answerers,
    record: Path | None,
    words: str,
) -> ChatModel:
    """Return the model of `CONNECTION [ID]`.

    Args:
        document: the prompt.
        trust: the trusted folders.
        answerers: services that open models.
        record: file in which replies are recorded, if any.
        words: the text of the user.

    Raises:
        UsageError: there is no such connection.
        ModelError: the connection is incomplete.
    """
    connections, asked = answerers.connections, asked_by(document, trust)
    name, model = words.strip(), ""
    if connections.named(name) is None:
        name, _, model = name.rpartition(" ")
    if connections.named(name) is None:
        known = ", ".join(repr(each.name) for each in connections.connections)
        raise UsageError(f"write `model CONNECTION` or `model CONNECTION ID`; there are {known}")
    choice = choice_of(asked, connections, name, model)
    found = answerers.open(choice, document.source.path, trusted=asked.trusted)
    return recorded(found, record, answerers)


def recorded(model: ChatModel, record: Path | None, answerers: Answerers) -> ChatModel:
    """Wrap a model to record its replies if a file is named.

    Raises:
        UsageError: the file cannot be written; nothing was sent.
    """
    if record is None:
        return model
    try:
        record.parent.mkdir(parents=True, exist_ok=True)
        record.open("a", encoding="utf-8").close()
    except OSError as error:
        raise UsageError(f"--record {record}: {error.strerror}") from None
    return RecordingModel(model, record, answerers.secrets.masker)
