"""A curl command, a script that the studio exported, and its bundle, as prompt files."""

from __future__ import annotations

import ast
import io
import re
import shlex
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from studio.core.imports.compose import Composition, compose
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.request_json import import_request
from studio.core.prompty.edit.edits import set_value, write_scalar
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.front.front_matter import legacy_options
from studio.core.prompty.front.tool_shapes import function_tool
from studio.core.prompty.messages import Message, TextPart
from studio.core.prompty.parse import parse
from studio.core.prompty.templates import find_variables
from studio.core.prompty.threads import read_thread
from studio.core.text.foreign_json import parse_json
from studio.core.text.problem import apply_edits
from studio.core.text.reason import reason_of
from studio.core.text.values import Json, JsonObject

_HERE = re.compile(r"<<-?\s*'?(\w+)'?[^\n]*\n(.*?)\n[ \t]*\1\s*$", re.DOTALL | re.MULTILINE)
_DATA = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_OWN_HOSTS = ("api.openai.com", "api.anthropic.com")
_PATHS = re.compile(r"/(?:chat/completions|completions|responses|messages|embeddings)/?$")
_MESSAGES = re.compile(r"(?m)^MESSAGES\b.* = ")
_MOST_BYTES = 20_000_000


def is_curl(text: str) -> bool:
    """Whether a text is a curl command."""
    return re.search(r"(?m)^[ \t$]*curl\s", text) is not None


def import_curl(text: str) -> Imported:
    """The request that a curl command sends.

    Raises:
        ImportFailure: it sends no JSON that is a request.
    """
    here = _HERE.search(text)
    command = text[text.index("curl") :]
    words = _words(command[: command.index("<<")] if here and "<<" in command else command)
    body = here[2] if here is not None else _option(words, _DATA)
    try:
        data = parse_json(body)
    except ValueError as error:
        raise ImportFailure(f"The body of the command is not JSON: {reason_of(error)}.") from error
    made = import_request(data)
    address = next((word for word in words if "://" in word), "")
    parts = urlsplit(address)
    if not address or parts.hostname in _OWN_HOSTS:
        return made
    endpoint = _PATHS.sub("", address.partition("?")[0])
    document = parse(made.text)
    edits = set_value(document, ("model", "connection", "kind"), "key")
    text = apply_edits(made.text, edits)
    again = set_value(parse(text), ("model", "connection", "endpoint"), write_scalar(endpoint))
    return Imported(apply_edits(text, again), f"curl command: {made.form}", made.notes)


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command.replace("\\\r\n", " ").replace("\\\n", " "))
    except ValueError as error:
        raise ImportFailure(f"The command cannot be read: {error}.") from error


def _option(words: list[str], names: tuple[str, ...]) -> str:
    for index, word in enumerate(words[:-1]):
        if word in names:
            return words[index + 1]
        for name in names:
            if word.startswith(f"{name}="):
                return word.removeprefix(f"{name}=")
    raise ImportFailure("The command sends no body: it has no --data.")


def is_script(text: str) -> bool:
    """Whether a text is a Python script that the studio exported."""
    return (
        "Made by Prompt Studio" in text[:2000] and re.search(r"(?m)^MESSAGES = ", text) is not None
    )


def import_script(text: str) -> Imported:
    """The prompt of an exported script: its literals, nothing of it is run.

    Raises:
        ImportFailure: it is not Python, or holds no messages.
    """
    found = _literals(text)
    messages = found.get("MESSAGES")
    if not isinstance(messages, list) or not messages:
        raise ImportFailure("The script holds no messages.")
    work = Composition(is_template=True)
    work.format = "mustache" if re.search(r"(?m)^import chevron", text) else "jinja2"
    if re.search(r"(?m)^(?:import|from) jinja2", text) is None and work.format == "jinja2":
        work.is_template = re.search(r"(?m)^FIELD = ", text) is not None
        work.format = "fstring" if work.is_template else "jinja2"
    for item in messages:
        if isinstance(item, Mapping) and isinstance(item.get("thread"), str):
            name = str(item["thread"])
            work.inputs[name] = {"kind": "thread"}
            work.messages.append(name)
            continue
        work.messages += [
            Message(each.role, each.parts, each.attributes)
            for each in read_thread([item], {}, None) or ()
        ]
    model: dict[str, Json] = {"id": found["MODEL"]} if isinstance(found.get("MODEL"), str) else {}
    options = found.get("OPTIONS")
    if isinstance(options, Mapping) and options:
        model["options"] = legacy_options(options)
    if model:
        work.front["model"] = model
    _declare(work, found.get("INPUTS"))
    tools = found.get("TOOLS")
    work.tools += [
        function_tool(tool)
        for tool in (tools if isinstance(tools, list) else [])
        if isinstance(tool, Mapping)
    ]
    if work.tools:
        work.notes.append("The functions of the tools stay in the script; name it as a tool file.")
    return Imported(compose(work), "exported Python script", tuple(work.notes))


def _literals(text: str) -> dict[str, Json]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ImportFailure(f"The script cannot be read: {error}.") from error
    found: dict[str, Json] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and value is not None:
            try:
                found[target.id] = ast.literal_eval(value)
            except (ValueError, TypeError, SyntaxError, RecursionError):
                continue
    return found


def _declare(work: Composition, inputs: Json) -> None:
    given: JsonObject = inputs if isinstance(inputs, Mapping) else {}
    texts = "\n".join(
        part.text
        for item in work.messages
        if isinstance(item, Message)
        for part in item.parts
        if isinstance(part, TextPart)
    )
    names = (
        [each.name for each in find_variables(texts, work.format)[0]] if work.is_template else []
    )
    for name in dict.fromkeys((*given, *names)):
        if name in work.inputs:
            continue
        value = given.get(name)
        declared: dict[str, Json] = {"kind": kind_of_value(value)}
        if value is not None:
            declared["default"] = value
        work.inputs[name] = declared


def import_bundle(content: bytes) -> Imported:
    """The prompt of a bundle that the studio exported, with its input sets.

    Raises:
        ImportFailure: it is no such bundle.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > _MOST_BYTES:
                raise ImportFailure("The bundle is larger than 20 MB unpacked.")
            names = archive.namelist()
            prompts = [name for name in names if name.endswith(".prompty")]
            if "manifest.json" not in names or not prompts:
                raise ImportFailure("This zip is not a bundle: it holds no manifest and no prompt.")
            name = min(prompts, key=lambda each: each.count("/"))
            text = archive.read(name).decode("utf-8")
            beside = name.removesuffix(".prompty") + ".inputs.json"
            sets = parse_json(archive.read(beside).decode("utf-8")) if beside in names else {}
    except (zipfile.BadZipFile, UnicodeDecodeError, ValueError, OSError) as error:
        raise ImportFailure(f"The bundle cannot be read: {reason_of(error)}.") from error
    rest = [each for each in names if each not in (name, beside, "manifest.json")]
    notes = [f"These files of the bundle stay in it; unpack it for them: {', '.join(rest)}."]
    kept = {
        key: value
        for key, value in (sets.items() if isinstance(sets, Mapping) else ())
        if isinstance(value, Mapping)
    }
    return Imported(
        text, "bundle", tuple(notes) if rest else (), kept, title=PurePosixPath(name).stem
    )
