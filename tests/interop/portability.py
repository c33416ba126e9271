"""`make interop`: the templates of the portability checks, rendered by those they tell about.

Nunjucks and mustache.js, set up as Prompty's TypeScript runtime does; Jinja2, chevron and the
reference of the Jinja Subset from Prompty's Python package, with the conformance corpus in it. What
the checks say must be so, for each template and each runtime; what they do not find is counted. The
C# runtime itself needs .NET; its renderer is a port of that reference.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.core.prompty.checks.portability import differences
from studio.core.prompty.parse import parse
from tests.core.prompty.checks.test_portability import CASES, VALUES, head_of
from tests.interop.environments import FOLDER, LIMIT, NPM_INSTALL, build, npm_package

NODE_PACKAGES = (npm_package("nunjucks"), npm_package("mustache"))
MUSTACHE = (
    ("{{ name }}", {"name": "it's <a/b>"}),
    ("{{{ name }}}", {"name": "it's <a/b>"}),
    ("{{ n }}", {"n": 3}),
    ("{{ flag }}", {"flag": True}),
    ("{{{ f }}}", {"f": 1.0}),
)
ORACLE = """
import json, sys, warnings
warnings.simplefilter("ignore")
from importlib.resources import files
import chevron
from jinja2 import DictLoader
from jinja2.sandbox import ImmutableSandboxedEnvironment
from prompty.jinja_subset import render
environment = ImmutableSandboxedEnvironment(loader=DictLoader({}), keep_trailing_newline=True)
def tried(made, *given):
    try:
        return {"text": made(*given)}
    except Exception as error:
        return {"error": str(error)}
def python(format, template, values):
    if format == "mustache":
        return chevron.render(template, values)
    return environment.from_string(template).render(values)
def subset(format, template, values):
    return render(template, values)
corpus = files("prompty.jinja_subset.conformance").joinpath("corpus.json").read_text("utf-8")
cases = [case for case in json.loads(corpus)["cases"] if not case.get("expect_throw")]
given = json.load(sys.stdin) + [["jinja2", case["template"], case["inputs"]] for case in cases]
print(json.dumps([[one, tried(python, *one), tried(subset, *one)] for one in given]))
"""


def main() -> int:
    """Ask all of them; returns 1 where a check is wrong."""
    python, node = build("prompty2"), build("nodejs")
    if python is None or node is None:
        print("portability: Prompty or Node is not installed here")
        return 0
    given = [["jinja2", template, VALUES] for template, _, _ in CASES]
    given += [["mustache", template, values] for template, values in MUSTACHE]
    answers = _asked([str(python), "-c", ORACLE], given)
    others = _asked([str(node.parent / "node"), _script(node)], [one for one, _, _ in answers])
    wrong = missed = 0
    for (one, by_python, by_subset), by_node in zip(answers, others, strict=True):
        form, template, values = one
        told = _told(form, template, values)
        actual = {"TypeScript"} if not _same(by_python, by_node) else set()
        if form == "jinja2":
            actual |= {"C#"} if not _same(by_python, by_subset) else set()
        else:
            told.discard("C#")  # Stubble needs .NET
        missed += told < actual
        if not told <= actual:
            wrong += 1
            print(f"  {template!r}: told {sorted(told)}, is {sorted(actual)}")
    result = f"{len(answers)} templates, {wrong} wrong, {missed} not found"
    print(f"{'FAILED' if wrong else 'ok    '} portability: {result}")
    return 1 if wrong else 0


def _told(form: str, template: str, values: Mapping[str, Any]) -> set[str]:
    found = differences(parse(head_of(values, form) + template))
    return {str(runtime) for each in found for runtime in each.runtimes}


def _same(one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return ("error" in one and "error" in other) or one == other


def _asked(command: Sequence[str], given: Sequence[object]) -> Any:
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return json.loads(done.stdout)


def _script(python: Path) -> str:
    """The script beside its packages, which Node finds there."""
    where = FOLDER / "nunjucks"
    where.mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    command = ["npm", *NPM_INSTALL, "--no-save", "--prefix", str(where), *NODE_PACKAGES]
    subprocess.run(command, env=environment, check=True, timeout=LIMIT)
    script = where / "nunjucks.mjs"
    script.write_text(
        (Path(__file__).parent / "nunjucks.mjs").read_text(encoding="utf-8"), encoding="utf-8"
    )
    return str(script)


if __name__ == "__main__":
    sys.exit(main())
