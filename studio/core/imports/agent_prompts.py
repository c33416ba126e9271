"""Prompt files of coding agents and of GitHub Models, as prompts that any model can be asked with.

The body of an agent is the system message, and the request comes from the user; the body of a
command is the user's message. Sources of the arguments: code.claude.com (skills, "Available string
substitutions"), code.visualstudio.com (prompt files, variables), opencode.ai (commands),
geminicli.com (custom commands), docs.github.com (storing prompts in GitHub repositories).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from studio.core.imports.compose import (
    Composition,
    compose,
    declare_string,
    literal,
    placeholder,
    read_items,
    set_model,
)
from studio.core.imports.imported import Imported, ImportFailure, failure_at, with_unread_keys
from studio.core.imports.request_json import read_outputs
from studio.core.prompty.agent_files.read import KINDS, AgentFileKind, read_parts
from studio.core.prompty.document import Message, Role, TextPart
from studio.core.text.naming import free_name
from studio.core.text.source import Severity, SourceText
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    list_of,
    object_of,
    objects_of,
    parse_json,
)

_REQUEST = "request"
"""Name of the input for the user's request to an agent."""

_TYPED: JsonObject = {"description": "What the user types."}
"""Declaration of all arguments of a command, beside their kind."""

# Arguments in the body of a command.


@dataclass(frozen=True, slots=True)
class ArgumentSyntax:
    """Notation of a program for the placeholders that it fills."""

    pattern: re.Pattern[str]
    """Matches one mark. Its groups name the inserted value: `all` arguments, a `place` from `first`
    on, a `name`, the output of a `shell` command, a `file`; `plain` letters stay."""

    first: int = 0
    """Number of the first argument."""

    unused: str = ""
    """Template that follows the body if no mark in it takes arguments."""


_SHELL = r"!`(?P<shell>[^`\n]+)`"
_FILE = r"(?<![\w`@])@(?P<file>\.{0,2}/?[\w-][\w./-]*\.\w+)"
_ALL = r"\$ARGUMENTS\b(?!\[)"

SYNTAXES: Mapping[str, ArgumentSyntax] = {
    "claude": ArgumentSyntax(
        re.compile(
            rf"\\(?P<plain>\$)|(?P<all>{_ALL})|\$(?:ARGUMENTS\[(?P<place>\d+)\]|(?P<short>\d+))"
            rf"|\$\{{(?P<name>CLAUDE_\w+)\}}|\$(?P<own>[a-z_]\w*)\b|{_SHELL}|{_FILE}"
        ),
        unused="{% if arguments %}\n\nARGUMENTS: {{ arguments }}{% endif %}",
    ),
    "opencode": ArgumentSyntax(
        re.compile(rf"(?P<all>{_ALL})|\$(?P<place>[1-9]\d*)|{_SHELL}|{_FILE}"),
        first=1,
        unused="{% if arguments %}\n\n{{ arguments }}{% endif %}",
    ),
    "vscode": ArgumentSyntax(
        re.compile(r"\$\{(?:input:)?(?P<name>[A-Za-z_]\w*)(?::(?P<hint>[^}\n]*))?\}")
    ),
    "gemini": ArgumentSyntax(
        re.compile(
            r"(?P<all>\{\{args\}\})|!\{(?P<shell>(?:[^{}]|\{[^{}]*\})*)\}|@\{(?P<file>[^{}\n]+)\}"
        ),
        unused="{% if arguments %}\n\n/{command} {{ arguments }}{% endif %}",
    ),
    "github": ArgumentSyntax(re.compile(r"\{\{(?P<name>\w+)\}\}")),
    "": ArgumentSyntax(re.compile(r"(?!)")),
}
"""By the word in `agent_files.kinds`."""


def _filled(
    body: str, syntax: ArgumentSyntax, work: Composition, named: Sequence[str] = (), *at_hand: Path
) -> str:
    """Return a body as a template, with an input declared for each mark in it.

    Args:
        body: the text.
        syntax: how its program writes marks.
        work: gets the inputs.
        named: names of the arguments in their order, if the file gives them.
        at_hand: folders to search for files; other names stay text (`@pytest.mark`).
    """
    made, at, takes = [], 0, False
    for mark in syntax.pattern.finditer(body):
        found = {key: text for key, text in mark.groupdict().items() if text is not None}
        is_text = "own" in found and found["own"] not in named
        if is_text or ("file" in found and not _is_there(found["file"], at_hand)):
            continue
        made.append(literal(body[at : mark.start()], "jinja2"))
        at = mark.end()
        if "plain" in found:
            made.append(found["plain"])
            continue
        takes = takes or not found.keys() & {"shell", "file"}
        name, declared = _input_of(found, syntax, work, named)
        work.inputs.setdefault(name, declared)
        made.append(placeholder(name, "jinja2"))
    made.append(literal(body[at:], "jinja2"))
    if syntax.unused and not takes:
        work.inputs["arguments"] = {**declare_string(""), **_TYPED}
        made.append(syntax.unused)
    return "".join(made)


def _is_there(name: str, folders: Sequence[Path]) -> bool:
    """Return whether a name is that of a file in one of the folders."""
    with suppress(OSError, ValueError):
        return any((folder / name).is_file() for folder in folders)
    return False


def _input_of(
    found: Mapping[str, str], syntax: ArgumentSyntax, work: Composition, named: Sequence[str]
) -> tuple[str, JsonObject]:
    """Return the name and the declaration of the input that a mark stands for."""
    if "all" in found:
        return "arguments", {**declare_string(), **_TYPED}
    number = found.get("place") or found.get("short")
    if number is not None:
        place = int(number) - syntax.first
        name = named[place] if 0 <= place < len(named) else f"argument_{number}"
        return name, {**declare_string(), "description": f"Argument {place + 1} of the command."}
    for kind, words in (("shell", "Output of the command {}"), ("file", "Content of the file {}")):
        if kind in found:
            text = words.format(found[kind].strip())
            same = (name for name, each in work.inputs.items() if each.get("description") == text)
            name = next(same, "")
            if not name:
                name = free_name(kind, work.inputs.__contains__, "_{}")
                work.notes.append(f"{name}: give the value; nothing here makes it. {text}")
            return name, {**declare_string(), "description": text}
    hint = {"description": found["hint"]} if found.get("hint") else {}
    return (found.get("name") or found["own"]), {**declare_string(), **hint}


# The file.


def import_agent_file(
    text: str, path: Path, kind: AgentFileKind, read_beside: Callable[[str], str]
) -> Imported:
    """Convert an agent file to a prompt; parts that a prompt cannot express are in the notes.

    Args:
        text: the file's text.
        path: the file, which gives the name if no key does.
        kind: its kind.
        read_beside: reads a file beside it.

    Raises:
        ImportFailure: its keys cannot be read, or it has no body.
    """
    parts = read_parts(text, kind)
    broken = next((p for p in parts.problems if p.severity is Severity.ERROR), None)
    if broken is not None:
        raise failure_at(SourceText(text, path), broken)
    notes = tuple(problem.message for problem in parts.problems)

    def make(data: Json) -> Imported:
        record = object_of(data)
        work = Composition(is_template=True, notes=list(notes))
        name = record.get("name") or _name_of(path)
        work.front |= {"name": name}
        if isinstance(described := record.get("description"), str) and described:
            work.front["description"] = described
        if kind == "github-models":
            return _github(record, work, str(name))
        body = text[parts.body.start : parts.body.end].strip("\r\n")
        if kind == "gemini-command":
            body = str(record.get("prompt", ""))
        if isinstance(file := record.get("prompt"), str) and kind == "opencode-agent":
            body = _prompt_of(file, read_beside)
        if not body.strip():
            raise ImportFailure(f"This {KINDS[kind].title} has no text that a model gets.")
        row = KINDS[kind]
        syntax = SYNTAXES[row.arguments]
        role: Role = "user" if row.speaks == "user" else "system"
        unused = syntax.unused.replace("{command}", _name_of(path))
        syntax = replace(syntax, unused=unused if role == "user" else "")
        named = _words(record.get("arguments"))
        template = _filled(body.replace("\r\n", "\n"), syntax, work, named, *path.parents)
        work.messages.append(Message(role, (TextPart(template),)))
        if role == "system":
            work.inputs[_REQUEST] = {**declare_string(), "description": "What the user asks."}
            work.messages.append(Message("user", (TextPart(placeholder(_REQUEST, "jinja2")),)))
        _model(record, kind, work)
        for key in ("tools", "allowed-tools"):
            if names := _words(record.get(key)):
                work.notes.append(
                    f"{key}: nothing answers {', '.join(names)} here; declare the tools that the "
                    "prompt needs, with answers of your own or recorded ones."
                )
        return Imported(compose(work), row.title, tuple(work.notes), title=str(name))

    return with_unread_keys(parts.data, make)


def _name_of(path: Path) -> str:
    """Return the name of a file without its endings; a skill has that of its folder."""
    return path.parent.name if path.stem.lower() == "skill" else path.name.split(".")[0]


def _words(value: Json) -> list[str]:
    """Return the names in a list, in the keys of an object, or in a text with commas or blanks."""
    if isinstance(value, Mapping):
        return [str(key) for key, is_on in value.items() if is_on]
    if isinstance(value, list):
        return [str(each) for each in value]
    return re.findall(r"[^\s,()]+(?:\([^)]*\))?", value) if isinstance(value, str) else []


def _prompt_of(text: str, read_beside: Callable[[str], str]) -> str:
    """Return a prompt that OpenCode reads from another file, `{file:./prompt.txt}`."""
    found = re.fullmatch(r"\s*\{file:(?P<name>[^}]+)\}\s*", text)
    return read_beside(found["name"].strip().removeprefix("./")) if found else text


def _model(data: JsonObject, kind: AgentFileKind, work: Composition) -> None:
    """Set the model and its options; an alias or a display name is no model that can be asked."""
    wanted = data.get("model")
    name = str(wanted[0] if isinstance(wanted, list) and wanted else wanted or "")
    provider, slash, inner = name.partition("/")
    model: Json = None
    if kind.startswith("opencode") and slash:
        model, _, variant = inner.partition("#")
        if variant:
            work.notes.append(f"model: the variant {variant!r} is not possible in a prompt file.")
    elif re.fullmatch(r"claude-[\w.-]+", name):
        model, provider = name, "anthropic"
    elif name:
        work.notes.append(
            f"model: only its own program knows {name!r}; choose the model that answers here."
        )
    options = {key: data.get(key) for key in ("temperature", "top_p") if key in data}
    set_model(work, model, options)
    if model and provider in ("openai", "anthropic"):
        work.front["model"] = {**object_of(work.front["model"]), "provider": provider}


# GitHub Models. Its program replaces `{{name}}` alone, and compares without regard to case, but for
# `equals` (github/gh-models, pkg/prompt and cmd/eval).


def is_github_models(data: Json) -> bool:
    """Return whether YAML is a prompt of GitHub Models, by keys that no request has."""
    keys = {"modelParameters", "testData", "evaluators", "responseFormat", "jsonSchema"}
    return (
        isinstance(data, Mapping)
        and bool(keys & data.keys())
        and isinstance(data.get("messages"), list)
        and all(isinstance(row, Mapping) for row in list_of(data.get("testData")))
    )


def _github(data: JsonObject, work: Composition, name: str) -> Imported:
    """Return a prompt of GitHub Models with its test data as an experiment.

    Raises:
        ImportFailure: it has no messages.
    """
    for item in objects_of(data.get("messages")):
        content = str(item.get("content", ""))
        if content != content.rstrip("\n"):
            work.notes.append("Line ends at the end of a message are not preserved.")
        text = _filled(content, SYNTAXES["github"], work)
        work.messages += read_items(
            [{"role": str(item.get("role", "user")).lower(), "content": text}]
        )
    if not work.messages:
        raise ImportFailure("This GitHub Models prompt has no messages.")
    set_model(work, data.get("model"), object_of(data.get("modelParameters")))
    schema = data.get("jsonSchema")
    if data.get("responseFormat") in ("json_schema", "json_object"):
        inner = parse_json(schema) if isinstance(schema, str) else schema
        read_outputs({"type": data["responseFormat"], "json_schema": inner}, work)
    checks = [*_checks(data)]
    tests: list[Json] = []
    for row in objects_of(data.get("testData")):
        values: JsonDict = {key: text for key, text in row.items() if key != "expected"}
        expected = {"metadata": {"expected": row["expected"]}} if "expected" in row else {}
        tests.append({"vars": values, **expected, **({"assert": checks} if checks else {})})
    experiment: JsonObject = {"tests": tests} if tests else {}
    title = KINDS["github-models"].title
    return Imported(
        compose(work), title, tuple(dict.fromkeys(work.notes)), experiment=experiment, title=name
    )


_STRING_CHECKS = {
    "equals": "{}",
    "contains": "(?i){}",
    "startsWith": "(?i)^{}",
    "endsWith": "(?i){}$",
}


def _checks(data: JsonObject) -> Iterator[Json]:
    """Yield the assertions of the evaluators that compare texts."""
    for each in objects_of(data.get("evaluators")):
        name = str(each.get("name", ""))
        compared = object_of(each.get("string"))
        for word, pattern in _STRING_CHECKS.items():
            wanted = compared.get(word)
            if not isinstance(wanted, str) or not wanted:
                continue
            check: JsonDict = {"type": "equals", "value": wanted, "metric": name}
            if word != "equals":
                check |= {"type": "regex", "value": pattern.format(re.escape(wanted))}
            yield check
            break  # its program takes the first one
