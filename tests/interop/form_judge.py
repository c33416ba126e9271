"""Whether a form says what it was made of: read by npm's `qs`, as the servers of many APIs do."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.interop.environments import LIMIT, node_of, npm_file

QS = "qs"
_SCRIPT = """
const qs = require(process.argv[1]);
let text = "";
process.stdin.on("data", each => text += each).on("end", () => {
  const options = {depth: 20, arrayLimit: 100, parameterLimit: 100000};
  console.log(JSON.stringify(JSON.parse(text).map(each => qs.parse(each, options))));
});
"""


def form_faults(python: Path, forms: list[tuple[str, str, Any]]) -> list[str]:
    """The forms that say something else than they were made of, by name.

    Args:
        python: of an environment whose wheel carries Node.
        forms: name, text and value of each.
    """
    script = npm_file(python, QS, "lib/index.js")
    if script is None or not forms:
        return []
    done = subprocess.run(
        [str(node_of(python)), "-e", _SCRIPT, str(script)],
        input=json.dumps([text for _, text, _ in forms]),
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
    )
    read = json.loads(done.stdout)
    return [
        f"{name}: {text[:200]}"
        for (name, text, value), found in zip(forms, read, strict=True)
        if not _same(_said(value), found)
    ]


def _said(value: Any) -> Any:
    """A value as a form can say it: in texts; what is empty is not there."""
    if isinstance(value, dict):
        made = {name: _said(each) for name, each in value.items()}
        return {name: each for name, each in made.items() if each not in (None, {}, [])}
    if isinstance(value, list):
        return [_said(each) for each in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def _same(wanted: Any, found: Any) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(
            _same(each, found[name]) for name, each in wanted.items()
        )
    if isinstance(wanted, list):
        if not isinstance(found, list):  # `a=1` may be a list of one
            return len(wanted) == 1 and _same(wanted[0], found)
        return len(wanted) == len(found) and all(map(_same, wanted, found))
    return bool(wanted == found)
