"""Run an exported file in its program, and compare the request that it sends.

The program is the user's own: nothing is installed. It runs in a separate process, with the file
and the values but without the studio's environment and keys. Its requests go to a recording server
on this machine, and are compared with the studio's own request (`core/export/sent`).
"""

import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import assert_never, get_args

from studio.application.exchange import export
from studio.core.export.chat_template import used_inputs
from studio.core.export.sent import (
    SentRequest,
    compare_requests,
    key_variable,
    named_connection,
    request_of,
    sent_by_studio,
    with_model,
    with_variables,
)
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, RoundTrip
from studio.core.models.connections import address_of
from studio.core.prompty.document import TEXT_KINDS
from studio.core.prompty.inputs import value_kind
from studio.core.prompty.reference_values import find_references
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonObject, list_of, object_of, reason_of
from studio.core.wire.request import Provider

ADDRESS_HEADER = "x-studio-address"
"""Header with the original address of a redirected request."""

ROUND_HEADER = "x-studio-round"
"""Header with the number of a request's round."""


@cache
def _answers() -> JsonObject:
    """Return the answers that clients need, by the end of the path."""
    return object_of(json.loads(export.judge_script("answers.json")))


@dataclass
class RequestLog:
    """The received requests, in order."""

    address: str
    """Address of the server, `http://127.0.0.1:PORT`."""

    requests: list[tuple[int, SentRequest]] = field(default_factory=list)
    """Number of the round, and its request."""

    def first_of(self, number: int) -> SentRequest | None:
        """Return the first request of a round; None if there is none."""
        return next((request for count, request in self.requests if count == number), None)


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        """Record the request, and send the answer for its path."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        address = headers.get(ADDRESS_HEADER, f"http://{headers.get('host', '')}{self.path}")
        body: JsonObject = {}
        with suppress(ValueError):
            body = object_of(json.loads(self.rfile.read(int(headers.get("content-length", "0")))))
        number = int(headers.get(ROUND_HEADER, "0"))
        log: RequestLog = self.server.log  # type: ignore[attr-defined]
        log.requests.append((number, SentRequest(address, body, headers, self.command)))
        path = address.partition("?")[0]
        answer = next((item for end, item in _answers().items() if path.endswith(end)), {})
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Print nothing, since requests are recorded."""


@contextmanager
def recorded() -> Iterator[RequestLog]:
    """Run a server on a free port of this machine until the block ends."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    log = RequestLog(f"http://127.0.0.1:{server.server_port}")
    server.log = log  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, name="export recorder", daemon=True)
    thread.start()
    try:
        yield log
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


_SECONDS = 120
_NOT_PASSED = re.compile(
    r"(?i)key|token|secret|password|proxy|^(?:python|prompt|openai|azure_|anthropic|node_options)"
)
"""Matches variables that no program gets: keys, proxies, settings of Python and of the clients."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The requests that a program made from a file."""

    program: str
    """Name and version of the program."""

    answers: tuple[SentRequest | str, ...]
    """The request of each round, or why there is none."""


@dataclass(frozen=True, slots=True)
class ProgramJob:
    """An exported file to run in a program."""

    name: export.JudgeName
    """Program."""

    source: ExportSource
    """Prompt that the file was exported from."""

    made: ExportResult
    """Exported file."""

    place: Path
    """Empty folder for the files."""

    log: RequestLog
    """Log of the received requests."""

    variables: Mapping[str, str]
    """Environment variables that the file refers to."""

    def write(self, name: str) -> Path:
        """Write the file beside the files of the prompt; return its path."""
        prompt = self.source.document.source.path
        path = self.place / name
        if prompt is not None:
            named = [each for each in find_references(self.made.text) if each.protocol == "file"]
            _lay_beside(
                prompt.parent, self.place, {prompt.parent / each.argument for each in named}
            )
            path.unlink(missing_ok=True)
        path.write_bytes(self.made.content)
        return path

    def run(
        self, *command: str | Path, given: str = "", further: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder.

        Raises:
            NoJudgeError: the command cannot be started or takes too long.
        """
        kept = {name: value for name, value in os.environ.items() if not _NOT_PASSED.search(name)}
        own = {"NO_PROXY": "*", "no_proxy": "*", "STUDIO_RECORDER": self.log.address}
        try:
            return subprocess.run(
                [str(each) for each in command],
                input=given,
                capture_output=True,
                text=True,
                encoding="utf-8",
                errors="replace",
                env={**kept, **self.variables, **own, **(further or {})},
                cwd=self.place,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise export.NoJudgeError(f"{command[0]} gave no answer: {reason_of(error)}") from error


def ask_program(job: ProgramJob, program: Path | None) -> Asked:
    """Let the program send the request of each round.

    Args:
        job: The file.
        program: The Python with the package, or the program itself; None searches for one.

    Raises:
        NoJudgeError: the program is missing, or gave no answer.
    """
    program = program.absolute() if program is not None else None  # runs in another folder
    match job.name:
        case "promptfoo":
            return _ask_promptfoo(job, program or _found("promptfoo", "npm install -g promptfoo"))
        case "curl":
            return _ask_curl(job, program or _found("curl", "curl"))
        case "prompty" | "prompty1" | "langchain" | "agent-framework" | "python":
            return _ask_python(job, export.PROGRAMS[job.name], program)
        case _:
            assert_never(job.name)


def _found(name: str, wanted: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise export.NoJudgeError(f"{name} is not on the PATH: install it ({wanted}).")
    return Path(found)


def _ask_promptfoo(job: ProgramJob, program: Path) -> Asked:
    """Let promptfoo evaluate the configuration, once for each round."""
    data = object_of(read_yaml(job.made.text).value)
    job.write("promptfooconfig.yaml")
    answers: list[SentRequest | str] = []
    for each in job.source.rounds.values():
        test = {"vars": _given(job, each), "options": {"disableVarExpansion": True}}
        config = {key: data.get(key) for key in ("prompts", "providers")} | {"tests": [test]}
        path = job.place / "studio-round.json"
        path.write_text(json.dumps(config, default=str), encoding="utf-8")
        job.log.requests.clear()
        done = run_promptfoo(job, program, *evaluation_of(path))
        answers.append(job.log.first_of(0) or _last_line(done))
    version = run_promptfoo(job, program, "--version").stdout.strip().rpartition("\n")[2]
    return Asked(f"promptfoo {version}", tuple(answers))


def evaluation_of(path: Path) -> Sequence[str | Path]:
    """Return promptfoo's arguments for evaluating a configuration, one request at a time."""
    return ("eval", "-c", path, "--no-cache", "--no-table", "--no-write", "-j", "1")


def run_promptfoo(job: ProgramJob, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promptfoo, whose requests go to the recording server."""
    preload = job.place / "studio-fetch.cjs"
    preload.write_text(export.judge_script("fetch.js"), encoding="utf-8")
    quiet = ("TELEMETRY", "UPDATE", "REMOTE_GENERATION")
    further = {
        "NODE_OPTIONS": f"--require={preload.as_posix()}",
        "PROMPTFOO_CONFIG_DIR": str(job.place / "config"),
        **{f"PROMPTFOO_DISABLE_{word}": "1" for word in quiet},
    }
    return job.run(*command, further=further)


def _ask_curl(job: ProgramJob, program: Path) -> Asked:
    """Let a shell run the command, which contains the current values."""
    script = job.write("ask.sh")
    folder = job.place / "studio-path"
    folder.mkdir()
    before = folder / "curl"
    before.write_text(export.judge_script("curl.sh"), encoding="utf-8")
    before.chmod(0o700)
    path = os.pathsep.join((str(folder), os.environ.get("PATH", "")))
    done = job.run("sh", script, further={"PATH": path, "STUDIO_CURL": str(program)})
    return Asked("curl", (job.log.first_of(0) or _last_line(done),))


def _ask_python(job: ProgramJob, program: export.ForeignProgram, python: Path | None) -> Asked:
    """Let the package read the file in a Python, with the values of each round."""
    path = job.write(f"prompt{program.suffix}")
    asked = python or _python_with(program)
    order: dict[str, object] = {
        "path": str(path),
        "package": program.package,
        "recorder": job.log.address,
        "sets": [_given(job, each) for each in job.source.rounds.values()],
    }
    connection = named_connection(job.source)
    order["key"] = job.variables.get(key_variable(connection), "")
    order["model"] = "value-of-OPENAI_MODEL"
    address = with_variables(SentRequest(address_of(connection), {}), job.variables).address
    further = {"PROMPTY_TRUSTED_ENDPOINTS": address}
    script = job.place / "studio_ask.py"
    script.write_text(export.python_source(program), encoding="utf-8")
    done = job.run(asked, "-I", script, given=json.dumps(order, default=str), further=further)
    try:
        answer = object_of(json.loads(done.stdout.strip().rpartition("\n")[2]))
    except ValueError as error:
        raise export.NoJudgeError(f"{asked} returned no answer: {_last_line(done)}") from error
    version, listed = answer.get("version"), answer.get("sets")
    fits = isinstance(version, str) and version.startswith(program.newest)
    if not fits or not isinstance(listed, list):
        has = f"{program.package} {version}" if version else f"no {program.package}"
        raise export.NoJudgeError(
            f"{asked} has {has}; install {program.wanted} there, or name another: "
            f"export --run-in {job.name} --python PYTHON."
        )
    answers = [_answer(job, number, object_of(item)) for number, item in enumerate(listed)]
    return Asked(f"{program.package} {version}", tuple(answers))


def _answer(job: ProgramJob, number: int, item: JsonObject) -> SentRequest | str:
    """Return a round's request, its messages if the package sends none, or its error."""
    sent = job.log.first_of(number)
    if sent is not None and job.name == "agent-framework":  # without the question, which is empty
        messages = [item for item in list_of(sent.body.get("messages")) if _has_content(item)]
        further: JsonObject = {"messages": messages} if messages else {}
        return replace(sent, body={**sent.body, **further})
    if sent is not None:
        return sent
    if "fault" in item:
        return str(item["fault"])
    found = item.get("messages")
    return SentRequest("", {"messages": found}) if found else "it sends no request"


def _has_content(item: Json) -> bool:
    return object_of(item).get("content") not in ("", [], [{"type": "text", "text": ""}])


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    return (done.stderr or done.stdout).strip().rpartition("\n")[2] or "it sends no request"


def _given(job: ProgramJob, each: ExportSource) -> JsonObject:
    """Return the values that a user of the program would enter.

    They are those of declared inputs and the given ones; for LangChain and promptfoo also the
    variables of a run at its start.
    """
    inputs = each.prepared.inputs
    match job.name:
        case "langchain" | "promptfoo":
            return inputs
        case "python":
            names = set(used_inputs(each.document))
            given = {key: inputs[key] for key in names if inputs.get(key) is not None}
            return {
                key: value
                if isinstance(value, str) and value_kind(each.document, key) in TEXT_KINDS
                else json.dumps(value)
                for key, value in given.items()
            }
        case _:
            names = {item.name for item in each.document.inputs} | each.inputs.keys()
            return {key: value for key, value in inputs.items() if key in names}


def _python_with(program: export.ForeignProgram) -> Path:
    """Return a Python that may have the package: the current one, or the first in PATH.

    Raises:
        NoJudgeError: there is none.
    """
    import importlib.util

    own = program.package.replace("-", "_")
    if program.newest != "0." and importlib.util.find_spec(own) is not None:
        return Path(sys.executable)
    other = shutil.which("python3") or shutil.which("python")
    if other is None:
        words = f"There is no Python with the package {program.package}; name one with --python."
        raise export.NoJudgeError(words)
    return Path(other)


def _lay_beside(folder: Path, place: Path, copied: Collection[Path]) -> None:
    """Link the content of a folder into another one, or copy it if links are not allowed.

    Args:
        folder: The folder.
        place: An empty folder.
        copied: Files that a program does not read through links, such as Prompty's `${file:…}`.
    """
    for item in folder.iterdir():
        laid = place / item.name
        if any(item in file.parents for file in copied):
            laid.mkdir()
            _lay_beside(item, laid, copied)
        elif item in copied:
            shutil.copyfile(item, laid)
        else:
            _link(item, laid)


def _link(item: Path, place: Path) -> None:
    """Link to a file or folder; copy a file if links are not allowed (Windows)."""
    try:
        place.symlink_to(item)
    except OSError:
        if item.is_file():
            shutil.copyfile(item, place)


@dataclass(frozen=True, slots=True)
class Judgment:
    """The verdict on a file by one program."""

    program: str
    """Name and version of the program."""

    rounds: tuple[RoundTrip, ...] = field(default=())
    """One comparison per input set."""


def judge_names() -> tuple[export.JudgeName, ...]:
    """Return all programs."""
    return get_args(export.JudgeName)


def judge_of(form: str) -> export.JudgeName | None:
    """Return the program for a target; None if there is none."""
    return next((name for name, each in export.PROGRAMS.items() if form in each.forms), None)


def judge_export(target: ExportTarget, source: ExportSource, made: ExportResult) -> Judgment:
    """Let the target's program send the requests of an exported file.

    Raises:
        NoJudgeError: there is no such program, or it gave no answer.
    """
    name = judge_of(target.name)
    if name is None:
        raise export.NoJudgeError(f"No program can check {target.label}.")
    return run_in(name, target.name, export.source_for(target, source), made)


def run_in(
    name: export.JudgeName,
    form: str,
    source: ExportSource,
    made: ExportResult,
    program: Path | None = None,
) -> Judgment:
    """Let a program send the requests of an exported file, with the current values and all sets.

    Args:
        name: The program.
        form: Name of the target.
        source: The source of the file.
        made: The file.
        program: The Python with the package, or the program itself; None searches for one.

    Raises:
        NoJudgeError: the program is missing, or gave no answer.
    """
    source = with_model(source)
    variables = _variables(source, made)
    with recorded() as log, tempfile.TemporaryDirectory(prefix="prompt-studio-") as place:
        asked = ask_program(ProgramJob(name, source, made, Path(place), log, variables), program)
    return Judgment(asked.program, tuple(_compared(source, form, asked, variables)))


_FORMS: Mapping[str, Provider] = {
    "curl-openai-chat": "openai-chat",
    "curl-openai-responses": "openai-responses",
    "curl-anthropic": "anthropic",
}
"""Form of the request, for targets that decide it instead of the prompt."""


_TEXTS = ("messages", "input", "instructions", "system")
"""Keys of a body whose references are letters, except in the section dialect."""


def _compared(
    source: ExportSource, form: str, asked: Asked, variables: Mapping[str, str]
) -> Iterator[RoundTrip]:
    for (name, each), got in zip(source.rounds.items(), asked.answers, strict=False):
        if isinstance(got, SentRequest):
            if got.address:
                expected = sent_by_studio(each, _FORMS.get(form))
            else:  # only messages, in chat completions' form
                expected = SentRequest("", request_of(each, "openai-chat").body)
            texts = {} if source.document.dialect == "section" else expected.body
            expected = with_variables(expected, variables)
            kept = {key: texts[key] for key in _TEXTS if key in texts}
            expected = replace(expected, body={**expected.body, **kept})
            yield compare_requests(name, expected, got, loose=form == "legacy")
        else:
            yield RoundTrip(name, f"it is refused: {got}")


def _variables(source: ExportSource, made: ExportResult) -> dict[str, str]:
    """Return a value for each variable in the prompt or the file."""
    connection = named_connection(source)
    names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_MODEL", key_variable(connection)]
    found = {name: f"value-of-{name}" for name in names}
    for reference in find_references(source.document.source.text + made.text):
        if reference.protocol == "env" and not reference.default:
            found.setdefault(reference.argument, f"value-of-{reference.argument}")
    for reference in find_references(connection.base_url):
        if not reference.default:
            host = reference.argument.lower().replace("_", "-")
            found[reference.argument] = f"https://{host}.example"
    return found
