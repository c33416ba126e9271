"""Import a curl command, a script that the studio exported, and its bundle."""

import ast
import io
import re
import shlex
import zipfile
from collections.abc import Mapping
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from studio.core.imports.compose import (
    Composition,
    compose,
    declare_variables,
    literal_message,
    read_items,
)
from studio.core.imports.imported import Imported, ImportFailure, with_unread_keys
from studio.core.imports.langchain import PLACEHOLDER, read_rows, settle_literals, template_format
from studio.core.imports.request_json import import_request
from studio.core.prompty.edit.edits import set_value, write_scalar
from studio.core.prompty.front.declarations import function_tool
from studio.core.prompty.front.front_matter import legacy_options
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import find_references
from studio.core.text.source import apply_edits
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    object_of,
    objects_of,
    parse_json,
    reason_of,
)

_HERE = re.compile(r"<<-?\s*'?(\w+)'?[^\n]*\n(.*?)\n[ \t]*\1\s*$", re.DOTALL | re.MULTILINE)
_DATA = ("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--json")
_OWN_HOSTS = ("api.openai.com", "api.anthropic.com")
_PATHS = re.compile(r"/(?:chat/completions|completions|responses|messages|embeddings)/?$")
_MESSAGES = re.compile(r"(?m)^MESSAGES\b.* = ")
_MOST_BYTES = 20_000_000


def is_curl(text: str) -> bool:
    """Return whether a text is a curl command."""
    return re.search(r"(?m)^[ \t$]*curl\s", text) is not None


def import_curl(text: str) -> Imported:
    """Return the request that a curl command sends.

    Raises:
        ImportFailure: it sends no JSON request.
    """
    if not is_curl(text):
        raise ImportFailure("It contains no curl command; a script of commands is not a prompt.")
    here = _HERE.search(text)
    command = text[text.index("curl") :]
    words = _words(command[: command.index("<<")] if here and "<<" in command else command)
    body = here[2] if here is not None else _option(words, _DATA)
    try:
        data = parse_json(body)
    except ValueError as error:
        raise ImportFailure(f"The body of the command is not JSON: {reason_of(error)}.") from error
    made = with_unread_keys(data, import_request)
    address = next((word for word in words if "://" in word), "")
    try:
        host = urlsplit(address).hostname
    except ValueError as error:
        raise ImportFailure(f"The address {address!r} cannot be read: {error}.") from error
    if not address or host in _OWN_HOSTS:
        return made
    base = _PATHS.sub("", address.partition("?")[0])
    base = base.replace("${", "%24{") if any(find_references(base)) else base
    text, endpoint = made.text, write_scalar(base)
    for key, value in (("kind", "key"), ("endpoint", endpoint)):
        text = apply_edits(text, set_value(parse(text), ("model", "connection", key), value))
    return Imported(text, f"curl command: {made.form}", made.notes)


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
    """Return whether a text is a Python script that the studio exported."""
    return (
        "made by prompt studio" in text[:2000].lower()
        and re.search(r"(?m)^MESSAGES = ", text) is not None
    )


def import_script(text: str) -> Imported:
    """Return the prompt of an exported script from its literals, without running it.

    Raises:
        ImportFailure: it is not Python, or contains no messages.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ImportFailure(f"The script cannot be read: {error}.") from error
    work = Composition(is_template=True)
    found = _literals(tree, work.references)
    is_langchain = re.search(r"(?m)^from langchain_core", text) is not None
    inputs = _langchain_messages(text, tree, work) if is_langchain else found.get("INPUTS")
    if not is_langchain:
        _script_messages(text, found.get("MESSAGES"), work)
    if not work.messages:
        raise ImportFailure("The script has no messages in its list MESSAGES.")
    model = _model(found)
    if model:
        work.front["model"] = model
    declare_variables(work, object_of(inputs), "default")
    work.tools += [function_tool(tool) for tool in objects_of(found.get("TOOLS"))]
    if work.tools and not is_langchain:
        work.notes.append("The functions of the tools stay in the script; name it as a tool file.")
    return Imported(compose(work), "exported Python script", tuple(work.notes))


def _model(found: JsonObject) -> JsonDict:
    """Return the model settings of a script: id, address, key and options."""
    options = dict(object_of(found.get("OPTIONS")))
    for key in ("extra_body", "model_kwargs"):
        options |= object_of(options.pop(key, None))
    ids = (options.pop("model", None), found.get("MODEL"))
    name = next((each for each in ids if isinstance(each, str) and each), "")
    connection = {
        ours: options.pop(theirs)
        for theirs, ours in (("base_url", "endpoint"), ("api_key", "apiKey"))
        if theirs in options
    }
    model: JsonDict = {"id": name} if name else {}
    if options.pop("use_responses_api", False):
        model["apiType"] = "responses"
    if connection:
        model["connection"] = {"kind": "key", **connection}
    if options:
        model["options"] = legacy_options(options)
    return model


def _script_messages(text: str, messages: Json, work: Composition) -> None:
    """Add the messages of a script that renders them itself."""
    work.format = "mustache" if re.search(r"(?m)^import chevron", text) else "jinja2"
    if re.search(r"(?m)^(?:import|from) jinja2", text) is None and work.format == "jinja2":
        work.is_template = re.search(r"(?m)^FIELD = ", text) is not None
        work.format = "fstring" if work.is_template else "jinja2"
    for item in objects_of(messages):
        if isinstance(item.get("thread"), str):
            work.add_thread(str(item["thread"]))
        else:
            work.messages += read_items([item])


def _langchain_messages(text: str, tree: ast.Module, work: Composition) -> JsonObject:
    """Add the messages of a LangChain script; return the values of its `partial`."""
    partial: JsonDict = {}
    for node in ast.walk(tree):
        for keyword in node.keywords if isinstance(node, ast.Call) else ():
            if keyword.arg == "template_format" and isinstance(keyword.value, ast.Constant):
                work.format = template_format(str(keyword.value.value))
            elif keyword.arg is None and isinstance(keyword.value, ast.Dict):
                partial |= _literal_pairs(keyword.value, work)
    try:
        rows = list(read_rows(text))
    except (ValueError, TypeError, LookupError, SyntaxError, RecursionError) as error:
        raise ImportFailure(f"MESSAGES: a message cannot be read: {reason_of(error)}.") from error
    for role, content, further in rows:
        if role == PLACEHOLDER:
            work.add_thread(str(content))
            continue
        # A message object is a row with keys, which LangChain does not render.
        kept = {key: value for key, value in further.items() if key != "static"}
        item = {"role": role, "content": content, **kept}
        work.messages += [literal_message(item)] if further else read_items([item])
    settle_literals(work)
    return partial


def _literal_pairs(node: ast.Dict, work: Composition) -> JsonDict:
    """Return the literal values of a dictionary; report values made by code."""
    found: JsonDict = {}
    for key, value in zip(node.keys, node.values, strict=True):
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, TypeError, SyntaxError, RecursionError):
            work.notes.append(f"{name}: its value is computed by code, and is left out.")
    return found


def _literals(tree: ast.Module, references: set[str]) -> JsonDict:
    found: JsonDict = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(target, ast.Name) and value is not None:
            try:
                found[target.id] = _value(value, references)
            except (ValueError, TypeError, SyntaxError, RecursionError):
                continue
    return found


def _value(node: ast.expr, references: set[str]) -> Json:
    """Return a literal; lookups of environment variables are added to the references.

    Raises:
        ValueError: it is made by other code.
    """
    match node:
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [ast.literal_eval(key) for key in keys if key is not None]
            return {
                str(key): _value(value, references)
                for key, value in zip(names, values, strict=True)
            }
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return str(_value(left, references)) + str(_value(right, references))
        case ast.Call(func=ast.Attribute(value=inner, attr="rstrip")):
            return _value(inner, references)
        case ast.Call(
            func=ast.Attribute(value=ast.Attribute(attr="environ"), attr="get"),
            args=[ast.Constant(value=str() as name), ast.Constant(value=str() as default)],
        ):
            written = f"${{env:{name}:{default}}}" if default else f"${{env:{name}}}"
            references.add(written)
            return written
    value: Json = ast.literal_eval(node)
    return value


def import_bundle(content: bytes) -> Imported:
    """Return the prompt of an exported bundle with its input sets.

    Raises:
        ImportFailure: the file is no such bundle.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > _MOST_BYTES:
                raise ImportFailure("The bundle is larger than 20 MB unpacked.")
            names = archive.namelist()
            prompts = [name for name in names if name.endswith(".prompty")]
            if "manifest.json" not in names or not prompts:
                raise ImportFailure(
                    "This zip is not a bundle: it contains no manifest and no prompt."
                )
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
