"""`experiment improve` and `experiment propose`: find better texts for a section of a prompt."""

import argparse
import asyncio
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from studio.application.experiments.improve import accept
from studio.application.experiments.improve.candidates import section_text
from studio.application.experiments.improve.score import MOST_TEXTS, propose_texts, rows_to_show
from studio.application.experiments.improve.search import SectionSearch
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices, plan_experiment
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.providers import choice_for
from studio.cli.arguments import add_trust
from studio.cli.experiment.plan import open_ledger, services_of
from studio.cli.terminal import (
    FINE,
    INTERRUPTED,
    PROBLEMS,
    UNFINISHED,
    USAGE,
    Interruption,
    agreed,
    amount,
    printable,
    tell,
    whole,
)
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import ProviderEntry
from studio.core.models.base import ModelError
from studio.core.models.choice import ModelChoice
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.prompty.parse import parse
from studio.core.text.amounts import counted, money
from studio.core.text.files import read_bounded, write_atomically
from studio.core.text.source import apply_edits
from studio.core.text.values import named_reason, reason_of
from studio.core.tools.source import ToolSourceError


def add_improve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `improve`."""
    _add_common(parser)
    parser.add_argument(
        "--max-cost", type=amount(), metavar="USD", help="limit of the whole search"
    )
    parser.add_argument("--max-tokens", type=whole(), metavar="N", help="limit of the whole search")
    parser.add_argument("--max-calls", type=whole(), metavar="N", help="limit of the cells to run")
    parser.add_argument(
        "--proposals",
        type=whole(1, accept.MOST_PROPOSALS),
        default=12,
        metavar="N",
        help="limit of texts to try (default: 12)",
    )
    parser.add_argument(
        "--seed", type=whole(), default=1, metavar="N", help="seed of the random rows (default: 1)"
    )
    parser.add_argument(
        "--write", action="store_true", help="write a better text into the prompt without asking"
    )
    parser.set_defaults(action=_improve)


def add_propose(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `propose`."""
    _add_common(parser)
    parser.add_argument(
        "--count",
        type=whole(1, MOST_TEXTS),
        default=3,
        metavar="N",
        help=f"number of texts, at most {MOST_TEXTS} (default: 3)",
    )
    parser.add_argument(
        "--write", action="store_true", help="add them to the experiment without asking"
    )
    parser.set_defaults(action=_propose)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--section",
        required=True,
        metavar="NAME",
        help="section to rewrite: a role such as system or user#2, or a heading",
    )
    parser.add_argument(
        "--model",
        default="",
        metavar="NAME",
        help="model that proposes: a connection, or connection:model (default: the prompt's own)",
    )
    parser.add_argument(
        "--variant",
        default="",
        metavar="NAME",
        help="variant whose prompt is improved (default: the first)",
    )
    parser.add_argument("--wish", default="", metavar="TEXT", help="what the section should do")
    parser.add_argument("--yes", action="store_true", help="send without asking")
    add_trust(
        parser, "its tools and Python assertions may run, files and variables it names are read"
    )


@dataclass(frozen=True)
class _Task:
    plan: ExperimentPlan
    at: int
    proposer: ModelChoice
    services: ExperimentServices
    ledger: ExperimentLedger


def _improve(options: argparse.Namespace) -> int:
    def improve(task: _Task) -> int:
        choices = accept.ImproveChoices(
            options.section,
            options.max_cost,
            options.max_tokens,
            options.max_calls,
            options.proposals,
            options.seed,
            options.wish,
        )
        return asyncio.run(_search(options, task, choices))

    return _with_task(options, improve)


async def _search(options: argparse.Namespace, task: _Task, choices: accept.ImproveChoices) -> int:
    progress = _Progress()
    search = SectionSearch(
        task.plan, task.at, choices, task.proposer, task.services, task.ledger, progress.show
    )
    bounds = [
        money(choices.cost),
        counted(choices.tokens, "token") if choices.tokens is not None else "",
        counted(choices.calls, "cell") if choices.calls is not None else "",
    ]
    variant = task.plan.variants[task.at]
    question = (
        f"Have {_model(task.proposer)} propose up to {counted(choices.proposals, 'text')} and send "
        f"{_model(variant.choice)} rows of {options.file.name}, at most "
        f"{', '.join(each for each in bounds if each)}?"
    )
    if not agreed(question, yes=options.yes):
        await search.close()
        tell("prompt-studio: nothing was sent")
        return PROBLEMS
    interruption = Interruption(search.stop)
    try:
        found = await search.run()
    finally:
        progress.end()
        if task.services.embedded is not None:
            await task.services.embedded.stop()
    code = _tell(options, found)
    return INTERRUPTED if interruption.number else code


def _tell(options: argparse.Namespace, found: accept.Improvement) -> int:
    """Print the texts, the diff, and the result on the unseen rows; return the exit code."""
    for each in found.candidates:
        print(printable(accept.candidate_words(each)))
    for line in accept.improvement_diff(found):
        print(printable(line))
    for sentence in accept.improvement_sentences(found):
        print(printable(sentence))
    if found.result is not None:
        print(
            f"result #{found.result} contains the unseen rows: prompt-studio experiment show "
            f"{options.file} --result {found.result}"
        )
    report = found.report
    if not found.found or report is None or not report.is_whole:
        return PROBLEMS if not found.found else UNFINISHED
    name = Path(found.prompt).name
    if agreed(f"Write it into {name}?", yes=options.write, options="--write"):
        try:
            path = Path(found.prompt)
            text = read_bounded(path).decode("utf-8")
            edit = accept.acceptance(parse(text, path), found)
            write_atomically(path, apply_edits(text, [edit]))
        except (OSError, UnicodeDecodeError, accept.ImproveError) as error:
            tell(f"prompt-studio: {name}: {reason_of(error)}")
            return PROBLEMS
        print(f"{name}: the section {found.section!r} was written")
    return FINE


def _propose(options: argparse.Namespace) -> int:
    def propose(task: _Task) -> int:
        variant = task.plan.variants[task.at]
        current = section_text(variant.document, options.section)
        count = options.count
        rows = rows_to_show(task.ledger, task.plan, task.at)
        shown = f", and {counted(len(rows), 'row')} of the newest result" if rows else ""
        question = (
            f"Send {variant.document.source.path and variant.document.source.path.name}{shown} to "
            f"{_model(task.proposer)} for {counted(count, 'text')}?"
        )
        if not agreed(question, yes=options.yes):
            tell("prompt-studio: nothing was sent")
            return PROBLEMS
        made, asked = asyncio.run(
            propose_texts(
                variant.document,
                options.section,
                count,
                task.proposer,
                task.services,
                rows,
                trusted=task.plan.folder.trusted,
                wish=options.wish,
            )
        )
        for each in made:
            if each.refusal:
                tell(f"prompt-studio: refused: {each.refusal}")
        texts = [each.text for each in made if not each.refusal]
        for number, text in enumerate(texts, 1):
            print(f"--- {options.section} {number}")
            print(printable("\n".join(accept.section_diff(current, text))))
        cost = "" if asked.cost is None else f", {money(asked.cost)}"
        tell(f"{counted(asked.requests, 'request')}, {counted(asked.tokens, 'token')}{cost}")
        if not texts:
            return PROBLEMS
        variants = counted(len(texts), "variant")
        if agreed(f"Add {variants} to {options.file.name}?", yes=options.write, options="--write"):
            before = read_bounded(options.file).decode("utf-8")
            after = accept.with_variants(before, variant, options.section, texts)
            write_atomically(options.file, after)
            print(f"{options.file.name}: {variants} added")
        return FINE

    return _with_task(options, propose)


def _with_task(options: argparse.Namespace, act: object) -> int:
    """Plan the experiment, choose the proposer, and run an action; print errors as sentences."""
    assert callable(act)
    services = replace(services_of(options), embedded=EmbeddedServer(), approve=False)
    try:
        with open_ledger(options.file) as ledger:
            plan = plan_experiment(options.file, services)
            at = accept.variant_to_improve(plan, options.variant)
            document = plan.variants[at].document
            section_text(document, options.section)
            entry = ProviderEntry(options.model)
            proposer = choice_for(
                entry, document, services.connections, trusted=plan.folder.trusted
            )
            if proposer is None:
                raise accept.ImproveError("`echo` proposes nothing.")
            code = act(_Task(plan, at, proposer, services, ledger))
            assert isinstance(code, int)
            return code
    except (ExperimentError, accept.ImproveError) as error:
        tell(f"prompt-studio: {error}")
        return USAGE
    except (ModelError, ToolSourceError, LedgerError, OSError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        tell(f"prompt-studio: {named_reason(error)} {hint}".rstrip())
        return UNFINISHED


def _model(choice: ModelChoice | None) -> str:
    if choice is None:
        return "echo"
    return f"{choice.connection.name} {choice.declaration.id or choice.connection.model}".rstrip()


class _Progress:
    """Progress in one line that is redrawn on a terminal; otherwise one line for each text."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._last = (-1, False)

    def show(self, found: accept.ImproveProgress) -> None:
        """Print the progress."""
        words = accept.progress_words(found)
        if self._is_terminal:
            print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)
        elif (found.proposals, found.is_deciding) != self._last:
            self._last = (found.proposals, found.is_deciding)
            print(words, file=sys.stderr, flush=True)

    def end(self) -> None:
        """End the progress line."""
        if self._is_terminal:
            print(file=sys.stderr)
