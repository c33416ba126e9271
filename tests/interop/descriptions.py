"""Real descriptions of APIs, every operation called: `python -m tests.interop.descriptions`.

GitHub's own (npm), and those of the folder that DESCRIPTIONS names. Of each operation two calls are
made, with what it needs and with all that it takes; the arguments come of the tools' schemas. Each
body is judged by jsonschema, on the description as it is; and Prism (npm), which reads the same
description and refuses a request that does not keep to it, answers the calls (of a large one, each
so many).
Prints a line for each description; ends with 1 where a request was refused.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

from studio.core.tools.openapi.description import JSON_TYPE
from studio.core.tools.openapi.operation import Operation
from studio.core.tools.openapi.request import build_request
from studio.core.tools.openapi.source import OpenApiSource
from tests.interop.body_judge import BodyJudge
from tests.interop.environments import LIMIT, PATIENT, build, node_of, npm_file
from tests.interop.samples import sample
from tests.support.ports import free_port

PRISM, GITHUB = "@stoplight/prism-cli@5.16.0", "@octokit/openapi@23.0.2"
REFUSED = (400, 401, 403, 404, 405, 413, 415, 422)
"""What Prism answers where a request is no request of the description."""

MOST_SHOWN = 8
MOST_SENT = 200
"""Operations of one description that Prism answers: it takes a third of a second for each."""


def descriptions(python: Path) -> list[Path]:
    """The descriptions that can be had here."""
    found = [npm_file(python, GITHUB, "generated/api.github.com.json")]
    folder = os.environ.get("DESCRIPTIONS")
    if folder:
        found += sorted(each for each in Path(folder).iterdir()
                        if each.suffix in (".json", ".yaml", ".yml"))  # fmt: skip
    return [each for each in found if each is not None]


async def until_it_listens(port: int, prism: subprocess.Popen[bytes]) -> None:
    """Wait for Prism, which takes its time with a large description."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and prism.poll() is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.2)
        else:
            writer.close()
            return
    raise RuntimeError("Prism does not answer")


def status_of(head: str) -> int:
    """The status in the head of an answer; 0 where there was none."""
    words = head.split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0


def judge(path: Path, operations: tuple[Operation, ...]) -> tuple[Counter[str], list[str]]:
    """What jsonschema says of a body for each operation."""
    text = path.read_text(encoding="utf-8")
    data = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
    by_schema = BodyJudge(data)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for operation in operations:
        schema: Any = operation.spec.parameters
        for whole in (False, True):
            arguments = sample(schema, schema, whole=whole)
            own = [each.message for each in Draft202012Validator(schema).iter_errors(arguments)]
            if own:
                counts["no sample"] += 1
                continue
            body = build_request(operation, arguments, "http://localhost").body
            if not body or not JSON_TYPE.match(operation.content_type):
                counts["without JSON"] += 1
                continue
            faults = by_schema.faults(operation.path, operation.method, json.loads(body))
            counts["refused" if faults else "bodies accepted"] += 1
            wrong += [f"{path.name} {operation.spec.name}: {each}" for each in faults[:1]]
    return counts, wrong


async def meet(path: Path, prism: list[str], log: Path) -> list[str]:
    """Call every operation of a description; what was refused, in sentences."""
    port = free_port()
    connection: dict[str, Any] = {"endpoint": f"http://127.0.0.1:{port}", "apiKey": "key"}
    source = OpenApiSource(path.stem, path, connection, PATIENT)
    began = time.perf_counter()
    operations = (await source.list_tools(), source.operations)[1]
    took = time.perf_counter() - began
    counts, wrong = judge(path, operations)
    print(f"{path.name:24} {len(operations):>5} operations read in {took:.2f} s, "
          f"{dict(counts)}, left out: {len(source.problems)}")  # fmt: skip
    command = [*prism, "mock", "--port", str(port), "--host", "127.0.0.1", str(path)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    taken = 0
    try:
        await until_it_listens(port, process)
        sent = operations[:: -(-len(operations) // MOST_SENT)]
        for operation in sent:
            schema: Any = operation.spec.parameters
            said = [await source.call(operation.spec.name, sample(schema, schema, whole=whole))
                    for whole in (False, True)]  # fmt: skip
            statuses = [status_of(each.head) for each in said]
            if any(status in REFUSED or not status for status in statuses):
                wrong.append(f"{path.name} {operation.spec.name} {statuses}: {said[0].text[:300]}")
            else:
                taken += 1
    finally:
        await source.close()
        process.terminate()
        process.wait()
    print(f"{'':24} {taken:>5} of {len(sent)} operations taken by Prism")
    return wrong


async def main() -> int:
    """Meet all that can be had."""
    python = build("mcp-servers")
    script = npm_file(python, PRISM, "dist/index.js") if python is not None else None
    if python is None or script is None:
        print("prism                    not installed here")
        return 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for path in descriptions(python):
            wrong += await meet(
                path, [str(node_of(python)), str(script)], Path(folder) / "prism.log"
            )
    print(*wrong[:MOST_SHOWN], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
