"""`make fuzz`, third part: no template takes more memory or time than the bounds allow.

A grammar draws templates from filters, methods and operators with widths, counts and nesting of all
sizes. A worker renders them under a limit of memory; a template that passes it, takes longer than
`MOST_SECONDS` of processor time, or raises, is printed and fails.

    python tests/fuzz/fuzz_bounds.py [CASES] [SEED]
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from pathlib import Path

MOST_BYTES = 512 * 1024 * 1024
"""Memory that the interpreter and one rendering may have."""

MOST_SECONDS = 5.0
"""Processor time of one rendering."""

CASES, SEED = 20_000, 20261124
_ABOVE_REST = 400 * 1024 * 1024

WIDTHS = (0, 1, -10, 7, 79, 1000, 20_000, 99_999, 100_000, 10**9)
COUNTS = (1, 2, 100, 900, 9_999, 100_000, 900_000, 1_000_000)
TEXTS = ("a", "a ", "\\n", "\\t", "<b>", "İ", "http://a.b ", "%s", "{0}", "\\ud800", "é&")
FILTERS = (
    *("abs", "batch(W)", "batch(W, X)", "capitalize", "center(W)", "count", "default(X)"),
    *("dictsort", "escape", "filesizeformat", "first", "float", "forceescape", "format(X)"),
    *("groupby('a')", "indent(W)", "indent(W, true, true)", "indent(X)", "int", "items", "join(X)"),
    *("last", "length", "list", "lower", "map('upper')", "map('indent', W)", "max", "min"),
    *("pprint", "reject", "replace(X, X)", "reverse", "round(W)", "safe", "select", "slice(W)"),
    *("slice(W, X)", "sort", "string", "striptags", "sum", "sum(start=X)", "title", "tojson"),
    *("tojson(indent=W)", "trim", "truncate(W)", "truncate(W, true, X)", "unique", "upper"),
    *("urlencode", "urlize", "urlize(W, target=X)", "wordcount", "wordwrap(W)"),
    *("wordwrap(W, wrapstring=X)", "wordwrap(W, true, X)", "xmlattr"),
)
METHODS = (
    *("center(W)", "ljust(W, 'b')", "zfill(W)", "expandtabs(W)", "join(X)", "replace(X, X)"),
    *(
        "format(X)",
        "split(X)",
        "splitlines()",
        "upper()",
        "title()",
        "encode()",
        "translate({97: X})",
    ),
    *("casefold()", "swapcase()", "count(X)", "items()", "keys()", "fromkeys(X, X)"),
)


def draw(chance: random.Random, depth: int = 3) -> str:
    """Return one expression."""
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(
            (
                repr(chance.choice(WIDTHS)),
                f"('{chance.choice(TEXTS)}' * {chance.choice(COUNTS)})",
                f"range({chance.choice(COUNTS[:6])})",
                f"([{draw(chance, 0) if depth else 1}] * {chance.choice(COUNTS)})",
            )
        )
    inner = draw(chance, depth - 1)
    kind = chance.randrange(6)
    if kind < 3:
        return f"({inner} | {_filled(chance.choice(FILTERS), chance, depth)})"
    if kind == 3:
        return f"({inner}).{_filled(chance.choice(METHODS), chance, depth)}"
    if kind == 4:
        return (
            f"({inner} {chance.choice(('~', '+', '*', '%', '**', '-'))} {draw(chance, depth - 1)})"
        )
    return chance.choice((f"[{inner}, {inner}]", f"{{'k': {inner}, 'a': {inner}}}", f"({inner},)"))


def _filled(call: str, chance: random.Random, depth: int) -> str:
    name, paren, arguments = call.partition("(")
    while "X" in arguments:
        arguments = arguments.replace("X", draw(chance, max(0, depth - 2)), 1)
    while "W" in arguments:
        arguments = arguments.replace("W", str(chance.choice(WIDTHS)), 1)
    return name + paren + arguments


def template(chance: random.Random) -> str:
    """Return one template: an expression, in a loop, a block or a macro."""
    expression = draw(chance)
    form = chance.choice(
        (
            "{{ E }}",
            "{{ E | length }}",
            "{% for x in range(300) %}{{ E }}{% endfor %}",
            "{% set t %}{{ E }}{% endset %}{{ t ~ t }}",
            "{% filter indent(99999) %}{{ E }}{% endfilter %}",
            "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(E) }}{{ m([E]) }}",
            "{% autoescape true %}{{ E }}{% endautoescape %}",
            "{% for k, v in E %}{{ k }}{% else %}none{% endfor %}",
        )
    )
    return form.replace("E", expression)


def work(first: int, last: int, seed: int) -> int:
    """Render cases under the limit; return how many broke a bound."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from studio.core.prompty.evaluation import FAILURES
    from studio.core.prompty.parse import parse
    from studio.core.prompty.prepare import prepare

    rest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    failed = 0
    for number in range(first, last):
        text = template(random.Random(seed * 1_000_003 + number))
        began = time.process_time()
        try:
            problems = prepare(parse(f"---\nname: x\n---\nuser:\n{text}\n"), {}).problems
            wrong = next((each.message for each in problems if each.code in FAILURES), "")
        except Exception as error:  # noqa: BLE001 - any exception is a finding
            wrong = f"{type(error).__name__}: {error}"
        seconds = time.process_time() - began
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if not wrong and seconds > MOST_SECONDS:
            wrong = f"{seconds:.1f} s"
        if not wrong and most - rest > _ABOVE_REST:
            wrong = f"{(most - rest) >> 20} MB"
        if wrong:
            failed += 1
            print(f"{number}: {wrong[:200]}\n    {text}", flush=True)
            rest = most if "MB" in wrong else rest
    return failed


def main() -> int:
    """Render all cases in workers of 1,000; return the exit code."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else SEED
    failed = 0
    for first in range(0, cases, 1000):
        command = [
            sys.executable,
            __file__,
            "--work",
            *map(str, (first, min(first + 1000, cases), seed)),
        ]
        failed += subprocess.run(command, check=False).returncode != 0
    print(f"{cases} templates, {failed} workers with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    if "--work" in sys.argv:
        resource.setrlimit(resource.RLIMIT_AS, (2 * MOST_BYTES, 2 * MOST_BYTES))
        sys.exit(min(1, work(*map(int, sys.argv[2:5]))))
    sys.exit(main())
