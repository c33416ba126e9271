"""Export a result for other programs: JUnit, JSON lines, CSV, GitHub, HTML, OTLP.

Source for OTLP: the GenAI semantic conventions, event `gen_ai.evaluation.result`. An event has the
trace and root span of its run's export, if the run is stored.
"""

import csv
import html
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import StringIO
from xml.etree import ElementTree

from studio import __version__
from studio.application.experiments.exports.cells import ExportedCell, cells_of, lost
from studio.application.experiments.exports.inspect_log import as_inspect
from studio.application.experiments.report import ExperimentReport, percent
from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import CellState, left_out_of
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.runs.otlp import GENAI_1_41, attributes_of, root_span_id, trace_id
from studio.core.text.amounts import money
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, text_or_json
from studio.core.text.workflow_commands import command_property, command_text

Export = Callable[[ExperimentLedger, ExperimentReport], str]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MOST_HTML = 400
_COLUMNS = "row variant repeat state passed score cost tokens ms left_out output reasons".split()
_MOST_NOTES = 50

_OF_ASSERTION = ("label", "state", "score", "metric", "reason")
_OF_OUTCOME = ("output", "passed", "score", "cost", "input_tokens", "output_tokens")

EVENT = "gen_ai.evaluation.result"

_INFORMATION, _ERROR = 9, 17

_LABELS = {"passed": "pass", "failed": "fail", "error": "error", "not_run": "not_run"}


def as_junit(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return JUnit's XML: a suite per variant but the baseline; errors apart from failures."""
    root = ElementTree.Element("testsuites", name=_xml(report.head.name))
    cases: dict[str, dict[str, list[ExportedCell]]] = {}
    for cell in cells_of(ledger, report):
        cases.setdefault(cell.variant, {}).setdefault(cell.row.key, []).append(cell)
    for variant in report.variants:
        if variant.is_baseline:  # its failures do not concern the candidate
            continue
        rows = cases.get(variant.name, {})
        suite = ElementTree.SubElement(root, "testsuite", name=_xml(variant.name))
        if variant.left_out:  # JUnit's element for facts about a whole suite
            properties = ElementTree.SubElement(suite, "properties")
            names = _xml(", ".join(variant.left_out))
            ElementTree.SubElement(properties, "property", name="left_out", value=names)
        failures = errors = 0
        for key, cells in rows.items():
            seconds = sum(each.outcome.ms for each in cells) / 1000
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=_xml(f"{report.head.name}.{variant.name}"),
                name=_xml(cells[0].title),
                time=f"{seconds:.3f}",
            )
            verdict = variant.verdicts.get(key)
            if verdict is None:
                errors += 1
                text = "\n".join(filter(None, (_trouble(each) for each in cells)))
                ElementTree.SubElement(case, "error", message=_xml(text[:200])).text = _xml(text)
            elif not verdict.passed:
                failures += 1
                text = "\n".join(filter(None, (_failure(each) for each in cells)))
                first = text.partition("\n")[0]
                ElementTree.SubElement(case, "failure", message=_xml(first)).text = _xml(text)
        suite.set("tests", str(len(rows)))
        suite.set("failures", str(failures))
        suite.set("errors", str(errors))
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def _trouble(cell: ExportedCell) -> str:
    if cell.outcome.state is CellState.ERROR:
        return cell.outcome.error
    return "\n".join(
        f"{each.label}: {each.reason}"
        for each in lost(cell.outcome.results)
        if each.state in ("error", "not_run")
    )


def _failure(cell: ExportedCell) -> str:
    reasons = "; ".join(f"{each.label}: {each.reason}" for each in lost(cell.outcome.results))
    if not reasons:
        return ""
    return f"repeat {cell.key.repeat}: {reasons}\n{cell.outcome.output}"


def as_json_lines(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return a line for the result, then one for each cell."""
    return "\n".join(json.dumps(each, ensure_ascii=False) for each in _lines(ledger, report)) + "\n"


def _lines(ledger: ExperimentLedger, report: ExperimentReport) -> Iterator[JsonDict]:
    yield {"type": "experiment", **summary_of(report)}
    for cell in cells_of(ledger, report):
        outcome = cell.outcome
        yield {
            "type": "cell",
            "variant": cell.variant,
            "row": cell.row.number,
            "key": cell.row.key,
            "repeat": cell.key.repeat,
            "state": outcome.state.name.lower(),
            "vars": cell.row.facts.get("vars"),
            "metadata": cell.row.facts.get("metadata", {}),
            **_fields(outcome, _OF_OUTCOME),
            "ms": round(outcome.ms, 1),
            "steps": outcome.steps,
            "cached": outcome.is_cached,
            "left_out": list(left_out_of(outcome)),
            "error": outcome.error,
            "assertions": [_fields(each, _OF_ASSERTION) for each in outcome.results],
        }


def summary_of(report: ExperimentReport) -> JsonDict:
    """Return the head of a result as JSON."""
    return {
        "result": report.head.id,
        "name": report.head.name,
        "file": report.head.file,
        "started": report.head.started,
        "state": report.head.state,
        "rows": report.rows,
        "repeats": report.head.repeats,
        "baseline": report.baseline,
        "gates_hold": report.gates_hold,
        "sentences": list(report.sentences),
        "variants": [
            {
                "name": each.name,
                "rows": len(each.verdicts),
                "rows_passed": each.rows_passed,
                "interval": list(each.interval),
                "cells": each.total.cells,
                "cells_passed": each.total.passed,
                **_fields(each.total, ("errors", "cached", "cost", "tokens")),
                "p50_ms": each.p50_ms or None,
                "p95_ms": each.p95_ms or None,
                "same_as": each.same_as,
                "left_out": list(each.left_out),
                **(
                    {
                        "won": list(each.comparison.won),
                        "lost": list(each.comparison.lost),
                        "p_value": each.comparison.corrected,
                        "p_value_uncorrected": each.comparison.p_value,
                    }
                    if each.comparison is not None
                    else {}
                ),
            }
            for each in report.variants
        ],
        "gates": [
            {"gate": each.name, **_fields(each, ("variant", "held", "measured", "wanted"))}
            for each in report.gates
        ],
    }


def _fields(record: object, names: Sequence[str]) -> JsonDict:
    return {name: getattr(record, name) for name in names}


def as_csv(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return a line for each cell. No text becomes a spreadsheet formula."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    rows = ledger.rows(report.head.id)
    columns = [{**_facts(row.facts), **object_of(row.facts.get("vars"))} for row in rows]
    names = list(dict.fromkeys(name for each in columns for name in each))
    by_row = {row.number: each for row, each in zip(rows, columns, strict=True)}
    writer.writerow([*_COLUMNS, *(safe_cell(name) for name in names)])
    for cell in cells_of(ledger, report):
        outcome = cell.outcome
        values = by_row[cell.row.number]
        passed = "" if outcome.passed is None else str(outcome.passed).lower()
        reasons = "; ".join(f"{each.label}: {each.reason}" for each in lost(outcome.results))
        writer.writerow(
            [
                cell.row.number,
                safe_cell(cell.variant),
                cell.key.repeat,
                outcome.state.name.lower(),
                passed,
                f"{outcome.score:g}",
                "" if outcome.cost is None else f"{outcome.cost:.6f}",
                outcome.input_tokens + outcome.output_tokens,
                f"{outcome.ms:.0f}",
                ", ".join(left_out_of(outcome)),
                safe_cell(outcome.output),
                safe_cell(outcome.error or reasons),
                *(safe_cell(_text(values.get(name))) for name in names),
            ]
        )
    return out.getvalue()


def safe_cell(text: str) -> str:
    """Return a text that a spreadsheet does not evaluate (OWASP: CSV injection)."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def _facts(facts: JsonObject) -> JsonDict:
    """Return the metadata of a row, as separate columns."""
    return {f"metadata:{name}": each for name, each in object_of(facts.get("metadata")).items()}


def _text(value: Json) -> str:
    return "" if value is None else text_or_json(value)


def as_markdown(_: ExperimentLedger, report: ExperimentReport) -> str:
    """Return a Markdown table for the summary of a job, or a comment."""
    lines = [f"### {_cell(report.head.name)}", ""]
    lines += [f"{_cell(each)}  " for each in report.sentences]
    lines += [
        "",
        "| variant | rows | passed | won | lost | errors | cost | p95 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for each in report.variants:
        won, gone = (
            (len(each.comparison.won), len(each.comparison.lost)) if each.comparison else ("", "")
        )
        lines.append(
            f"| {_cell(each.name)} | {len(each.verdicts)} | {percent(each.share)} | {won} | {gone} "
            f"| {each.total.errors} | {money(each.total.cost)} | {each.slowest} |"
        )
    lines.append("")
    lines += [
        f"- {'held' if gate.held else '**failed**'}: {_cell(gate.variant)} {gate.name} {gate.words}"
        for gate in report.gates
    ]
    return "\n".join(lines) + "\n"


def as_github(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return an annotation at each lost row's line; without a baseline at each failed row's."""
    return "".join(dict.fromkeys(_annotations(ledger, report)))


def _annotations(ledger: ExperimentLedger, report: ExperimentReport) -> Iterator[str]:
    reported = 0
    variants = {each.name: each for each in report.variants}
    for cell in cells_of(ledger, report):
        variant = variants[cell.variant]
        compared = variant.comparison
        is_error = cell.outcome.state is CellState.ERROR
        is_kept = compared is not None and cell.row.key not in compared.lost and not is_error
        if variant.is_baseline or is_kept:
            continue
        reasons = [f"{each.label}: {each.reason}" for each in lost(cell.outcome.results)]
        if is_error:
            reasons = [cell.outcome.error]
        if not reasons or reported >= _MOST_NOTES:
            continue
        reported += 1
        file = cell.row.facts.get("file") or report.head.file.replace("\\", "/").rpartition("/")[2]
        kind = "warning" if is_error else "error"
        text = command_text(f"{cell.variant}: {'; '.join(reasons)}")
        line = cell.row.facts.get("line", 1)
        yield f"::{kind} file={command_property(str(file))},line={line}::{text}\n"


def _cell(text: str) -> str:
    """Return a text that stays inside its cell of a Markdown table."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(text.split()))
    return escaped.replace("::", ":\u200b:")


def as_html(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return a self-contained page: failed or changed cells in full, counts of the others."""
    shown: list[str] = []
    passed = 0
    changed = {
        (each.name, key)
        for each in report.variants
        if each.comparison is not None
        for key in (*each.comparison.won, *each.comparison.lost)
    }
    for cell in cells_of(ledger, report):
        if cell.outcome.passed is True and (cell.variant, cell.row.key) not in changed:
            passed += 1
        elif len(shown) < _MOST_HTML:
            shown.append(_html_cell(cell))
    names = ("variant", "rows passed", "of", "interval", "errors", "cost", "p95")
    heads = "".join(f"<th>{name}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{html.escape(each.name)}</td><td>{percent(each.share)}</td>"
        f"<td>{len(each.verdicts)}</td><td>{round(100 * each.interval[0])} to "
        f"{round(100 * each.interval[1])}</td><td>{each.total.errors}</td>"
        f"<td>{money(each.total.cost)}</td><td>{each.slowest}</td></tr>"
        for each in report.variants
    )
    words = "".join(f"<p>{html.escape(each)}</p>" for each in report.sentences)
    return (
        f"<!doctype html><html lang='en'><meta charset='utf-8'><title>"
        f"{html.escape(report.head.name)}</title><style>{_STYLE}</style><body>"
        f"<h1>{html.escape(report.head.name)}</h1>{words}<table><tr>{heads}</tr>{rows}</table>"
        f"<p>{passed} cells pass and are not shown.</p>{''.join(shown)}</body></html>\n"
    )


def _html_cell(cell: ExportedCell) -> str:
    outcome = cell.outcome
    results = "".join(
        f"<li class='{each.state}'>{html.escape(each.label)}: {html.escape(each.reason)}</li>"
        for each in outcome.results
    )
    state = outcome.error or ("passes" if outcome.passed else "fails")
    return (
        f"<section><h2>{html.escape(cell.title)}</h2><p>{html.escape(cell.variant)}, row "
        f"{cell.row.number}, repeat {cell.key.repeat}: {html.escape(state)}</p>"
        f"<pre>{html.escape(outcome.output[:4000])}</pre><ul>{results}</ul></section>"
    )


_STYLE = (
    "body{font:15px/1.5 system-ui;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}td,th{padding:.3rem .8rem;text-align:left;border-bottom:1px "
    "solid #8884}pre{white-space:pre-wrap;background:#8881;padding:.7rem}li.failed{color:#b3261e}"
    "li.passed{color:#1b7a43}@media(prefers-color-scheme:dark){body{background:#16181d;color:#ddd}}"
)


def _xml(text: str) -> str:
    """Return a text with characters replaced that XML forbids."""
    return _NOT_XML.sub("\ufffd", text)


def as_otel(ledger: ExperimentLedger, report: ExperimentReport) -> str:
    """Return one event for each assertion of each cell, as an OTLP logs request."""
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
) -> Iterator[JsonDict]:
    run = _run_of(ledger, report, cell)
    for each in cell.outcome.results:
        yield _record(report, cell, each, run)


def _record(
    report: ExperimentReport, cell: ExportedCell, found: AssertionResult, run: str
) -> JsonDict:
    is_error = found.state in ("error", "not_run")
    attributes: JsonDict = {
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
    record: JsonDict = {
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
    """Return the id of a cell's stored run; empty if it is not stored."""
    journal = ledger.journal(report.head.id, cell.key)
    if journal is None:
        return ""
    first = json.loads(journal.partition(b"\n")[0])
    setup = first.get("setup")
    return str(setup.get("run", "")) if isinstance(setup, dict) else ""


FORMS: Mapping[str, Export] = {
    "junit": as_junit,
    "json": as_json_lines,
    "csv": as_csv,
    "html": as_html,
    "github": as_github,
    "markdown": as_markdown,
    "otel": as_otel,
    "inspect": as_inspect,
}
"""All formats, by name on the command line."""
