"""Experiment tools: what a run would send, the run itself, and its results."""

# The annotations must be evaluated: the SDK builds schemas from them and finds the functions that
# ask the user in them. It could not resolve those functions in strings.

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, TypeAlias

from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from studio.application.experiments.exports.forms import summary_of
from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import ledger_path, report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.cells import CellKey, CellOutcome
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.masking.walk import masked
from studio.core.models.base import ModelError
from studio.core.text.amounts import counted
from studio.core.tools.source import ToolSourceError
from studio.servers.mcp.debug_tools import OUTWARD, READS, Answer
from studio.servers.mcp.served_folder import ServedFolder, UserConsent, ask, needs

ExperimentPath: TypeAlias = Annotated[
    str, Field(description="An .experiment.yaml file, relative to the served folder")
]
VariantNames: TypeAlias = Annotated[
    list[str] | None, Field(description="Names of variants; by default, all")
]
_MOST = 50
"""Maximum number of failing cells that are returned completely."""


def add_experiment_tools(server: MCPServer, folder: ServedFolder) -> None:
    """Add the tools for experiments to a server."""
    _add_plan(server, folder)
    _add_run(server, folder)
    _add_results(server, folder)


def _add_plan(server: MCPServer, folder: ServedFolder) -> None:
    @server.tool(annotations=READS)
    async def experiment_plan(file: ExperimentPath, variants: VariantNames = None) -> Answer:
        """Return what an experiment would send and cost. Nothing is sent."""
        with _opened(folder, file) as ledger:
            plan = _plan(folder, file, variants)
            runner = ExperimentRunner(plan, _services(folder), ledger)
            try:
                estimate = await runner.prepare()
            except (ExperimentError, ModelError, ToolSourceError) as error:
                raise ToolError(str(error)) from None
            finally:
                await runner.close()
        return {
            "rows": len(plan.rows),
            "repeats": plan.repeats,
            "variants": [
                {
                    "name": each.name,
                    "connection": each.choice.connection.name,
                    "model": each.choice.declaration.id,
                    "why": each.choice.reason,
                }
                if each.choice is not None
                else {"name": each.name, "connection": "echo"}
                for each in plan.variants
            ],
            "to_send": estimate.to_send,
            "equal": estimate.equal,
            "tokens": estimate.tokens,
            "cost": estimate.cost,
            "warnings": [str(each) for each in plan.warnings],
            "faults": list(estimate.faults),
        }


def _add_run(server: MCPServer, folder: ServedFolder) -> None:
    async def may_send(
        ctx: Context, file: str, variants: list[str] | None
    ) -> Elicit[UserConsent] | UserConsent:
        plan = _plan(folder, file, variants)
        asked = [each.choice for each in plan.variants if each.choice is not None]
        for choice in asked:
            if choice.connection.key and not folder.trust.is_trusted(folder.path(file).parent):
                raise ToolError(
                    f"The folder of {file!r} is not trusted, so no key is read for it. The user "
                    "can trust it in Prompt Studio, or start this server with --trust."
                )
        remote = sorted({one.connection.name for one in asked if one.connection.is_remote})
        if not remote:
            return UserConsent(allow=True)
        cells = plan.cells
        return ask(
            folder, ctx, f"May {counted(cells, 'cell')} of {file!r} be sent to {', '.join(remote)}?"
        )

    @server.tool(annotations=OUTWARD)
    async def experiment_run(
        ctx: Context,
        file: ExperimentPath,
        consent: Annotated[UserConsent, Resolve(may_send)],
        variants: VariantNames = None,
    ) -> Answer:
        """Run every cell of an experiment, grade the answers, and compare the variants."""
        needs(consent)
        with _opened(folder, file) as ledger:
            plan = _plan(folder, file, variants)
            cells = plan.cells
            progress = _CellProgress(ctx, cells)
            runner = ExperimentRunner(plan, _services(folder), ledger, on_cell=progress.count)
            try:
                await runner.prepare()
                result = runner.begin()
                async with progress:
                    await runner.run(result)
            except (ExperimentError, ModelError, ToolSourceError) as error:
                raise ToolError(str(error)) from None
            finally:
                await runner.close()
            return _result(folder, ledger, result, "")


class _CellProgress:
    """Reports the number of finished cells, no faster than the client accepts reports."""

    def __init__(self, ctx: Context, cells: int) -> None:
        self._ctx = ctx
        self._cells = cells
        self._over = 0
        self._changed = asyncio.Event()
        self._telling: asyncio.Task[None] | None = None

    def count(self, key: CellKey, outcome: CellOutcome) -> None:
        """Count a finished cell."""
        self._over += 1
        self._changed.set()

    async def __aenter__(self) -> None:
        await self._ctx.report_progress(0, self._cells)
        self._telling = asyncio.create_task(self._tell())

    async def __aexit__(self, *_: object) -> None:
        if self._telling is not None:
            self._telling.cancel()
            with suppress(asyncio.CancelledError):
                await self._telling
        await self._ctx.report_progress(self._over, self._cells)

    async def _tell(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            await self._ctx.report_progress(self._over, self._cells)


def _add_results(server: MCPServer, folder: ServedFolder) -> None:
    @server.tool(annotations=READS)
    def experiment_results(
        file: ExperimentPath,
        result: Annotated[int, Field(description="Its number; by default, the newest", ge=0)] = 0,
        baseline: Annotated[
            str, Field(description="Baseline: a variant, #number, label or accepted")
        ] = "",
    ) -> Answer:
        """Return an experiment's result: passed rows, comparison, gates, and failed cells."""
        with _opened(folder, file) as ledger:
            heads = ledger.results(str(folder.path(file)))
            found = next((head.id for head in heads if result in (0, head.id)), None)
            if found is None:
                raise ToolError("This experiment has no such result yet.")
            return _result(folder, ledger, found, baseline)


def _result(folder: ServedFolder, ledger: ExperimentLedger, result: int, baseline: str) -> Answer:
    from studio.application.experiments.exports.cells import cells_of

    report = report_of(ledger, result, baseline) if baseline else report_of(ledger, result)
    failed = [
        {
            "row": cell.row.number,
            "variant": cell.variant,
            "answer": cell.outcome.output,
            "error": cell.outcome.error,
            "assertions": [
                {"state": str(each.state), "assertion": each.label, "reason": each.reason}
                for each in cell.outcome.results
            ],
        }
        for cell in cells_of(ledger, report)
        if not cell.outcome.passed
    ]
    whole = {**summary_of(report), "failed": failed[:_MOST], "failed_in_all": len(failed)}
    return masked(whole, folder.secrets.masker)


def _services(folder: ServedFolder) -> ExperimentServices:
    return ExperimentServices(
        folder.trust, folder.connections, folder.secrets, folder.embedded, approve=False
    )


def _plan(folder: ServedFolder, file: str, variants: list[str] | None) -> ExperimentPlan:
    choices = ExperimentChoices(tuple(variants or ()))
    try:
        return plan_experiment(folder.existing(file), _services(folder), choices)
    except (ExperimentError, ModelError) as error:
        raise ToolError(str(error)) from None


@contextmanager
def _opened(folder: ServedFolder, file: str) -> Iterator[ExperimentLedger]:
    path: Path = folder.existing(file)
    try:
        ledger = ExperimentLedger(ledger_path(path))
    except LedgerError as error:
        raise ToolError(str(error)) from None
    try:
        yield ledger
    finally:
        ledger.close()
