"""A result as OpenTelemetry's evaluation events, in OTLP's JSON form.

Source: the GenAI semantic conventions, event `gen_ai.evaluation.result`. An event belongs to the
trace and the root span under which the run itself is exported, where the run was kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from studio import __version__
from studio.application.experiments.experiment_report import ExperimentReport
from studio.application.experiments.exports.cells import ExportedCell, cells_of
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.runs.otlp import attributes_of, root_span_id, trace_id
from studio.core.runs.otlp_names import GENAI_1_41
from studio.core.text.values import Json

EVENT = "gen_ai.evaluation.result"
_INFORMATION, _ERROR = 9, 17
_LABELS = {"passed": "pass", "failed": "fail", "error": "error", "not_run": "not_run"}


def as_otel(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """One event for each assertion of each cell, as an OTLP request of logs."""
    records = [
        record for cell in cells_of(ledger, report) for record in _records(ledger, report, cell)
    ]
    resource = attributes_of({"service.name": "prompt-studio", "service.version": __version__})
    scope: Json = {"name": "prompt_studio.experiments", "version": __version__}
    logs: list[Json] = list(records)
    scoped: Json = {"scope": scope, "logRecords": logs, "schemaUrl": GENAI_1_41.schema_url}
    whole = {"resourceLogs": [{"resource": {"attributes": resource}, "scopeLogs": [scoped]}]}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _records(
    ledger: ExperimentLedger, report: ExperimentReport, cell: ExportedCell
) -> Iterator[dict[str, Json]]:
    run = _run_of(ledger, report, cell)
    for each in cell.outcome.results:
        yield _record(report, cell, each, run)


def _record(
    report: ExperimentReport, cell: ExportedCell, found: AssertionResult, run: str
) -> dict[str, Json]:
    is_error = found.state in ("error", "not_run")
    attributes: dict[str, Json] = {
        "gen_ai.evaluation.name": found.metric or found.label,
        "gen_ai.evaluation.score.label": _LABELS[found.state],
        "gen_ai.evaluation.explanation": found.reason,
        "prompt_studio.experiment": report.head.name,
        "prompt_studio.experiment.variant": cell.variant,
        "prompt_studio.experiment.row": cell.row.key,
        "prompt_studio.experiment.repeat": cell.key.repeat,
    }
    if is_error:
        attributes["error.type"] = found.state
    else:
        attributes["gen_ai.evaluation.score.value"] = float(found.score)
    when = str(int((report.head.finished or report.head.started) * 1_000_000_000))
    record: dict[str, Json] = {
        "timeUnixNano": when,
        "observedTimeUnixNano": when,
        "severityNumber": _ERROR if is_error else _INFORMATION,
        "eventName": EVENT,
        "attributes": attributes_of(attributes),
    }
    if run:
        record |= {"traceId": trace_id(run), "spanId": root_span_id(run)}
    return record


def _run_of(ledger: ExperimentLedger, report: ExperimentReport, cell: ExportedCell) -> str:
    """The id of the kept run of a cell; empty where it was not kept."""
    journal = ledger.journal(report.head.id, cell.key)
    if journal is None:
        return ""
    first = json.loads(journal.partition(b"\n")[0])
    setup = first.get("setup")
    return str(setup.get("run", "")) if isinstance(setup, dict) else ""
