"""Texts for a section without a search: proposed, looked at, and tried as variants by the user."""

from __future__ import annotations

from collections.abc import Sequence

from studio.application.experiments.improve.candidates import (
    AnsweredRow,
    ProposedText,
    SectionProposer,
    section_text,
)
from studio.application.experiments.improve.score import answered_row
from studio.application.experiments.plan import (
    ExperimentPlan,
    ExperimentServices,
)
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import PromptDocument

MOST_TEXTS = 8
"""Texts at most that are proposed at a time."""

_MOST_ROWS = 6


def rows_to_show(
    ledger: ExperimentLedger, plan: ExperimentPlan, at: int
) -> tuple[AnsweredRow, ...]:
    """Rows of the newest result that has a variant, those that fail first."""
    name = plan.variants[at].name
    for head in ledger.results(str(plan.file.path or "")):
        names = ledger.variants(head.id)
        if name not in names:
            continue
        rows = {row.key: row for row in plan.rows}
        keys = {row.number: row.key for row in ledger.rows(head.id)}
        cells = sorted(
            (bool(passed), CellKey(repeat, row, of))
            for repeat, row, of, _, passed, _ in ledger.scans.states(head.id)
            if names[of] == name and passed is not None
        )
        shown: dict[int, AnsweredRow] = {}
        for _, cell in cells:
            row, outcome = rows.get(keys[cell.row]), ledger.outcome(head.id, cell)
            if row is not None and outcome is not None and cell.row not in shown:
                shown[cell.row] = answered_row(row, [outcome])
            if len(shown) == _MOST_ROWS:
                break
        return tuple(shown.values())
    return ()


async def propose_texts(
    document: PromptDocument,
    title: str,
    count: int,
    proposer: ModelChoice,
    services: ExperimentServices,
    rows: Sequence[AnsweredRow],
    *,
    trusted: bool,
    wish: str = "",
) -> tuple[tuple[ProposedText, ...], SectionProposer]:
    """Ask for some texts of a section, each unlike the others.

    Returns:
        Every text that was proposed, refused ones with their reason, and who was asked, for its
        tokens and cost.

    Raises:
        ExperimentError: there is no such section.
        ModelError: the model cannot be opened.
    """
    current = section_text(document, title)
    asked = SectionProposer(document, title, proposer, services, trusted=trusted, wish=wish)
    made: list[ProposedText] = []
    try:
        for _ in range(max(1, min(count, MOST_TEXTS))):
            known = [each.text for each in made if not each.refusal]
            made += await asked.texts(current, rows, known)
            if made[-1].refusal:
                break  # some tries gave nothing: the next ones would not either
    finally:
        await asked.close()
    return tuple(made), asked
