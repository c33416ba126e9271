"""Calls of real operations against an echo server: `python -m tests.interop.landing [FILE…]`.

Of each description some operations are called, with what they need and with all that they take. The
server writes down the bytes; this file reads the description by itself (no code of the studio) and
says of each argument whether it arrived where the description puts it. Prints a line for each file.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import threading
from collections.abc import Iterator, Mapping
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from studio.core.tools.openapi.schemas import Operation
from studio.core.tools.openapi.source import OpenApiSource
from tests.interop.descriptions import arguments_of, descriptions
from tests.interop.environments import PATIENT, build

SEED = 39
OPERATIONS = int(os.environ.get("OPERATIONS", "4"))
"""Operations of each file; of these, as many as there are take a body, a query and a path."""

NO_ARGUMENTS = ("accept", "content-type", "authorization")
"""Headers that are no parameters (OpenAPI 3.1 §4.8.12), though some descriptions list them."""


class Reader:
    """A description, its references followed into other files."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._files: dict[Path, Any] = {}
        self.root = self._file(self._path)
        self.is_swagger = "swagger" in self.root

    def _file(self, path: Path) -> Any:
        if path not in self._files:
            text = path.read_text(encoding="utf-8")
            is_json = path.suffix == ".json"
            self._files[path] = json.loads(text) if is_json else yaml.load(text, yaml.CSafeLoader)
        return self._files[path]

    def follow(self, value: Any, place: Path | None = None) -> tuple[Any, Path]:
        """What a reference leads to, and the file that it stands in."""
        place = place or self._path
        while isinstance(value, Mapping) and "$ref" in value:
            file, _, pointer = value["$ref"].partition("#")
            place = (place.parent / file).resolve() if file else place
            value = self._file(place)
            for step in filter(None, pointer.split("/")):
                name = unquote(step).replace("~1", "/").replace("~0", "~")
                value = value[int(name)] if isinstance(value, list) else value[name]
        return value, place

    def operation(self, path: str, method: str) -> tuple[Any, Path, list[Any]]:
        """An operation, its file, and its parameters with those of its path, followed."""
        item, place = self.follow(self.root["paths"][path])
        found, own = self.follow(item[method], place)
        listed: dict[tuple[str, str], Any] = {}
        for raw, file in [(each, place) for each in item.get("parameters", ())] + [
            (each, own) for each in found.get("parameters", ())
        ]:
            each, _ = self.follow(raw, file)
            listed[each["name"], each["in"]] = each
        return found, own, [*listed.values()]


def with_marks(value: Any) -> Any:
    """Put what has to be encoded into each text that may be any text."""
    if isinstance(value, Mapping):
        return {name: with_marks(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_marks(each) for each in value]
    return "a b/ü&=?%2F#+;" if value == "x" else value


def text_of(value: Any) -> str:
    """A scalar as an address has it."""
    return json.dumps(value) if isinstance(value, bool | type(None)) else str(value)


def pairs_of(name: str, value: Any, form: Mapping[str, Any]) -> set[tuple[str, str]] | None:
    """What a query or a form has for an argument; None where it is not judged.

    Args:
        name: of the parameter.
        value: the argument.
        form: `style`, `explode`, or Swagger's `collectionFormat`.
    """
    style = form.get("style", "form")
    explode = form.get("explode", style == "form")
    old = form.get("collectionFormat", "csv" if form.get("type") == "array" else "")
    if old:
        explode = old == "multi"
        if old not in ("multi", "csv"):
            return None
    if isinstance(value, list):
        if any(isinstance(each, list | dict) for each in value):
            return None
        mark = {"spaceDelimited": " ", "pipeDelimited": "|"}.get(style, ",")
        texts = [text_of(each) for each in value]
        return {(name, each) for each in texts} if explode else {(name, mark.join(texts))}
    if isinstance(value, dict):
        if any(isinstance(each, list | dict) for each in value.values()):
            return None
        if style == "deepObject":
            return {(f"{name}[{key}]", text_of(each)) for key, each in value.items()}
        if explode:
            return {(key, text_of(each)) for key, each in value.items()}
        return {(name, ",".join(f"{key},{text_of(each)}" for key, each in value.items()))}
    return {(name, text_of(value))}


def faults_of(
    reader: Reader, operation: Operation, arguments: Mapping[str, Any], got: Mapping[str, Any]
) -> Iterator[str]:
    """Yield each argument that did not arrive where the description puts it."""
    _, place, parameters = reader.operation(operation.path, operation.method)
    if got["method"].lower() != operation.method:
        yield f"method {got['method']}"
    address = urlsplit(got["path"])
    query = set(parse_qsl(address.query, keep_blank_values=True))
    left, expected = dict(arguments), set()
    path = operation.path.partition("#")[0]  # a fragment is not sent
    for each in parameters:
        name, where = each["name"], each["in"]
        if where == "body" or (where == "header" and name.lower() in NO_ARGUMENTS):
            continue
        if where == "formData":
            if each.get("required") and name not in arguments.get("body", {}):
                yield f"form {name} is required and was no argument"
            continue
        key = f"{name}_{where}" if f"{name}_{where}" in left else name
        if key not in left:
            if each.get("required"):
                yield f"{where} {name} is required and was no argument"
            continue
        value = left.pop(key)
        schema, _ = reader.follow(each.get("schema", each), place)
        if "content" in each:
            expected.add((name, json.dumps(value)))
        elif where == "path":
            written = pairs_of(name, value, {"explode": False, "style": "simple"})
            if written is None or isinstance(value, dict):
                yield f"path {name} is not judged"
                continue
            path = path.replace("{" + name + "}", next(iter(written))[1])
        elif where == "query":
            written = pairs_of(name, value, each if "schema" in each else {**each, **schema})
            if written is None:
                yield f"? query {name} is not judged"
                query = {pair for pair in query if pair[0].partition("[")[0] != name}
                continue
            expected |= written
        elif where == "header":
            sent = got["headers"].get(name.lower(), "").encode("latin-1").decode()
            if sent != text_of(value) and not isinstance(value, list | dict):
                yield f"header {name}: {sent!r}"
    if unquote(address.path) != path:
        yield f"path {unquote(address.path)!r} is not {path!r}"
    if query != expected:
        yield f"query {sorted(query ^ expected)[:4]}"
    body = left.pop("body", None)
    yield from _body_faults(got, body)
    if left:
        yield f"no place for {sorted(left)}"


def _body_faults(got: Mapping[str, Any], body: Any) -> Iterator[str]:
    data, kind = got["body"], got["headers"].get("content-type", "")
    if body is None:
        if data:
            yield f"a body of {len(data)} bytes"
        return
    if "json" in kind:
        if json.loads(data) != body:
            yield f"body {data[:80]!r}"
    elif "x-www-form-urlencoded" in kind:
        sent = set(parse_qsl(data.decode(), keep_blank_values=True))
        wanted = [pairs_of(name, value, {}) for name, value in body.items()]
        if None in wanted:
            yield "? form is not judged"
        elif sent != set().union(*filter(None, wanted)):
            yield f"form {sorted(sent ^ set().union(*filter(None, wanted)))[:4]}"
    elif "multipart" in kind:
        whole = message_from_bytes(f"content-type: {kind}\r\n\r\n".encode() + data)
        parts = {
            each.get_param("name", header="content-disposition") for each in whole.get_payload()
        }
        if parts != set(body):
            yield f"parts {parts ^ set(body)}"
    elif data.decode() != body:
        yield f"{kind} {data[:80]!r}"


async def meet(path: Path, got: list[dict[str, Any]], address: str) -> tuple[int, int, list[str]]:
    """Call some operations of a description: calls, those judged in part, and what was wrong."""
    reader = Reader(path)
    source = OpenApiSource(path.stem, path, {"endpoint": address, "apiKey": "key"}, PATIENT)
    await source.list_tools()
    drawn = [*source.operations]
    random.Random(SEED).shuffle(drawn)
    drawn.sort(key=lambda each: -bool(each.content_type) - bool(each.parameters))
    chosen = [*drawn[: OPERATIONS // 2], *drawn[len(drawn) // 2 :][: OPERATIONS - OPERATIONS // 2]]
    calls, in_part, wrong = 0, 0, []
    for operation in chosen:
        for whole in (False, True):
            arguments = with_marks(arguments_of(operation, whole=whole))
            if arguments is None:
                print(f"{operation.spec.name}: no sample of arguments")
                continue
            got.clear()
            outcome = await source.call(operation.spec.name, arguments)
            calls += 1
            if len(got) != 1:
                wrong.append(f"{operation.spec.name}: {len(got)} requests, {outcome.text[:200]}")
                continue
            faults = [*faults_of(reader, operation, arguments, got[0])]
            in_part += any(each.startswith("?") for each in faults)
            wrong += [f"{operation.spec.name}: {each}" for each in faults if each[0] != "?"]
    await source.close()
    print(f"{path.name:32} {len(chosen)} operations, {calls} calls, {in_part} judged in part")
    return len(chosen), calls, [f"{path.name} {each}" for each in wrong]


def main(paths: list[Path]) -> int:
    """Call those of the files, or those that can be had; 1 where an argument arrived elsewhere."""
    if not paths:
        python = build("mcp-servers")
        paths = descriptions(python) if python is not None else []
    got: list[dict[str, Any]] = []

    class Echo(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            self.raw_requestline = self.rfile.readline()
            if not self.raw_requestline or not self.parse_request():
                self.close_connection = True
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            got.append(
                {"method": self.command, "path": self.path, "headers": headers, "body": body}
            )
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    operations = calls = 0
    wrong: list[str] = []
    for path in paths:
        more, made, faults = asyncio.run(meet(path, got, address))
        operations, calls, wrong = operations + more, calls + made, wrong + faults
    server.shutdown()
    print(
        f"{operations} operations of {len(paths)} descriptions, {calls} calls, {len(wrong)} wrong"
    )
    print(*wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main([Path(word) for word in sys.argv[1:]]))
