"""Estimate the requests and the cost of a run."""

import asyncio
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, replace

from studio import __version__
from studio.application.experiments.asking import Asker, wants_tools
from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.providers import price_of
from studio.application.experiments.run.spending import ExperimentSpending
from studio.application.experiments.turns import LeasedCell
from studio.core.experiments.assertions.marking import reads_prompt
from studio.core.experiments.results.cells import (
    CellKey,
    CellOutcome,
    CellState,
    NewResult,
    ResultRow,
    row_facts,
)
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ExperimentRow, SentCell, cell_identities, cell_identity
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import is_local
from studio.core.tokens.tokenizers import estimate_tokens
from studio.core.wire.reply import RefusedOption, Usage

_FILE_KINDS = ("image", "file", "audio")
_REPLY_TOKENS = 400
"""Estimated tokens of a reply if the prompt sets no limit."""


@dataclass(frozen=True, slots=True)
class ExperimentEstimate:
    """The estimate of a run before it begins."""

    cells: int
    """Number of all cells."""

    equal: int
    """Number of cells with an earlier answer to an equal request: they cost nothing."""

    to_send: int
    """Number of cells that will run."""

    tokens: int
    """Approximate tokens of requests and replies."""

    cost: float | None
    """Approximate cost in US dollars; None if a price is not known."""

    faults: tuple[str, ...] = ()
    """Rows that cannot be rendered, one sentence each."""


@dataclass(frozen=True, slots=True)
class UsualSpending:
    """The average use of a variant's cells in an earlier result."""

    tokens: float
    """Tokens of its requests and replies."""

    cost: float | None
    """Cost in US dollars at the full price; None if it is not known."""


def usual_spending(ledger: ExperimentLedger, plan: ExperimentPlan) -> dict[int, UsualSpending]:
    """Return the average use of cells in the newest results of the same file, by variant.

    Only variants with the same name and model are considered.
    """
    made: dict[int, UsualSpending] = {}
    for head in ledger.results(str(plan.file.path or "")):
        names, models = ledger.variants(head.id), head.spec.get("models")
        for total in ledger.scans.variant_totals(head.id):
            asked = total.done + total.errors - total.cached
            at = next(
                (n for n, v in enumerate(plan.variants) if v.name == names[total.variant]), -1
            )
            is_counted = asked > 0 and total.tokens > 0  # a server that counts no tokens is ignored
            if not is_counted or at < 0 or at in made or not isinstance(models, list):
                continue
            if models[total.variant] != model_name(plan.variants[at].choice):
                continue
            share = float(str(head.spec.get("price_share") or 1.0))
            cost = None if total.unpriced else total.cost / asked / share
            made[at] = UsualSpending(total.tokens / asked, cost)
        if len(made) == len(plan.variants):
            break
    return made


def model_name(choice: ModelChoice | None) -> str:
    """Return the model of a variant as stored in results."""
    return choice.declaration.id if choice is not None else "echo"


def estimated_spending(
    plan: ExperimentPlan,
    usual: Mapping[int, UsualSpending],
    to_send: Iterable[tuple[int, int]],
    price_share: float = 1.0,
) -> tuple[int, float | None]:
    """Return the tokens and dollars of the cells to send, assuming one call each.

    Args:
        plan: the plan of the run.
        usual: average use in earlier results, by variant.
        to_send: variant and request tokens of each cell to run.
        price_share: cost of a request, as a share of its price.
    """
    cells: Counter[int] = Counter()
    asked: Counter[int] = Counter()
    for at, into in to_send:
        cells[at] += 1
        asked[at] += into
    tokens, cost, is_priced = 0.0, 0.0, True
    for at, count in cells.items():
        choice, known = plan.variants[at].choice, usual.get(at)
        into = asked[at] // count
        tokens += count * (known.tokens if known is not None else into + _REPLY_TOKENS)
        if choice is None or not choice.connection.is_remote:
            continue
        spent = known.cost if known is not None else None
        if spent is None:  # the price is computed once per variant, for an average cell
            price = price_of(choice)
            reply = max(1, round(known.tokens - into)) if known is not None else _REPLY_TOKENS
            spent = 0.0 if is_local(choice.connection.base_url) else None
            spent = price.of(Usage(into, reply)) if price is not None else spent
        is_priced = is_priced and spent is not None
        cost += count * (spent or 0.0)
    return round(tokens), cost * price_share if is_priced else None


# The requests of a plan's cells: which were answered before, and the cost of the others.


@dataclass(frozen=True, slots=True)
class AskedText:
    """The part of a request that assertions use."""

    text: str = ""
    """Texts of its messages."""

    tools: tuple[str, ...] = ()
    """Names of its tools."""


def requests_hash(plan: ExperimentPlan) -> str:
    """Return the hash of everything that decides the requests of a plan.

    It is empty if other files or variables affect them too: tools, references, images by name.
    """
    columns = []
    for each in plan.variants:
        document = each.document
        text = document.source.text
        is_whole = "${" not in text and "![" not in text and not wants_tools(document)
        if not is_whole or any(item.kind in _FILE_KINDS for item in document.inputs):
            return ""
        columns.append(
            [text, document.model.options, each.entry.prompt.protocol, repr(each.choice)]
        )
    whole = hashlib.sha256(f"{__version__} {plan.repeats} {plan.options.timeout_ms}".encode())
    whole.update(json.dumps([columns, plan.file.mocks], default=str).encode())
    for row in plan.rows:
        values = [plan.values_of(at, row) for at in range(len(plan.variants))]
        whole.update(json.dumps([row.key, row.case.options, values], default=str).encode())
    return whole.hexdigest()


def transform_of(row: ExperimentRow) -> str:
    """Return the code that changes a row's answer before marking; empty for none."""
    options = row.case.options
    code = options.get("transform", options.get("postprocess"))
    return code if isinstance(code, str) else ""


class SentCells:
    """Identities of cells by their requests, stored as hashes to save memory."""

    def __init__(self, plan: ExperimentPlan, ledger: ExperimentLedger, asker: Asker) -> None:
        """Store the settings; nothing is computed yet.

        Args:
            plan: the plan of the cells.
            ledger: the ledger with the answers.
            asker: builds the requests.
        """
        self._plan = plan
        self._ledger = ledger
        self._asker = asker
        self._asked: dict[tuple[int, int], AskedText] = {}
        self._tokens: dict[tuple[int, int], int] = {}
        self._faults: dict[tuple[int, int], str] = {}
        self.identities: dict[CellKey, bytes] = {}
        """Identities of requests by cell; cells with equal requests share one."""
        self._asked_identities: dict[CellKey, bytes] = {}
        self._refused: dict[tuple[int, int], tuple[RefusedOption, ...]] = {}
        self._known: dict[bytes, tuple[int, CellKey]] = {}
        self._decided_again: dict[CellKey, CellOutcome] = {}

    async def prepare(
        self, spending: ExperimentSpending, going_on: int | None = None
    ) -> ExperimentEstimate:
        """Build the requests of all cells, with an open asker.

        Args:
            spending: receives the progress, and the expected use of the cells.
            going_on: a result to continue, whose finished cells do not run again.
        """
        plan = self._plan
        columns = len(plan.variants)
        over = self._finished_cells(going_on) if going_on is not None else {}
        for number, row in enumerate(plan.rows):
            spending.work_out(number * columns * plan.repeats)
            await asyncio.sleep(0)  # other tasks on this loop run while many rows are rendered
            for at, variant in enumerate(plan.variants):
                if not variant.takes(row.case):
                    continue
                kept = over.get((at, row.number))
                if kept is None:
                    await self._identify(at, row)
                else:
                    self.identities |= kept
        if plan.options.cache:
            self._known = self._ledger.known(list(dict.fromkeys(self.identities.values())))
        return self.estimate(self.identities, spending)

    def _finished_cells(self, result: int) -> dict[tuple[int, int], dict[CellKey, bytes]]:
        """Return the finished cells, by variant and row, whose request is unchanged."""
        asked_by = requests_hash(self._plan)
        if not asked_by or self._ledger.result(result).spec.get("asked_by") != asked_by:
            return {}
        waiting = {(key.variant, key.row) for key in self._ledger.waiting_keys(result)}
        made: dict[tuple[int, int], dict[CellKey, bytes]] = {}
        for key, identity in self._ledger.identities(result).items():
            if (key.variant, key.row) not in waiting:
                made.setdefault((key.variant, key.row), {})[key] = identity
        return made

    def estimate(
        self, keys: Collection[CellKey], spending: ExperimentSpending
    ) -> ExperimentEstimate:
        """Estimate the use of some cells whose requests are known.

        Args:
            keys: the cells to finish.
            spending: receives the expected use.
        """
        plan = self._plan
        new = [key for key in keys if self.identities[key] not in self._known]
        asked = [key for key in new if self.fault_of(key) is None]
        # Of equal requests, one is sent.
        by_request = {self.identities[key] if plan.options.cache else key: key for key in asked}
        to_send = list(by_request.values())
        faults = [
            f"{plan.variants[at].name}, row {number}: {fault}"
            for (at, number), fault in self._faults.items()
        ]
        tokens, cost = estimated_spending(
            plan,
            usual_spending(self._ledger, plan),
            (
                (key.variant, tokens)
                for key in to_send
                if (tokens := self._tokens.get((key.variant, key.row))) is not None
            ),
            self._asker.price_share,
        )
        count = len(to_send)
        spending.expect(tokens / max(1, count), (cost or 0.0) / max(1, count), count)
        return ExperimentEstimate(
            len(keys), len(keys) - len(new), count, tokens, cost, tuple(faults)
        )

    async def _identify(self, at: int, row: ExperimentRow) -> None:
        """Compute the identities of a row and variant."""
        sent = await self._asker.sent(at, row)
        if isinstance(sent, str):
            self._faults[at, row.number] = sent
            sent = SentCell({"unrendered": sent}, self._plan.variants[at].name, "")
        else:
            tools = tuple(sys.intern(str(each.get("name"))) for each in sent.tools)
            text = _sent_text(sent)
            self._tokens[at, row.number] = estimate_tokens(text)
            is_read = reads_prompt(row.case.assertions) or bool(transform_of(row))
            if tools or is_read:
                self._asked[at, row.number] = AskedText(text if is_read else "", tools)
        before = self._plan.turns_before.get((at, row.number))
        repeats = range(1, self._plan.repeats + 1)
        if before is None and not sent.refused:
            for repeat, identity in zip(repeats, cell_identities(sent, repeats), strict=True):
                self.identities[CellKey(repeat, row.number, at)] = identity
            return
        for repeat in repeats:
            key, earlier, as_asked = CellKey(repeat, row.number, at), "", ""
            if before is not None:  # the same previous turns, the same answers
                turn = CellKey(repeat, before, at)
                earlier = self.identities[turn].hex()
                as_asked = self._asked_identities.get(turn, self.identities[turn]).hex()
            whole = replace(sent, later=sent.later + earlier)
            self.identities[key] = cell_identity(whole, repeat)
            if sent.refused:
                asked = replace(sent, body=sent.asked_body, later=sent.later + as_asked)
                self._asked_identities[key] = cell_identity(asked, repeat)
        if sent.refused:
            self._refused[at, row.number] = sent.refused

    def resume(self, result: int, *, renamed: bool) -> None:
        """Set the identities of a continued result's cells to those of the current requests.

        Args:
            result: the result.
            renamed: whether identities may change, as they name the requests in a batch.
        """
        if renamed:
            self._ledger.rename_cells(result, self.identities)
        else:
            self.identities = self._ledger.identities(result)

    async def renew(self, result: int, at: int) -> None:
        """Compute a variant's requests again after its server has rejected an option."""
        for row in self._plan.rows:
            if self._plan.variants[at].takes(row.case):
                await self._identify(at, row)
                await asyncio.sleep(0)
        self._ledger.rename_cells(result, self.identities)

    def leased(self, key: CellKey) -> LeasedCell:
        """Return a cell with its current identity."""
        refused = self._refused.get((key.variant, key.row), ())
        return LeasedCell(key, self.identities[key], refused)

    def new_result(self, mask: Callable[[str], str]) -> NewResult:
        """Create the data of a new result with these cells.

        Args:
            mask: masks secrets in stored rows.
        """
        plan, file = self._plan, self._plan.file
        choices = [each.choice for each in plan.variants]
        return NewResult(
            file.name,
            str(file.path or ""),
            {
                "pass_rule": file.pass_rule,
                "baseline": plan.baseline,
                "bases": {each.name: each.base for each in plan.variants if each.base},
                "gates": asdict(file.gates),
                "description": file.description,
                "connections": [each.connection.name if each else "echo" for each in choices],
                "price_share": self._asker.price_share,
                "asked_by": requests_hash(plan),
                "models": [model_name(each) for each in choices],
                "prompts": [str(each.document.source.path or "") for each in plan.variants],
            },
            [each.name for each in plan.variants],
            [ResultRow(row.number, row.key, row_facts(row, mask)) for row in plan.rows],
            plan.repeats,
            self.identities.items(),
        )

    def resumable(self, result: int) -> bool:
        """Return whether an earlier result has exactly these cells."""
        if self._ledger.variants(result) != [each.name for each in self._plan.variants]:
            return False
        rows = [row.key for row in self._ledger.rows(result, with_values=False)]
        if rows != [row.key for row in self._plan.rows]:
            return False
        if self._ledger.result(result).repeats != self._plan.repeats:
            return False
        kept = self._ledger.identities(result)
        # A server may have rejected an option since: the cells are the same, and send less.
        return kept.keys() == self.identities.keys() and all(
            identity in (self.identities[key], self._asked_identities.get(key))
            for key, identity in kept.items()
        )

    def fault_of(self, key: CellKey) -> str | None:
        """Return why a cell cannot run; None if it can."""
        return self._faults.get((key.variant, key.row))

    def text_of(self, key: CellKey) -> AskedText:
        """Return the texts of a cell's request for assertions."""
        return self._asked.get((key.variant, key.row), AskedText())

    def answered_before(self, key: CellKey) -> CellOutcome | None:
        """Return the answer of an equal cell; None if there is none, or it must not be reused."""
        if key in self._decided_again:
            return self._decided_again[key]
        place = self._known.get(self.identities[key]) if self._plan.options.cache else None
        before = self._ledger.outcome(*place) if place is not None else None
        if before is None or before.state is not CellState.DONE:
            return None
        return replace(before, is_cached=True)

    def decide_again(self, result: int) -> None:
        """Let undecided cells wait for their checks alone: their answers are kept."""
        self._decided_again = self._ledger.undecided(result)
        self._ledger.reopen(result, undecided=True)

    def is_free(self, key: CellKey) -> bool:
        """Return whether a cell needs no request: it has an earlier answer or an error."""
        return self.fault_of(key) is not None or self.answered_before(key) is not None

    def note_answered(self, result: int, key: CellKey) -> None:
        """Register an answered cell, whose answer equal cells reuse."""
        self._known.setdefault(self.identities[key], (result, key))

    def clear(self) -> None:
        """Clear the memory."""
        self._tokens.clear()
        self._asked.clear()
        self._known.clear()
        self._decided_again.clear()
        self.identities = {}
        self._asked_identities = {}


def _sent_text(sent: SentCell) -> str:
    """Return the texts of the first request, for assertions and for display."""
    messages = sent.body.get("messages", sent.body.get("input"))
    made = []
    for each in messages if isinstance(messages, list) else []:
        if isinstance(each, Mapping):
            content = each.get("content")
            made.append(content if isinstance(content, str) else json.dumps(content))
    return "\n".join(made)
