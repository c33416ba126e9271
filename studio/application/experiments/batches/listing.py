"""The batches that a result has under way, as their providers describe them now."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from studio.application.words import tr
from studio.core.experiments.results.batch_store import KeptBatch
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.base import ModelError
from studio.core.models.batches.open_batches import open_batches
from studio.core.models.connection_file import Connections
from studio.core.models.secrets import SecretStore


@dataclass(frozen=True)
class ListedBatch:
    """One batch that is not read to its end."""

    kept: KeptBatch
    """As the ledger has it."""

    status: str = ""
    """How far its provider is with it; `noted` where nobody knows whether it was sent."""

    answered: int = 0
    """Requests that are over."""

    fault: str = ""
    """Why the provider cannot be asked, one sentence."""


async def batches_under_way(
    ledger: ExperimentLedger,
    result: int,
    connections: Connections,
    secrets: SecretStore,
    *,
    cancel: bool = False,
) -> list[ListedBatch]:
    """Ask the providers how far the batches of a result are.

    Args:
        ledger: where they are noted.
        result: its number.
        connections: what the user has set up.
        secrets: where keys are.
        cancel: whether to let the providers begin no more of them.
    """
    return [
        await _looked_at(each, connections, secrets, cancel=cancel)
        for each in ledger.batches.under_way(result)
    ]


async def _looked_at(
    kept: KeptBatch, connections: Connections, secrets: SecretStore, *, cancel: bool
) -> ListedBatch:
    if not kept.remote:
        return ListedBatch(kept, "noted")
    connection = connections.named(kept.connection)
    if connection is None:
        words = tr("there is no connection {name!r} any more")
        return ListedBatch(kept, fault=words.format(name=kept.connection))
    try:
        api = open_batches(replace(connection, model=kept.model), secrets)
        try:
            if cancel:
                await api.cancel(kept.remote)
            remote = await api.look(kept.remote)
        finally:
            with suppress(ModelError):
                await api.close()
    except ModelError as error:
        return ListedBatch(kept, fault=str(error))
    return ListedBatch(kept, remote.status, remote.answered)
