"""`make interop`: promptfoo and the studio mark the same answers, and Inspect reads the result.

Both mark assertion by assertion, and read one configuration. Its provider is `echo`, so that both
mark the same text: the row's answer. Every deterministic type is there, each also negated.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from studio.application.experiments.exports.inspect_log import as_inspect
from studio.application.experiments.plan import ExperimentServices, plan_experiment
from studio.application.experiments.report import report_of
from studio.application.experiments.run.runner import ExperimentRunner
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import EMBEDDED, Connections
from studio.core.models.secrets import secret_store
from studio.core.tools.trust.store import TrustStore
from tests.interop.environments import LIMIT, build, promptfoo_command

SCHEMA = {"type": "object", "required": ["a"], "properties": {"a": {"type": "number"}}}

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("Oslo", {"type": "equals", "value": "Oslo"}),
    ("oslo", {"type": "equals", "value": "Oslo"}),
    ('{"b": 2, "a": 1}', {"type": "equals", "value": {"a": 1, "b": 2}}),
    ('{"a": 1}', {"type": "equals", "value": {"a": 1, "b": 2}}),
    ("no json", {"type": "equals", "value": {"a": 1}}),
    ("42", {"type": "equals", "value": 42}),
    ("It is Oslo.", {"type": "contains", "value": "Oslo"}),
    ("It is oslo.", {"type": "contains", "value": "Oslo"}),
    ("The answer is 42.", {"type": "contains", "value": 42}),
    ("It is OSLO.", {"type": "icontains", "value": "oslo"}),
    ("STRASSE", {"type": "icontains", "value": "straße"}),
    ("a, b", {"type": "contains-any", "value": ["x", "b"]}),
    ("a, b", {"type": "contains-any", "value": ["x", "y"]}),
    ("one two", {"type": "contains-any", "value": "three, two"}),
    ('say "a, b"', {"type": "contains-any", "value": '"a, b", c'}),
    ("A, B", {"type": "icontains-any", "value": ["x", "b"]}),
    ("a b c", {"type": "contains-all", "value": ["a", "c"]}),
    ("a b c", {"type": "contains-all", "value": ["a", "d"]}),
    ("a b c", {"type": "contains-all", "value": "a, c"}),
    ("A B C", {"type": "icontains-all", "value": ["a", "c"]}),
    ("Oslo is it", {"type": "starts-with", "value": "Oslo"}),
    ("It is Oslo", {"type": "starts-with", "value": "Oslo"}),
    ("tel 555-1234", {"type": "regex", "value": r"\d{3}-\d{4}"}),
    ("tel", {"type": "regex", "value": r"^\d+$"}),
    ("12\n", {"type": "regex", "value": r"^\d+$"}),
    ("naïve", {"type": "regex", "value": r"^\w+$"}),
    ("naïve", {"type": "regex", "value": r"^[\w ]+$"}),
    ("ï 5", {"type": "regex", "value": r"\W\s\d"}),
    ("٣", {"type": "regex", "value": r"\d"}),
    ('{"a": 1}', {"type": "is-json"}),
    ("{a: 1}", {"type": "is-json"}),
    ("[1, 2]", {"type": "is-json"}),
    ('"text"', {"type": "is-json"}),
    ('```json\n{"a": 1}\n```', {"type": "is-json"}),
    ('{"a": 1}', {"type": "is-json", "value": SCHEMA}),
    ('{"a": "x"}', {"type": "is-json", "value": SCHEMA}),
    ('here: {"a": 1} and more', {"type": "contains-json"}),
    ('here: {"a": "x"}', {"type": "contains-json", "value": SCHEMA}),
    ("no json here", {"type": "contains-json"}),
    ("kitten", {"type": "levenshtein", "value": "sitting", "threshold": 3}),
    ("kitten", {"type": "levenshtein", "value": "sitting", "threshold": 2}),
    ("kitten", {"type": "levenshtein", "value": "sitting"}),
    ("I'm sorry, but I can't help with that.", {"type": "is-refusal"}),
    ("The capital is Oslo.", {"type": "is-refusal"}),
    ("one two three", {"type": "word-count", "value": 3}),
    ("one two three", {"type": "word-count", "value": {"min": 4}}),
    ("one two three", {"type": "word-count", "value": {"min": 2, "max": 3}}),
    ("Oslo", {"type": "javascript", "value": "output === 'Oslo'"}),
    ("Oslo", {"type": "javascript", "value": "output.length / 8", "threshold": 0.5}),
    ("Oslo", {"type": "javascript", "value": "output.length / 8", "threshold": 0.6}),
    ("Oslo", {"type": "javascript", "value": "output.length > 3;"}),
    ("Oslo", {"type": "javascript", "value": "Math.min(1, output.length / 8); // half"}),
    ("Oslo", {"type": "javascript", "value": "const end = 's'\nreturn output.includes(end)"}),
    ("Oslo", {"type": "javascript", "value": "context.vars.answer === output"}),
    ("Oslo", {"type": "javascript", "value": "({pass: false, score: 0.3, reason: 'no'})"}),
    ("The cat sat on the mat.", {"type": "bleu", "value": "The cat sat on the mat."}),
    ("The cat sat on a mat", {"type": "bleu", "value": "The cat sat on the mat"}),
    ("cat", {"type": "bleu", "value": ["The cat sat", "a cat"], "threshold": 0.3}),
    ("A dog", {"type": "bleu", "value": "nothing of it", "threshold": 0.1}),
    ("The cat sat on a mat", {"type": "gleu", "value": "The cat sat on the mat."}),
    ("The cat. sat", {"type": "gleu", "value": ["dogs", "the cat sat"]}),
    ("A dog", {"type": "gleu", "value": "the cat"}),
    ("The cat sat on the mat", {"type": "rouge-n", "value": "the cat sat on the mat"}),
    (
        'The cat can\'t sit, it said: "No!"',
        {"type": "rouge-n", "value": "The cat cannot sit; it said ``No''.", "threshold": 0.5},
    ),
    (
        "I'm gonna pay $1,000 in the U.S. today.",
        {"type": "rouge-n", "value": "I am going to pay $1,000 in the U.S.", "threshold": 0.6},
    ),
    ("<a><b>1</b><c d='e'/></a>", {"type": "is-xml"}),
    ("<a><b>1</b></a>", {"type": "is-xml", "value": "a.b"}),
    ("<a><b>1</b></a>", {"type": "is-xml", "value": ["a.c"]}),
    ("<a><b>1</b><b>2</b></a>", {"type": "is-xml", "value": "a.b.1, a.b"}),
    ("<a x='1'>t</a>", {"type": "is-xml", "value": {"requiredElements": ["a.@_x", "a.#text"]}}),
    ("<a>", {"type": "is-xml"}),
    ("<a>1 & 2</a>", {"type": "is-xml"}),
    ("<p:a/>", {"type": "is-xml"}),
    ("<p:a xmlns:p='urn:x'><p:b/></p:a>", {"type": "is-xml", "value": "p:a.p:b"}),
    ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", {"type": "is-xml"}),
    ("<?xml version='1.0'?><a/>", {"type": "is-xml", "value": "a"}),
    ("text <a/>", {"type": "is-xml"}),
    ("So: <a><b>1 & 2</b></a>.", {"type": "contains-xml"}),
    ("So: <a><b>1</b></a>.", {"type": "contains-xml", "value": "a.b"}),
    ("So: <a><b>1</b></a>.", {"type": "contains-xml", "value": "b"}),
    ("<a>1</a> and <b>2</b>", {"type": "contains-xml", "value": "a, b"}),
    ("<a>1</a> and <a>2</a>", {"type": "contains-xml", "value": "a.1"}),
    ("<a><b/></c> <d>1</d>", {"type": "contains-xml", "value": "d"}),
    ("<a><b>open", {"type": "contains-xml"}),
    ("1 < 2 and 3 > 2", {"type": "contains-xml"}),
    ("<p>Hello</p>", {"type": "contains-html"}),
    ("See <foo> and </foo>", {"type": "contains-html"}),
    ("1 < 2 &amp; 3", {"type": "contains-html"}),
    ("a <custom-tag /> only", {"type": "contains-html"}),
    ("plain text", {"type": "contains-html"}),
    ("one\ufeff two\x1cthree", {"type": "word-count", "value": 2}),
    (
        "a b",
        {
            "type": "assert-set",
            "threshold": 0.5,
            "assert": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "z"}],
        },
    ),
    (
        "a b",
        {
            "type": "assert-set",
            "assert": [{"type": "contains", "value": "a"}, {"type": "contains", "value": "z"}],
        },
    ),
)


def configuration() -> dict[str, Any]:
    """One configuration for both; every type that can be negated is there negated too."""
    tests = [{"vars": {"answer": answer}, "assert": [spec]} for answer, spec in CASES]
    tests += [
        {"vars": {"answer": answer}, "assert": [{**spec, "type": f"not-{spec['type']}"}]}
        for answer, spec in CASES
        if spec["type"] != "assert-set"
    ]
    weighed = [
        {"type": "contains", "value": "a", "weight": 3},
        {"type": "contains", "value": "z"},
        {"type": "contains", "value": "y", "weight": 0},
    ]
    tests += [
        {"vars": {"answer": "a b"}, "threshold": threshold, "assert": weighed}
        for threshold in (0.7, 0.75, 0.8)
    ]
    return {"prompts": ["{{answer}}"], "providers": ["echo"], "tests": tests}


def theirs(python: Path, path: Path) -> list[tuple[bool, float]]:
    """What promptfoo finds, test by test."""
    away = {"TELEMETRY", "UPDATE", "REMOTE_GENERATION"}
    environment = {
        **os.environ,
        **{f"PROMPTFOO_DISABLE_{word}": "1" for word in away},
        "PROMPTFOO_CONFIG_DIR": str(path.parent / "config"),
    }
    subprocess.run(
        [
            *promptfoo_command(python),
            "eval",
            "-c",
            str(path),
            "-o",
            "out.json",
            "--no-cache",
            "--no-table",
            "-j",
            "1",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
        cwd=path.parent,
        env=environment,
    )
    found = json.loads((path.parent / "out.json").read_text(encoding="utf-8"))["results"]
    results = sorted(found["results"], key=lambda each: int(each["testIdx"]))
    return [(bool(each["success"]), float(each["score"])) for each in results]


_READ = """
import sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
print(log.status, len(log.samples), [s.scores["cell"].value for s in log.samples].count("C"))
"""


def read_by_inspect(path: Path) -> str:
    """What Inspect's own reader finds in a log: its state, samples, and how many are correct."""
    python = build("inspect")
    if python is None:
        return ""
    done = subprocess.run(
        [str(python), "-I", "-c", _READ, str(path)], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]


async def ours(path: Path) -> list[tuple[bool | None, float, str]]:
    """What the studio finds, and why."""
    services = ExperimentServices(TrustStore(), Connections((EMBEDDED,)), secret_store())
    plan = plan_experiment(path, services)
    ledger = ExperimentLedger(path.parent / "ledger.db")
    runner = ExperimentRunner(plan, services, ledger)
    try:
        await runner.prepare()
        result = runner.begin()
        await runner.run(result)
        made: list[tuple[bool | None, float, str]] = []
        for row in plan.rows:
            outcome = ledger.outcome(result, CellKey(1, row.number, 0))
            assert outcome is not None
            why = outcome.error or "; ".join(each.reason for each in outcome.results)
            made.append((outcome.passed, outcome.score, why))
        log = as_inspect(ledger, report_of(ledger, result))
        (path.parent / "log.json").write_text(log, encoding="utf-8")
        return made
    finally:
        await runner.close()
        ledger.close()


def main() -> int:
    """Print where both differ; 1 where they do."""
    python = build("promptfoo")
    if python is None:
        print("promptfoo verdicts   not installed here")
        return 0
    config = configuration()
    with tempfile.TemporaryDirectory() as made:
        path = Path(made) / "promptfooconfig.yaml"
        path.write_text(json.dumps(config), encoding="utf-8")
        found, its = asyncio.run(ours(path)), theirs(python, path)
        told = read_by_inspect(path.parent / "log.json")
    wanted = f"success {len(found)} {sum(passed is True for passed, _, _ in found)}"
    print(f"Inspect's log        {told or 'not installed here'}")
    differing = int(told not in ("", wanted))
    for test, (passed, score, why), (success, points) in zip(
        config["tests"], found, its, strict=True
    ):
        if passed != success or abs(score - points) > 0.005:
            differing += 1
            print(
                f"{json.dumps(test)}\n  promptfoo {success} {points:.2f}, "
                f"the studio {passed} {score:.2f}: {why}"
            )
    print(f"promptfoo verdicts   {len(its) - differing} of {len(its)} are the same")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
