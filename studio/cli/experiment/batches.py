"""`experiment batches`: what a result has under way at its providers."""

from __future__ import annotations

import argparse
import asyncio
import sys

from studio.application.experiments.batches.listing import ListedBatch, batches_under_way
from studio.cli.exit_codes import FINE, PROBLEMS
from studio.cli.experiment.results import with_result
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.result import ResultHead
from studio.core.models.connection_file import read_connections
from studio.core.models.secrets import secret_store
from studio.core.paths import user_paths


def list_batches(options: argparse.Namespace) -> int:
    """List the batches of a result that are not read to their end; cancel them where asked to."""

    def show(ledger: ExperimentLedger, head: ResultHead) -> int:
        connections = read_connections(user_paths().config / "connections.toml")
        found = asyncio.run(
            batches_under_way(ledger, head.id, connections, secret_store(), cancel=options.cancel)
        )
        for each in found:
            _print(each)
        if not found:
            print(f"#{head.id} has no batches under way", file=sys.stderr)
        elif options.cancel:
            print("prompt-studio: what was answered before is paid for: run --batch --resume reads "
                  "it, and asks for the rest again", file=sys.stderr)  # fmt: skip
        return PROBLEMS if any(each.fault for each in found) else FINE

    return with_result(options, show)


def _print(batch: ListedBatch) -> None:
    kept = batch.kept
    how = batch.fault or batch.status
    answered = f"{batch.answered} of {kept.requests} answered"
    print(f"{kept.connection}\t{kept.model}\t{kept.remote or '-'}\t{how}\t{answered}")
