"""Conversations of several rows: a row whose prompt reads `_conversation` gets the turns before it.

Source: promptfoo 0.123, `runEval`: the rows of one `metadata.conversationId` are asked in order.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial

from studio.application.experiments.cell_asker import CellAsker
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.text_prompts import CONVERSATION, starts_as_chat
from studio.application.words import translate
from studio.core.experiments.assertions.result import UndecidedError
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow
from studio.core.text.values import Json, JsonObject, objects_of

_tr = partial(translate, "ExperimentPrompts")


class Conversations:
    """Gives each turn the turns before it, when they are over."""

    def __init__(self, plan: ExperimentPlan, ledger: ExperimentLedger, asker: CellAsker) -> None:
        """Take what knows the answers and the messages of earlier turns."""
        self._plan = plan
        self._ledger = ledger
        self._asker = asker
        self._rows = {row.number: row for row in plan.rows}
        self._under_way: dict[CellKey, asyncio.Event] = {}
        self._turns: dict[CellKey, tuple[JsonObject, ...]] = {}

    def begin(self, key: CellKey) -> None:
        """Note that a cell is under way; to be called in the order of the rows."""
        if self._plan.turns_before:
            self._under_way[key] = asyncio.Event()

    def end(self, key: CellKey) -> None:
        """Note that a cell is over."""
        if self._plan.turns_before:
            self._under_way.pop(key).set()

    async def row_of(self, result: int, key: CellKey) -> ExperimentRow:
        """Return the row of a cell, with the turns before as a value.

        Raises:
            UndecidedError: a turn before has no answer.
        """
        row = self._rows[key.row]
        before = self._plan.turns_before.get((key.variant, key.row))
        if before is None:
            return row
        turns: list[Json] = list(await self._turns_until(result, replace(key, row=before)))
        return replace(
            row, case=replace(row.case, variables={**row.case.variables, CONVERSATION: turns})
        )

    async def _turns_until(self, result: int, key: CellKey) -> tuple[JsonObject, ...]:
        """The turns of a conversation, a cell's own included."""
        if key in self._under_way:
            await self._under_way[key].wait()
        if key not in self._turns:
            outcome = self._ledger.outcome(result, key)
            row = await self.row_of(result, key)
            sent = await self._asker.sent(key.variant, row)
            if outcome is None or outcome.error or isinstance(sent, str):
                raise UndecidedError(
                    _tr("The turn before, row {row}, has no answer.").format(row=key.row)
                )
            messages = objects_of(sent.body.get("messages", sent.body.get("input")))
            last = messages[-1].get("content") if messages else ""
            is_chat = len(messages) > 1 or starts_as_chat(self._plan.variants[key.variant].document)
            turn: JsonObject = {
                "prompt": list(messages) if is_chat else last,
                "input": last,
                "output": outcome.output,
            }
            held = row.case.variables.get(CONVERSATION)
            self._turns[key] = (*objects_of(held), turn)
        return self._turns[key]
