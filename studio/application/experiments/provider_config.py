"""The `config` of a provider or a prompt: options of the request, or a refusal by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.words import tr
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.experiments.file.foreign import FOREIGN_KEYS, foreign_words
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import provider_at
from studio.core.prompty.document import ModelDeclaration, PromptDocument
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS, SAME_OPTIONS
from studio.core.prompty.messages import Message, TextPart
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject, object_of, objects_of
from studio.core.tools.arguments import check_arguments
from studio.core.wire.draft import UNSUPPORTED_OPTION
from studio.core.wire.reply import Reply, ToolCall
from studio.core.wire.request import to_request

ENDPOINTS = ("apiBaseUrl", "apiHost", "baseURL", "baseUrl")
"""Words for the address of a provider."""

_NO_OPTIONS = ("apiKey", "apiKeyEnvar", "apiKeyRequired", "omitDefaults", *ENDPOINTS, "cost")
_OPTION_WORDS = {**LEGACY_OPTIONS, **{name: name for name in SAME_OPTIONS}}
_MARK = "file://"
_DATA = (".json", ".yaml", ".yml")
_PROGRAMS = (".py", ".js", ".ts", ".mjs", ".cjs")
_ASKED = (Message("user", (TextPart("?"),)),)


def with_options(
    document: PromptDocument, config: JsonObject, folder: Folder, choice: ModelChoice | None
) -> PromptDocument:
    """The prompt with the options of a provider, which count over its own.

    Raises:
        ExperimentError: an option cannot be sent, or its file cannot be read.
    """
    if not config:
        return document
    mine: dict[str, Json] = {}
    others: dict[str, Json] = {}
    for name, value in config.items():
        if name in _NO_OPTIONS or value is None:
            continue
        if name in FOREIGN_KEYS["config"]:
            raise ExperimentError(foreign_words("config", name))
        read = _with_files(name, value, folder)
        if name in ("passthrough", "extra_body"):
            others |= object_of(read)
        elif name in _OPTION_WORDS:
            mine[_OPTION_WORDS[name]] = read
        else:
            others[name] = read
    _check_sent({**mine, "additionalProperties": others}, choice)
    held = document.model.options
    further = {**object_of(held.get("additionalProperties")), **others}
    options = {**held, **mine, **({"additionalProperties": further} if further else {})}
    return replace(document, model=replace(document.model, options=options))


def _with_files(name: str, value: Json, folder: Folder) -> Json:
    """A value with what its files hold; the items of a file in a list are items of that list."""
    if isinstance(value, Mapping):
        return {key: _with_files(name, each, folder) for key, each in value.items()}
    if isinstance(value, list):
        made: list[Json] = []
        for each in value:
            read = _with_files(name, each, folder)
            made += read if isinstance(read, list) and isinstance(each, str) else [read]
        return made
    if not isinstance(value, str):
        return value
    if value.startswith(_MARK):
        return _with_files(name, _content_of(name, value.removeprefix(_MARK), folder), folder)
    if "{{" in value or "{%" in value:
        raise ExperimentError(
            tr("config.{name}: templates are not filled in here; write the value itself.").format(
                name=name
            )
        )
    return value


def _content_of(name: str, path: str, folder: Folder) -> Json:
    if path.partition(":")[0].endswith(_PROGRAMS):
        raise ExperimentError(
            tr("config.{name}: {path} is a program, which is not run here; save its JSON.").format(
                name=name, path=path
            )
        )
    text = folder.read(path)
    if not path.lower().endswith(_DATA):
        return text
    found = read_yaml(text)
    if found.broken:
        raise ExperimentError(f"{path}: {found.problems[0].message}")
    return found.value


def _check_sent(options: JsonObject, choice: ModelChoice | None) -> None:
    """Refuse options that the form of the request leaves out.

    Raises:
        ExperimentError: each line names one.
    """
    if choice is None or not choice.connection.is_remote:
        return
    request = to_request(
        _ASKED,
        (),
        ModelDeclaration(id="?", options=options),
        provider=provider_at(choice.connection),
    )
    wrong = [each.message for each in request.problems if each.code == UNSUPPORTED_OPTION]
    if wrong:
        raise ExperimentError(
            "\n".join(tr("config: {why} Remove it here.").format(why=each) for each in wrong)
        )


# Tools that a provider offers ---------------------------------------------------------------------


@dataclass(frozen=True)
class OfferedTools:
    """Tools in the `config` of a provider: the model may call them, and nobody runs them."""

    schemas: Mapping[str, JsonObject]
    """Schemas of their arguments, by name."""

    key: Literal["tools", "functions"] = "tools"
    """How they are offered; the answer to `functions` is one call."""

    def answer(self, answer: CellAnswer, reply: Reply | None) -> CellAnswer:
        """The answer as promptfoo has it: the calls as JSON, where the model made some."""
        calls = reply.tool_calls if reply is not None else ()
        if not calls:
            return answer
        made: Json = _function(calls[0])
        if self.key == "tools":
            made = [{"id": c.id, "type": "function", "function": _function(c)} for c in calls]
            if answer.text:
                made = {"role": "assistant", "content": answer.text, "tool_calls": made}
        return replace(
            answer,
            text=json.dumps(made, ensure_ascii=False),
            calls=tuple(self._checked(each) for each in calls),
            errors=0,
        )

    def _checked(self, call: ToolCall) -> MadeCall:
        schema = self.schemas.get(call.name)
        try:
            arguments = object_of(parse_json(call.arguments or "{}"))
        except ValueError:
            return MadeCall(call.name, {}, is_valid=False)
        wrong = schema is None or check_arguments(schema, arguments)
        return MadeCall(call.name, dict(arguments), is_valid=not wrong)


def _function(call: ToolCall) -> JsonObject:
    return {"name": call.name, "arguments": call.arguments}


def offered_tools(document: PromptDocument) -> OfferedTools | None:
    """The tools that a prompt's options offer; None where they offer none."""
    further = object_of(document.model.options.get("additionalProperties"))
    functions = objects_of(further.get("functions"))
    if functions:
        return OfferedTools(_schemas(functions), "functions")
    tools = objects_of(further.get("tools"))
    return OfferedTools(_schemas(tools)) if tools else None


def _schemas(tools: Sequence[JsonObject]) -> dict[str, JsonObject]:
    functions = [object_of(each.get("function")) or each for each in tools]
    return {
        str(each.get("name")): object_of(each.get("parameters", each.get("input_schema")))
        for each in functions
    }
