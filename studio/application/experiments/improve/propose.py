"""Who proposes a text for a section: one request to a model that the user chose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from studio.application.connections.model import Answerers
from studio.application.experiments.improve.candidates import candidate_refusal, with_section
from studio.application.experiments.plan import ExperimentServices
from studio.application.run.start.begin import begin_run
from studio.application.words import tr
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.options import RunOptions
from studio.core.models.choice import ModelChoice
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.resource_files import resource
from studio.core.text.bounded_file import read_text
from studio.core.text.shortened import shortened
from studio.core.text.values import Json

_TRIES = 3
_MOST_EXAMPLES = 6
_MOST_TEXT = 1500
_HEAD, _TAIL = "<section>", "</section>"


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A row with what was answered, for the proposer to look at."""

    values: Json
    """Values by input name."""

    answer: str
    """What the model said; empty where there is no answer."""

    passed: bool
    """Whether it passes."""

    score: float
    """From 0 to 1."""

    reasons: tuple[str, ...] = ()
    """What its assertions say."""

    expected: str = ""
    """What was expected, where the row says it."""


@dataclass(frozen=True, slots=True)
class ProposedText:
    """What came of one request for a text."""

    text: str
    """The text; empty where the reply held none."""

    refusal: str = ""
    """Why it may not be used; empty where it may."""


class SectionProposer:
    """Asks a model for texts of one section."""

    def __init__(
        self,
        document: PromptDocument,
        title: str,
        choice: ModelChoice,
        services: ExperimentServices,
        *,
        trusted: bool,
        wish: str = "",
    ) -> None:
        """Open the model; nothing is sent yet.

        Raises:
            ModelError: the model cannot be opened.
        """
        self._document = document
        self._title = title
        self._wish = wish
        self._mask: Callable[[str], str] = services.secrets.masker.mask
        path = resource("generators", "section.prompty")
        self._generator = parse(read_text(path), path)
        answerers = Answerers(services.connections, services.secrets, services.embedded)
        self._model = answerers.open(choice, document.source.path, trusted=trusted)
        self._is_remote = choice.connection.is_remote
        self.tokens = 0
        """Tokens so far."""
        self.cost: float | None = 0.0
        """US dollars so far; None where the price is not known."""
        self.requests = 0
        """Requests so far."""

    async def close(self) -> None:
        """Let go of the model."""
        await self._model.close()

    async def texts(
        self, current: str, rows: Sequence[AnsweredRow], known: Sequence[str]
    ) -> list[ProposedText]:
        """Ask for a text that may be used, some times where it may not.

        Args:
            current: the section as it is in the candidate that is to become better.
            rows: what was answered with it.
            known: texts that exist.

        Returns:
            What was proposed in order; only the last of them may be used, or none.
        """
        made: list[ProposedText] = []
        for _ in range(_TRIES):
            text, refusal = await self._one(current, rows, made)
            if not refusal and text in {*known, current}:
                refusal = tr("It is the same as an earlier one.")
            made.append(ProposedText(text, refusal))
            if not refusal:
                break
        return made

    async def _one(
        self, current: str, rows: Sequence[AnsweredRow], refused: Sequence[ProposedText]
    ) -> tuple[str, str]:
        whole = with_section(self._document, self._title, current)
        inputs: dict[str, Json] = {
            "prompt": self._mask(whole.source.slice(whole.body)),
            "title": self._title,
            "text": self._mask(current),
            "rows": "\n".join(self._examples(rows)),
            "refused": "\n".join(
                json.dumps({"text": each.text, "why": each.refusal}, ensure_ascii=False)
                for each in refused
            ),
            "wish": self._wish,
        }
        options = RunOptions(protocol="native", headless=True)
        plan = RunPlan(self._generator, inputs, self._model, options=options)
        self.requests += 1
        state = await begin_run(plan).go()
        usage = state.usage
        self.tokens += usage.input_tokens + usage.output_tokens
        spent = usage.cost if self._is_remote else 0.0
        self.cost = self.cost + spent if self.cost is not None and spent is not None else None
        if state.answer is None:
            words = state.error.message if state.error is not None else state.status
            return "", tr("There is no answer: {said}").format(said=words)
        text = _between(state.answer)
        if text is None:
            return "", tr("The reply holds no text between <section> and </section>.")
        if self._mask(text) != text:
            return "", tr("It holds a secret.")
        return text, candidate_refusal(self._document, self._title, text)

    def _examples(self, rows: Sequence[AnsweredRow]) -> Iterator[str]:
        """Rows as JSON lines, those that fail first; secrets in them are masked."""
        for each in sorted(rows, key=lambda row: row.score)[:_MOST_EXAMPLES]:
            row: dict[str, Json] = {
                "inputs": self._cut(json.dumps(each.values, ensure_ascii=False, default=str)),
                "answer": self._cut(each.answer),
                "passes": each.passed,
                "checks": [self._cut(reason) for reason in each.reasons],
            }
            if each.expected:
                row["expected"] = self._cut(each.expected)
            yield json.dumps(row, ensure_ascii=False)

    def _cut(self, text: str) -> str:
        masked = self._mask(text)
        return shortened(masked, _MOST_TEXT)


def _between(reply: str) -> str | None:
    """The text between the marks; None where they are not there."""
    start, end = reply.find(_HEAD), reply.rfind(_TAIL)
    if start < 0 or end < start:
        return None
    return reply[start + len(_HEAD) : end].strip("\r\n").rstrip()
