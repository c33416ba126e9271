"""Export a result as a log of Inspect (inspect_ai), for `inspect view` and `read_eval_log`.

Source: inspect_ai's `EvalLog`, version 2 of the JSON form. One log holds all variants: the id of a
sample is its row and its variant, and repeats are epochs.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from studio import __version__
from studio.application.experiments.exports.cells import ExportedCell, cells_of
from studio.application.experiments.report import ExperimentReport, VariantReport
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.text.values import Json, JsonDict, JsonObject, list_of

_STATES = {
    "done": "success",
    "running": "started",
    "paused": "cancelled",
    "cancelled": "cancelled",
    "interrupted": "cancelled",
}
_ANSWERED = "cell"
"""Name of a cell's total score."""


def as_inspect(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return one log with a sample for each cell."""
    head = report.head
    models = [
        str(model or connection)
        for model, connection in zip(
            list_of(head.spec.get("models")), list_of(head.spec.get("connections")), strict=False
        )
    ]
    name = _hash(f"{head.file}#{head.id}")
    samples: list[Json] = [_sample(cell, models) for cell in cells_of(ledger, report)]
    whole: JsonDict = {
        "version": 2,
        "status": _STATES.get(head.state, "error"),
        "eval": {
            "run_id": name,
            "eval_id": name,
            "task_id": name,
            "task_version": 0,
            "created": _time(head.started),
            "task": head.name,
            "task_attribs": {},
            "task_args": {},
            "model": ", ".join(dict.fromkeys(models)) or "unknown",
            "model_args": {},
            "config": {"epochs": head.repeats},
            "dataset": {"name": head.name, "samples": report.rows * len(report.variants)},
            "packages": {"prompt-studio": __version__},
            "metadata": {"variants": [each.name for each in report.variants]},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": sum(each.total.cells for each in report.variants),
            "completed_samples": sum(each.total.done for each in report.variants),
            "scores": [_rate(each) for each in report.variants],
        },
        "stats": {
            "started_at": _time(head.started),
            "completed_at": _time(head.finished or head.started),
            "model_usage": {},
        },
        "samples": samples,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _rate(variant: VariantReport) -> JsonObject:
    """Return a variant's pass rate over rows, as a metric of Inspect."""
    return {
        "name": variant.name,
        "scorer": _ANSWERED,
        "params": {},
        "metrics": {"pass_rate": {"name": "pass_rate", "value": variant.share, "params": {}}},
    }


def _sample(cell: ExportedCell, models: Sequence[str]) -> JsonObject:
    outcome, model = cell.outcome, models[cell.key.variant] if models else "unknown"
    expected = cell.row.facts.get("expected")
    variables = cell.row.facts.get("vars")
    usage: JsonDict = {
        "input_tokens": outcome.input_tokens,
        "output_tokens": outcome.output_tokens,
        "total_tokens": outcome.input_tokens + outcome.output_tokens,
    }
    message: JsonObject = {"role": "assistant", "content": outcome.output, "source": "generate"}
    made: JsonDict = {
        "id": f"{cell.row.key}:{cell.variant}",
        "epoch": cell.key.repeat,
        "input": cell.title,
        "target": expected if isinstance(expected, str) else json.dumps(expected or ""),
        "messages": [{"role": "user", "content": cell.title}, message],
        "output": {
            "model": model,
            "usage": usage,
            "choices": [{"message": message, "stop_reason": "stop"}],
        },
        "scores": dict(_scores(cell)),
        "metadata": {
            "variant": cell.variant,
            "row": cell.row.number,
            "vars": dict(variables) if isinstance(variables, Mapping) else {},
        },
        "store": {},
        "events": [],
        "model_usage": {model: usage},
        "total_time": outcome.ms / 1000,
    }
    if outcome.error:
        made["error"] = {"message": outcome.error, "traceback": "", "traceback_ansi": ""}
    return made


def _scores(cell: ExportedCell) -> Iterator[tuple[str, Json]]:
    """Yield the cell's score, then each assertion's; in Inspect C is correct, I incorrect."""
    outcome = cell.outcome
    if outcome.error:
        return
    yield (
        _ANSWERED,
        {
            "value": "N" if outcome.passed is None else "C" if outcome.passed else "I",
            "answer": outcome.output,
            "metadata": {"score": outcome.score},
        },
    )
    names: dict[str, int] = {_ANSWERED: 1}
    for each in outcome.results:
        name = each.metric or each.label
        names[name] = names.get(name, 0) + 1
        yield (name if names[name] == 1 else f"{name} {names[name]}"), _score(each)


def _score(found: AssertionResult) -> JsonObject:
    values = {"passed": "C", "failed": "I"}
    return {
        "value": values.get(found.state, "N"),
        "explanation": found.reason,
        "metadata": {"score": found.score, "state": found.state},
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:22]
