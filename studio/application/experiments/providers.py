"""The models of an experiment: connections by name, or promptfoo's `provider:model`."""

import json
import re
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from studio.application.connections.model import RequestedModel, choice_of
from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.words import tr
from studio.core.experiments.assertions.result import CellAnswer, MadeCall
from studio.core.experiments.file.nodes import FOREIGN_KEYS, foreign_words
from studio.core.experiments.values import ProviderEntry
from studio.core.imports.compose import OPTION_WORDS
from studio.core.models.base import Capabilities, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.capabilities import Price, facts_of
from studio.core.models.choice import ModelChoice, provider_connection
from studio.core.models.connections import (
    BUILT_IN,
    Api,
    Connection,
    Connections,
    origin,
    provider_at,
)
from studio.core.prompty.document import Message, ModelDeclaration, PromptDocument, TextPart
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, objects_of, parse_json
from studio.core.wire.draft import UNSUPPORTED_OPTION
from studio.core.wire.reply import Finished, Reply, ReplyDelta, TextDelta, ToolCall
from studio.core.wire.request import to_request

# The `config` of a provider or a prompt: options of the request; others are refused by name.

ENDPOINTS = ("apiBaseUrl", "apiHost", "baseURL", "baseUrl")
"""Keys for the address of a provider."""

_NO_OPTIONS = ("apiKey", "apiKeyEnvar", "apiKeyRequired", "omitDefaults", *ENDPOINTS, "cost")
_OFFERS = ("tools", "functions")
_MARK = "file://"
_DATA = (".json", ".yaml", ".yml")
_PROGRAMS = (".py", ".js", ".ts", ".mjs", ".cjs")
_ASKED = (Message("user", (TextPart("?"),)),)


def with_options(
    document: PromptDocument, config: JsonObject, folder: Folder, choice: ModelChoice | None
) -> PromptDocument:
    """Return the prompt with the options of a provider, which take precedence.

    Raises:
        ExperimentError: an option cannot be sent, or its file cannot be read.
    """
    if not config:
        return document
    mine: JsonDict = {}
    others: JsonDict = {}
    for name, value in config.items():
        if name in _NO_OPTIONS or value is None:
            continue
        if name in FOREIGN_KEYS["config"]:
            raise ExperimentError(foreign_words("config", name))
        read = _with_files(name, value, folder)
        if name in _OFFERS and not isinstance(read, list):
            message = tr("config.{name}: it must be a list of tools, each with its schema.")
            raise ExperimentError(message.format(name=name))
        if name in ("passthrough", "extra_body"):
            others |= object_of(read)
        elif name in OPTION_WORDS:
            mine[OPTION_WORDS[name]] = read
        else:
            others[name] = read
    _check_sent({**mine, "additionalProperties": others}, choice)
    held = document.model.options
    further = {**object_of(held.get("additionalProperties")), **others}
    options = {**held, **mine, **({"additionalProperties": further} if further else {})}
    return replace(document, model=replace(document.model, options=options))


def _with_files(name: str, value: Json, folder: Folder) -> Json:
    """Return a value with files replaced by their contents; a file in a list adds its items."""
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
            tr("config.{name}: templates are not rendered here; write the value itself.").format(
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
    """Refuse options that the form of the request does not include.

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


# Tools offered by a provider ----------------------------------------------------------------------


@dataclass(frozen=True)
class OfferedTools:
    """The tools in a provider's `config`: offered to the model, but never run."""

    schemas: Mapping[str, JsonObject]
    """Schemas of the arguments, by tool name."""

    key: Literal["tools", "functions"] = "tools"
    """Key under which they are offered; the answer to `functions` is a single call."""

    def answer(self, answer: CellAnswer, reply: Reply | None) -> CellAnswer:
        """Return the answer as in promptfoo: the calls as JSON, if the model made any."""
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
        from studio.core.tools.toolbox import check_arguments

        wrong = schema is None or check_arguments(schema, arguments)
        return MadeCall(call.name, dict(arguments), is_valid=not wrong)


def _function(call: ToolCall) -> JsonObject:
    return {"name": call.name, "arguments": call.arguments}


def offered_tools(document: PromptDocument) -> OfferedTools | None:
    """Return the tools that a prompt's options offer; None if there are none."""
    further = object_of(document.model.options.get("additionalProperties"))
    functions = objects_of(further.get("functions"))
    if functions:
        return OfferedTools(_schemas(functions), "functions")
    tools = objects_of(further.get("tools"))
    return OfferedTools(_schemas(tools)) if tools else None


def answers_json(document: PromptDocument, answer: CellAnswer) -> bool:
    """Return whether promptfoo treats the answer as JSON: tool calls, or a `json_schema` reply."""
    further = object_of(document.model.options.get("additionalProperties"))
    is_called = bool(answer.calls) and offered_tools(document) is not None
    return is_called or object_of(further.get("response_format")).get("type") == "json_schema"


def _schemas(tools: Sequence[JsonObject]) -> dict[str, JsonObject]:
    functions = [object_of(each.get("function")) or each for each in tools]
    return {
        str(each.get("name")): object_of(each.get("parameters", each.get("input_schema")))
        for each in functions
    }


ECHO = "echo"
"""promptfoo's provider that returns the prompt itself: no model, no cost."""

_WAY = re.compile(r"^(?:chat|responses|messages|embeddings?):")
_EMBEDDED = ("embedded", "local")
_ALIASES = {"azureopenai": "azure", "vertex": "gemini", "google": "gemini"}
_VARIABLE = re.compile(r"\{\{\s*env\.(\w+)[^{}]*\}\}")


def choice_for(
    entry: ProviderEntry, document: PromptDocument, connections: Connections, *, trusted: bool
) -> ModelChoice | None:
    """Return the connection for a variant; None for `echo`.

    Raises:
        ExperimentError: there is no such connection: an experiment never uses another model
            silently.
    """
    if entry.id == ECHO:
        return None
    declared = document.model
    asked = RequestedModel(declared, trusted, file=document.source.path)
    if not entry.id:
        return _sure(entry, asked, connections)
    named = connections.named(entry.id)
    if named is None and entry.id.lower() in _EMBEDDED:
        named = next(each for each in connections.connections if each.kind == "embedded")
    if named is not None:
        return choice_of(asked, connections, named.name)
    return _of_api(entry, _by_provider(entry, asked, connections))


def _of_api(entry: ProviderEntry, choice: ModelChoice) -> ModelChoice:
    """Return the choice with the API of `provider:api:model`."""
    api = next((each for each in get_args(Api) if f":{each}:" in entry.id), None)
    if api is None or provider_at(choice.connection) not in ("openai-chat", "openai-responses"):
        return choice
    return replace(choice, connection=replace(choice.connection, api=api))


def _by_provider(
    entry: ProviderEntry, asked: RequestedModel, connections: Connections
) -> ModelChoice:
    """Return the choice for `provider:model`."""
    declared = asked.declaration
    provider, colon, rest = entry.id.partition(":")
    model = _WAY.sub("", rest)
    connection = next(
        (
            each
            for each in connections.connections
            if provider.lower() in (each.name.lower(), each.name.lower().replace(" ", "-"))
        ),
        None,
    )
    if connection is not None and colon:
        return ModelChoice(
            replace(connection, model=model), replace(declared, id=model), "the experiment names it"
        )
    kind = _ALIASES.get(provider.lower(), provider.lower())
    wanted = ModelDeclaration(id=model or "", provider=kind, options=declared.options)
    # Names in the experiment itself are compared by name: no choice for the folder applies.
    asked = replace(asked, declaration=wanted, file=None)
    endpoint = _endpoint(entry.config)
    if endpoint and origin(endpoint) not in BUILT_IN:
        return _at_endpoint(entry, asked, endpoint, connections)
    if provider_connection(kind) is None:
        raise ExperimentError(
            tr(
                "There is no connection {name!r}; add one in the studio, or use an existing one."
            ).format(name=entry.id)
        )
    return _sure(entry, asked, connections)


def _endpoint(config: JsonObject) -> str:
    """Return the address in a provider's `config`, by promptfoo's keys; empty for none."""
    named = next((config[name] for name in ENDPOINTS if config.get(name)), "")
    address = _reference(str(named)).strip()
    return address if not address or "://" in address or "${" in address else f"https://{address}"


def _reference(text: str) -> str:
    """Return a text with promptfoo's `{{env.NAME}}` as a reference."""
    return _VARIABLE.sub(r"${env:\1}", text)


def _at_endpoint(
    entry: ProviderEntry, asked: RequestedModel, endpoint: str, connections: Connections
) -> ModelChoice:
    """Return the choice for an address in the file: the user's connection, if there is one.

    Never another server, since a request to a local server must not leave the machine.
    """
    place, wanted = origin(endpoint), asked.declaration
    for each in connections.connections:
        if place and origin(each.base_url) == place:
            return ModelChoice(each, replace(wanted, id=wanted.id or each.model), "its address")
    variable = entry.config.get("apiKeyEnvar")
    key = f"${{env:{variable}}}" if variable else _reference(str(entry.config.get("apiKey", "")))
    block: JsonDict = {"kind": "key", "endpoint": endpoint}
    if key.startswith("${env:"):
        block["apiKey"] = key
    described = replace(asked, declaration=replace(wanted, connection=block))
    return _sure(entry, described, connections)


def _sure(entry: ProviderEntry, asked: RequestedModel, connections: Connections) -> ModelChoice:
    """Return the choice, if it is exactly the requested model."""
    choice = choice_of(asked, connections)
    why = choice.refusal or choice.warning
    if why:
        how = tr("Add the connection, or name another under `providers`.")
        if asked.file is not None:
            how = tr("Add the connection, name one under `providers`, or use one for the folder.")
        why = f"{why} {how}"
    elif choice.untrusted:
        how = tr("it is not allowed. Add a connection with this address.")
        why = tr("Nothing is sent to {address}: {how}").format(address=choice.untrusted, how=how)
    if why:
        name = f"{entry.id}: " if entry.id else ""
        raise ExperimentError(f"{name}{why}", asked.file if choice.refusal else None)
    return choice


def without_retries(choice: ModelChoice) -> ModelChoice:
    """Return the choice without retries, for a caller that retries by its limiter."""
    return replace(choice, connection=replace(choice.connection, retries=0))


def price_of(choice: ModelChoice | None) -> Price | None:
    """Return the price of a model's tokens; None if it is unknown."""
    if choice is None:
        return None
    connection, model = choice.connection, choice.declaration.id
    return facts_of(model, corrections=connection.capabilities, connection=connection).price


def unpriced(choices: Iterable[ModelChoice | None]) -> ModelChoice | None:
    """Return the first remote model without a known price; None if there is none."""
    return next(
        (
            each
            for each in choices
            if each is not None and each.connection.is_remote and price_of(each) is None
        ),
        None,
    )


def endpoint_of(connection: Connection) -> str:
    """Return the address of the requests, without a key or a password."""
    from studio.core.models.remote.model import shown_address

    place = shown_address(connection) if connection.is_remote else connection.kind
    return f"{connection.kind} {connection.api} {place}"


class EchoModel:
    """A model that returns its input, like promptfoo's `echo`."""

    label = "echo"
    capabilities = Capabilities()

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the body that a chat-completions server would get."""
        return request_body(request, model_id="echo", capabilities=self.capabilities)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the text of a single message, or several messages as JSON."""
        yield TextDelta(echoed(request))
        yield Finished("stop")

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""


def echoed(request: ModelRequest) -> str:
    """Return the answer of `echo`."""
    import json

    texts = [
        "".join(part.text for part in message.parts if isinstance(part, TextPart))
        for message in request.messages
    ]
    if len(texts) == 1:
        return texts[0]
    made = [
        {"role": message.role, "content": text}
        for message, text in zip(request.messages, texts, strict=True)
    ]
    return json.dumps(made, ensure_ascii=False)
