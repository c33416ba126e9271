"""`make interop`: imported prompts give the messages that their own programs make of the files.

Dotprompt's templates are rendered by npm dotprompt, LangChain's scripts run with langchain-core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studio.core.export.target import ExportSource, make_checked
from studio.core.export.targets import find_target
from studio.core.imports.recognize import import_file
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import references_beside
from tests.core.imports.test_dotprompt import CASES, PARTIALS, parts
from tests.interop.environments import FOLDER, LIMIT, NPM_INSTALL, ROOT, build, npm_package

_RENDER = """
import json, runpy, sys, warnings
warnings.simplefilter("ignore")
prompt = runpy.run_path(sys.argv[1])["prompt"]
values = json.load(sys.stdin)
given = {name: values.get(name, "") for name in prompt.input_variables}
made = prompt.invoke(given)
print(json.dumps([given, [[each.type, each.content] for each in made.to_messages()]]))
"""
_ROLES = {"human": "user", "ai": "assistant", "model": "assistant"}


def main() -> int:
    """Ask both programs; returns 1 where an import reads something else."""
    wrong = [*_of_dotprompt(), *_of_langchain()]
    for each in wrong:
        print(f"  {each}")
    print(f"{'FAILED' if wrong else 'ok    '} importers: {len(wrong)} differ")
    return 1 if wrong else 0


def _of_dotprompt() -> list[str]:
    python = build("nodejs")
    if python is None:
        print("importers: Node is not installed here")
        return []
    given = [[template, values, PARTIALS] for template, values, _ in CASES]
    answers = _asked([str(python.parent / "node"), _script(python)], given)
    wrong = []
    for (template, values, _), answer in zip(CASES, answers, strict=True):
        with tempfile.TemporaryDirectory() as folder:
            ours = parts(Path(folder), template, dict(values))
        theirs = [_message(each) for each in answer.get("messages", [])]
        if ours != theirs:
            wrong.append(f"dotprompt {template!r}: {ours} instead of {theirs or answer}")
    print(f"importers: {len(CASES)} templates of Dotprompt")
    return wrong


def _message(message: Mapping[str, Any]) -> tuple[str, list[str]]:
    """A message of dotprompt as `parts` gives ours: texts trimmed, media in angle brackets."""
    texts = [
        f"<{part['media']['url']}>" if "media" in part else part["text"].strip()
        for part in message["content"]
    ]
    return _ROLES.get(message["role"], message["role"]), [text for text in texts if text]


def _of_langchain() -> list[str]:
    python = build("langchain")
    if python is None:
        print("importers: langchain-core is not installed here")
        return []
    target = find_target("langchain")
    assert target is not None
    wrong, count = [], 0
    for path in sorted((ROOT / "resources").glob("*/*.prompty")):
        references = references_beside(path, trusted=True, masked=True)
        source = ExportSource(parse(path.read_text(encoding="utf-8"), path), references=references)
        made = make_checked(target, source.for_target(target))
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "script.py"
            script.write_text(made.text, encoding="utf-8")
            values: dict[str, Any] = {"thread": [], "history": [], "tools": []}
            given, theirs = _asked([str(python), "-c", _RENDER, str(script)], values)
            document = parse(import_file(script).text)
        ours = prepare(document, given).messages.messages
        count += 1
        one = [(each.role, each.text.strip()) for each in ours]
        other = [(_ROLES.get(role, role), _text(content)) for role, content in theirs]
        if one != other:
            wrong.append(f"langchain {path.name}: {one} instead of {other}")
    print(f"importers: {count} scripts for LangChain")
    return wrong


def _text(content: Any) -> str:
    blocks = [content] if isinstance(content, str) else [each.get("text", "") for each in content]
    return "".join(blocks).strip()


def _asked(command: Sequence[str], given: object) -> Any:
    done = subprocess.run(
        command, input=json.dumps(given), capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return json.loads(done.stdout)


def _script(python: Path) -> str:
    """The script beside its package, which Node finds there."""
    where = FOLDER / "dotprompt"
    where.mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    command = ["npm", *NPM_INSTALL, "--no-save", "--prefix", str(where), npm_package("dotprompt")]
    subprocess.run(command, env=environment, check=True, timeout=LIMIT)
    script = where / "dotprompt.mjs"
    text = (Path(__file__).parent / "dotprompt.mjs").read_text(encoding="utf-8")
    script.write_text(text, encoding="utf-8")
    return str(script)


if __name__ == "__main__":
    sys.exit(main())
