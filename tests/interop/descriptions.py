"""Real descriptions of APIs, every operation called: `python -m tests.interop.descriptions`.

The petstores of Swagger 2, OpenAPI 3.0 and 3.1 and GitHub's own (npm), and those of the folder that
DESCRIPTIONS names. Of each operation two calls are made, with what it needs and with all that it
takes; the arguments come of the tools' schemas. Each JSON body is judged by jsonschema, on the
description as it is, and each form by npm's qs; and Prism (npm), which reads the same description
and refuses a request that does not keep to it, answers the calls (of a large one, each so many).
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
from studio.core.tools.openapi.request import build_request
from studio.core.tools.openapi.schemas import Operation
from studio.core.tools.openapi.source import OpenApiSource
from studio.core.tools.source import ToolOutcome
from tests.interop.body_judge import BodyJudge
from tests.interop.environments import PATIENT, build, node_of, npm_file
from tests.interop.form_judge import form_faults
from tests.interop.samples import sample
from tests.support.ports import free_port

PRISM, GITHUB = "@stoplight/prism-cli", "@octokit/openapi"
PETSTORES = "@readme/oas-examples"
FORM = "application/x-www-form-urlencoded"
LONGEST_START = 600.0
"""Seconds that Prism may take to read a description."""

MOST_SHOWN = 8
MOST_SENT = 200
"""Operations of one description that Prism answers: it takes a third of a second for each."""


def descriptions(python: Path) -> list[Path]:
    """The descriptions that can be had here."""
    found = [
        npm_file(python, PETSTORES, f"{each}/json/petstore.json") for each in ("2.0", "3.0", "3.1")
    ]
    found.append(npm_file(python, GITHUB, "generated/api.github.com.json"))
    folder = os.environ.get("DESCRIPTIONS")
    if folder:
        found += sorted(
            each for each in Path(folder).iterdir() if each.suffix in (".json", ".yaml", ".yml")
        )
    return [each for each in found if each is not None]


async def until_it_listens(port: int, prism: subprocess.Popen[bytes]) -> bool:
    """Wait for Prism, which takes its time with a large description; whether it got ready."""
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end and prism.poll() is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.2)
        else:
            writer.close()
            return True
    return False


def status_of(head: str) -> int:
    """The status in the head of an answer; 0 where there was none."""
    words = head.split()
    return int(words[1]) if len(words) > 1 and words[1].isdecimal() else 0


def violations(told: str) -> list[dict[str, Any]]:
    """What Prism says in a header, those of the request first; it cuts a list that is too long."""
    found: list[dict[str, Any]] = []
    decoder, at = json.JSONDecoder(), told.index("[") + 1
    while told[at : at + 1] == "{":
        try:
            each, at = decoder.raw_decode(told, at)
        except ValueError:
            break
        found.append(each)
        at += 1
    return found


def is_refused(said: ToolOutcome) -> bool:
    """Whether Prism says that a request is none of the description.

    An answer of 400 is none such sentence: it is given where the description has no better one.
    """
    if not status_of(said.head):
        return True
    lines = dict(line.partition(": ")[::2] for line in said.head.splitlines())
    told = violations(lines.get("sl-violations", "[]"))
    asked = [each for each in told if each["location"][0] == "request"]
    named = [each for each in asked if not each["message"].startswith("No supported content")]
    return bool(named) or (not asked and "stoplight.io/prism/errors#" in said.text)


def arguments_of(operation: Operation, *, whole: bool) -> dict[str, Any] | None:
    """Arguments that the tool takes; None where the sampler finds none."""
    schema: Any = operation.spec.parameters
    arguments = sample(schema, schema, whole=whole)
    for name, each in schema["properties"].items():
        if name == "body" or name not in arguments:
            continue
        texts = [one for one in each.get("oneOf", ()) if one.get("type") == "string"]
        if texts:  # in an address a number is a text, too: it would be both
            arguments[name] = sample(texts[0], schema, whole=whole)
        if arguments[name] == []:  # an empty list is not there in an address
            arguments[name] = sample({**each, "minItems": 1}, schema, whole=whole)
    is_valid = Draft202012Validator(schema).is_valid(arguments)
    return arguments if is_valid else None


def judge(
    python: Path, path: Path, operations: tuple[Operation, ...]
) -> tuple[Counter[str], list[str]]:
    """What jsonschema says of a JSON body for each operation, and qs of a form."""
    text = path.read_text(encoding="utf-8")
    data = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
    by_schema = BodyJudge(data)
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    forms: list[tuple[str, str, Any]] = []
    for operation in operations:
        for whole in (False, True):
            arguments = arguments_of(operation, whole=whole)
            if arguments is None:
                counts["no sample"] += 1
                continue
            body = build_request(operation, arguments, "http://localhost").body
            if operation.content_type == FORM:
                name = f"{path.name} {operation.spec.name}"
                forms.append((name, body, arguments.get("body", {})))
                continue
            if not body or not JSON_TYPE.match(operation.content_type):
                counts["without JSON"] += 1
                continue
            faults = by_schema.faults(operation.path, operation.method, json.loads(body))
            counts["refused" if faults else "bodies accepted"] += 1
            wrong += [f"{path.name} {operation.spec.name}: {each}" for each in faults[:1]]
    misread = form_faults(python, forms)
    if forms:
        counts["forms read by qs"] = len(forms) - len(misread)
    return counts, wrong + misread


async def meet(python: Path, path: Path, prism: list[str], log: Path) -> list[str]:
    """Call every operation of a description; what was refused, in sentences."""
    port = free_port()
    connection: dict[str, Any] = {"endpoint": f"http://127.0.0.1:{port}", "apiKey": "key"}
    source = OpenApiSource(path.stem, path, connection, PATIENT)
    began = time.perf_counter()
    operations = (await source.list_tools(), source.operations)[1]
    took = time.perf_counter() - began
    counts, wrong = judge(python, path, operations)
    name = "/".join(path.parts[-3:])[-40:]
    print(
        f"{name:40} {len(operations):>5} operations read in {took:.2f} s, "
        f"{dict(counts)}, left out: {len(source.problems)}"
    )
    command = [*prism, "mock", "--port", str(port), "--host", "127.0.0.1", str(path)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    taken, sent = 0, operations[:: -(-len(operations) // MOST_SENT)]
    try:
        if not await until_it_listens(port, process):
            print(f"{'':40} Prism did not get ready with it in {LONGEST_START:.0f} s")
            return wrong
        for operation in sent:
            wanted = [arguments_of(operation, whole=whole) for whole in (False, True)]
            said = [
                await source.call(operation.spec.name, arguments)
                for arguments in wanted
                if arguments is not None
            ]
            refused = [each for each in said if is_refused(each)]
            taken += not refused
            wrong += [
                f"{path.name} {operation.spec.name}: {each.head[:300]} {each.text[:300]}"
                for each in refused[:1]
            ]
    finally:
        await source.close()
        process.terminate()
        process.wait()
    print(f"{'':40} {taken:>5} of {len(sent)} operations taken by Prism")
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
                python, path, [str(node_of(python)), str(script)], Path(folder) / "prism.log"
            )
    print(*wrong[:MOST_SHOWN], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
