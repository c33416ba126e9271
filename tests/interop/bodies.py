"""Requests judged by others: a shell with curl sends them, and the providers' types take them."""

from __future__ import annotations

import http.server
import json
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from studio.cli.main import run_command
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import whole_reference
from studio.core.text.values import Json
from studio.core.wire.request import Provider
from tests.interop.environments import LIMIT

_TYPES = """
import collections.abc, importlib, json, pkgutil, sys, typing
from pydantic import TypeAdapter
PARAMS = {
    "openai-chat": ("openai.types.chat.completion_create_params",
                    "CompletionCreateParamsNonStreaming"),
    "openai-responses": ("openai.types.responses.response_create_params",
                         "ResponseCreateParamsNonStreaming"),
    "anthropic": ("anthropic.types.message_create_params", "MessageCreateParamsNonStreaming"),
}
def refuse_unknown_keys(module):
    package = importlib.import_module(module.rpartition(".")[0])
    for info in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        for item in vars(importlib.import_module(info.name)).values():
            if isinstance(item, type) and hasattr(item, "__total__"):
                item.__pydantic_config__ = {"extra": "forbid", "arbitrary_types_allowed": True}
def take(value):  # pydantic reads what is iterable only when it is asked for
    if isinstance(value, dict):
        value = value.values()
    if isinstance(value, collections.abc.Iterable) and not isinstance(value, (str, bytes)):
        for item in value:
            take(item)
adapters, told = {}, []
for provider, body in json.loads(sys.stdin.read()):
    if provider not in adapters:
        module, name = PARAMS[provider]
        refuse_unknown_keys(module)
        adapters[provider] = TypeAdapter(getattr(importlib.import_module(module), name))
    for tool in body.get("tools", []) if provider == "openai-responses" else []:
        for key in ("parameters", "strict"):  # the type asks for them; the API does not
            tool.setdefault(key, None)
    if provider == "anthropic":  # gone from the types with 1.0; the API takes them of some models
        body = {key: body[key] for key in body if key not in ("temperature", "top_p", "top_k")}
    try:
        take(adapters[provider].validate_python(body))
        told.append("")
    except ValueError as error:
        told.append(" ".join(str(error).split())[:300])
print(json.dumps(told))
"""

_HEADERS: Mapping[Provider, Mapping[str, str]] = {
    "openai-chat": {"authorization": "Bearer k"},
    "openai-responses": {"authorization": "Bearer k"},
    "anthropic": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
}
_PATHS: Mapping[Provider, str] = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
}
_HOSTS: Mapping[Provider, str] = {
    "openai-chat": "api.openai.com",
    "openai-responses": "api.openai.com",
    "anthropic": "api.anthropic.com",
}


def type_faults(python: Path, bodies: list[tuple[Provider, Any]]) -> list[str]:
    """What the types of `openai` and `anthropic` refuse of each body; empty where nothing."""
    done = subprocess.run(
        [str(python), "-W", "ignore", "-c", _TYPES],
        input=json.dumps(bodies),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    found: list[str] = json.loads(done.stdout)
    return found


def values_of(path: Path) -> dict[str, Json]:
    """A value for each input: what a preview puts there."""
    document = parse(path.read_text(encoding="utf-8"), path)
    return resolve_inputs(document, {}).shown


@contextmanager
def _values_file(values: Mapping[str, Json]) -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        given = Path(folder) / "values.json"
        given.write_text(json.dumps(dict(values)), encoding="utf-8")
        yield given


def said_by_the_command(path: Path, provider: Provider, values: Mapping[str, Json]) -> Any:
    """The body as `prompt-studio request` prints it, for a reply at once."""
    printed = StringIO()
    with _values_file(values) as given, redirect_stdout(printed), redirect_stderr(StringIO()):
        run_command(
            ["request", "--trust", "--provider", provider, "--inputs", str(given), str(path)]
        )
    body = json.loads(printed.getvalue())
    return {key: item for key, item in body.items() if key not in ("stream", "stream_options")}


@dataclass(frozen=True)
class Asked:
    """A request that reached the server."""

    path: str
    headers: Mapping[str, str]
    body: Any


class _Recorder(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {key.lower(): value for key, value in self.headers.items()}
        self.server.asked.append(Asked(self.path, headers, body))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def recorder(folder: Path) -> Iterator[tuple[list[Asked], dict[str, str]]]:
    """A server over HTTPS that stands for every host, and the environment that curl needs for it.

    Args:
        folder: an empty one, for its certificate and curl's settings.
    """
    certificate = folder / "server.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=x",
            "-keyout",
            str(certificate),
            "-out",
            str(folder / "public.pem"),
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "public.pem", certificate)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Recorder)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    there = f'connect-to = "::127.0.0.1:{server.server_port}"\ninsecure\nnoproxy = "*"\n'
    (folder / ".curlrc").write_text(there, encoding="utf-8")
    try:
        yield server.asked, {"CURL_HOME": str(folder), "HOME": str(folder)}  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sent_by_curl(path: Path, provider: Provider, folder: Path) -> str:
    """What a prompt's curl command sends otherwise than the `request` command says.

    Args:
        path: the prompt.
        provider: whose form is exported.
        folder: an empty one.
    """
    document = parse(path.read_text(encoding="utf-8"), path)
    values = values_of(path)
    script = folder / "ask.sh"
    with _values_file(values) as given, redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        run_command(
            [
                "export",
                "--target",
                f"curl-{provider}",
                "--accept-losses",
                "--trust",
                "--inputs",
                str(given),
                "-o",
                str(script),
                str(path),
            ]
        )
    if not script.is_file():
        return "nothing is written"
    asked, told = _run(script, folder)
    if asked is None:
        return told
    host = _host(provider, document)
    if asked.headers.get("host") != host:
        return f"it goes to {asked.headers.get('host')} instead of {host}"
    if asked.path != _PATHS[provider]:
        return f"it asks for {asked.path} instead of {_PATHS[provider]}"
    for name, value in {**_HEADERS[provider], "content-type": "application/json"}.items():
        if asked.headers.get(name) != value:
            return f"the header {name} is {asked.headers.get(name)!r} instead of {value!r}"
    said = said_by_the_command(path, provider, values)
    keys = [key for key in {**said, **asked.body} if said.get(key) != asked.body.get(key)]
    return f"the body differs in {', '.join(keys)}" if keys else ""


def _run(script: Path, folder: Path) -> tuple[Asked | None, str]:
    """The request that a shell sends, or why there is none."""
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY"), "k")
    with recorder(folder) as (asked, environment):
        done = subprocess.run(
            ["sh", str(script)],
            env={"PATH": os.environ["PATH"], **environment, **keys},
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    if done.returncode or len(asked) != 1:
        told = f"the shell ends with {done.returncode} after {len(asked)} requests: {done.stderr}"
        return None, told
    return asked[0], ""


def _host(provider: Provider, document: PromptDocument) -> str:
    """The host that the prompt names, where its server speaks the form; the provider's own."""
    model = document.model
    endpoint = model.connection.get("endpoint")
    if not isinstance(endpoint, str) or (model.provider == "anthropic") != (
        provider == "anthropic"
    ):
        return _HOSTS[provider]
    reference = whole_reference(endpoint.strip())
    return urlsplit((reference.default or "") if reference is not None else endpoint).netloc
