"""Export the request that a prompt sends: as body, curl command or line of a dataset."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.export import request_script
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result
from studio.core.export.unresolved import unlisted_tools, unresolved_references
from studio.core.models.choice import provider_connection
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.models.secrets import environment_name
from studio.core.prompty.convert.compare import comparable
from studio.core.prompty.document import Message
from studio.core.prompty.loop_format import sent_options
from studio.core.prompty.meaning import first_difference
from studio.core.prompty.reference_values import find_references, whole_reference
from studio.core.prompty.runtimes.prompty2 import CannotRender, RuntimeRefusal
from studio.core.prompty.threads import read_thread
from studio.core.text.amounts import shortened
from studio.core.text.source import Problem, Severity
from studio.core.text.values import Json, JsonObject, list_of, object_of
from studio.core.wire.request import Provider, WireRequest, to_request

LABELS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}


def request_body(provider: Provider, source: ExportSource) -> ExportResult:
    """Return the exact body of a request as JSON, with media from the prompt's folder."""
    request = request_of(source, provider)

    def write(each: ExportSource) -> str:
        return request_script.json_text(request_of(each, provider).body)

    return result(
        request_script.json_text(request.body),
        (*source.problems, *request.problems),
        request_losses(source, request),
        body_rounds(source, provider, write),
    )


def messages_jsonl(source: ExportSource) -> ExportResult:
    """Return one line in chat completions' form for each input set."""
    chosen = source.set_rounds or source.rounds
    problems: list[Problem] = [*source.document.problems]
    lines: list[str] = []
    for each in chosen.values():
        problems += each.prepared.problems
        request = request_of(each, "openai-chat")
        problems += request.problems
        lines.append(_line(request.body))
    round_trips = body_rounds(
        source, "openai-chat", lambda each: _line(request_of(each, "openai-chat").body)
    )
    losses = (*lost(problems), *unlisted_tools(source), *unresolved_references(source))
    used = round_trips if not source.sets else round_trips[1:]
    return result("\n".join(lines) + "\n", problems, losses, used)


def _line(body: JsonObject) -> str:
    kept = {key: body[key] for key in ("messages", "tools") if key in body}
    return request_script.sendable(json.dumps(kept, ensure_ascii=False))


# A shell command that sends the request to the prompt's server.

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_IN_QUOTES = re.compile(r"[$`\"\\]")


@dataclass(frozen=True, slots=True)
class CurlCommand:
    """A shell command that sends the request; the key comes from the environment."""

    provider: Provider

    def make(self, source: ExportSource) -> ExportResult:
        """Write the command; its body is a here-document, so nothing in it needs quoting."""
        request = request_of(source, self.provider)
        round_trips = body_rounds(
            source,
            self.provider,
            lambda each: self._script(source, request_of(each, self.provider).body),
        )
        return result(
            self._script(source, request.body),
            (*source.problems, *request.problems),
            (*self._losses(source), *request_losses(source, request)),
            round_trips,
        )

    def _losses(self, source: ExportSource) -> Iterator[str]:
        connection = source.document.model.connection
        if connection.get("endpoint") and not self._speaks_to_the_document(source):
            yield (
                f"The prompt names {connection['endpoint']}, which does not support "
                f"{LABELS[self.provider]}: the command uses "
                f"{request_script.endpoint_of(self.provider).address}."
            )

    def _speaks_to_the_document(self, source: ExportSource) -> bool:
        """Return whether the prompt's server supports this provider's form."""
        is_anthropic = source.document.model.provider == "anthropic"
        return is_anthropic == (self.provider == "anthropic")

    def _script(self, source: ExportSource, body: JsonObject) -> str:
        endpoint, given = self._endpoint(source)
        reference = whole_reference(given)
        if reference is None or reference.protocol != "env":
            return "#!/bin/sh\n" + request_script.curl_command(body, endpoint, given)
        default = _IN_QUOTES.sub(r"\\\g<0>", reference.default or "")
        rest = f":-{default}" if default else f":?set {reference.argument}"
        first = f'endpoint="${{{reference.argument}{rest}}}"\n'
        address = f'"${{endpoint%/}}{endpoint.path}"'
        return "#!/bin/sh\n" + first + request_script.curl_command(body, endpoint, in_shell=address)

    def _endpoint(self, source: ExportSource) -> tuple[request_script.ApiEndpoint, str]:
        """Return the address and key of the request, and the address as written in the prompt."""
        usual = request_script.endpoint_of(self.provider, source.document.model.api_type)
        connection = named_connection(source, self.provider)
        given = connection.base_url
        key = key_variable(connection)
        if not _VARIABLE.fullmatch(key):
            key = "ANTHROPIC_API_KEY" if self.provider == "anthropic" else "OPENAI_API_KEY"
        # The path between the prompt's address and the path of the API.
        path = address_of(connection).rstrip("/").removeprefix(given.rstrip("/")) + usual.path
        headers = [f"Authorization: Bearer ${key}"]
        if self.provider == "anthropic":
            headers = [f"x-api-key: ${key}", "anthropic-version: 2023-06-01"]
        elif connection.kind == "azure":
            headers = [f"api-key: ${key}"]
        path = path if given else usual.path
        return replace(usual, path=path, headers=tuple(headers)), given


@dataclass(frozen=True, slots=True)
class SentRequest:
    """One HTTP request: the studio's for a prompt, or another program's for an export."""

    address: str
    """Full URL, including the path."""

    body: JsonObject
    """JSON body."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Headers by lower-case name."""

    method: str = "POST"
    """HTTP method."""


def named_connection(source: ExportSource, provider: Provider | None = None) -> Connection:
    """Return the connection for the prompt's model, with references as written.

    Without a known provider it is a server with OpenAI's API.

    Args:
        source: The prompt.
        provider: Form of the request; None for that of the prompt. If the prompt's server does not
            support it, the provider's own address is used.
    """
    model = source.prepared.document.model
    known = provider_connection(model.provider) or Connection("", "openai")
    endpoint = model.connection.get("endpoint")
    key = model.connection.get("apiKey", model.connection.get("api_key"))
    if source.base_url or (isinstance(endpoint, str) and endpoint.strip()):
        known = replace(known, base_url=source.base_url or str(endpoint).strip())
    elif known.kind == "azure":  # each resource has its own address
        known = replace(known, base_url="${env:AZURE_OPENAI_ENDPOINT}")
    if isinstance(key, str) and environment_name(key) is not None:
        known = replace(known, key=key)
    wanted = provider or ("openai-responses" if model.api_type == "responses" else None)
    if wanted is None or wanted == provider_at(known):
        return known
    if known.kind == "anthropic" or wanted == "anthropic":
        other = provider_connection("anthropic" if wanted == "anthropic" else "openai")
        known = replace(other or known, base_url=source.base_url)
    return replace(known, api="responses" if wanted == "openai-responses" else "chat")


def openai_connection(connection: Connection) -> Connection:
    """Return the connection for chat completions at a provider with an API of its own."""
    paths: Mapping[Provider, str] = {"anthropic": "", "ollama": "/v1", "gemini": "/openai"}
    path = paths.get(provider_at(connection))
    if path is None:
        return replace(connection, api="chat")
    address = f"{address_of(connection).rstrip('/')}{path}"
    return replace(connection, kind="compatible", base_url=address)


def with_model(source: ExportSource) -> ExportSource:
    """Return the source with a variable as its model if nothing else names one."""
    if source.prepared.document.model.id or source.model:
        return source
    return replace(source, model="${env:OPENAI_MODEL}")


def model_losses(source: ExportSource) -> Iterator[str]:
    """Yield a loss if the variable `OPENAI_MODEL` must name the model."""
    if not (source.prepared.document.model.id or source.model):
        yield "The prompt names no model: set OPENAI_MODEL, or write model.id."


def key_variable(connection: Connection) -> str:
    """Return the variable with the key; a literal key is never exported."""
    return environment_name(connection.key) or "OPENAI_API_KEY"


def request_of(
    source: ExportSource, provider: Provider, messages: Sequence[Message] | None = None
) -> WireRequest:
    """Return the request that the prompt would send; in a loop, the first one.

    Args:
        source: The prompt with its values.
        provider: Form of the body.
        messages: Messages that replace the prompt's own.
    """
    document = source.prepared.document
    model = document.model
    if not model.id:
        model = replace(model, id=source.model)
    if model.api_type == "responses" and provider == "openai-chat":
        model = replace(model, api_type="chat")
    options = sent_options(document, model.options)
    if not source.sent_tools:
        options = {key: value for key, value in options.items() if key != "allowMultipleToolCalls"}
    stop = stop_sequences(document, choose_protocol(document).protocol)
    return to_request(
        source.prepared.messages.messages if messages is None else messages,
        source.sent_tools,
        replace(model, options=options),
        provider=provider,
        outputs=document.outputs,
        stop=stop,
        media=source.media,
        keeps_nothing=True,
    )


def request_losses(source: ExportSource, request: WireRequest) -> Iterator[str]:
    """Yield what a request does not carry, and what is missing to send it."""
    yield from lost(request.problems)
    if request.body.get("model") == "":
        yield "The request names no model, and every provider requires one: write model.id."
    yield from unlisted_tools(source)
    yield from unresolved_references(source)


def lost(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield what a request omits of the author's text."""
    for problem in problems:
        if problem.code in _LOST and problem.severity is not Severity.ERROR:
            yield problem.message


_LOST = (
    "unsupported-attribute",
    "unsupported-option",
    "unsupported-media",
    "tool-not-sent",
    "tool-arguments",
    "system-moved",
    "name-changed",
)


def sent_by_studio(
    source: ExportSource, form: Provider | None = None, messages: Sequence[Message] | None = None
) -> SentRequest:
    """Return the request that the studio sends for a prompt, unstreamed.

    References to variables stay as written, including the key's.

    Args:
        source: The prompt with its values.
        form: Form of the request; None for that of the prompt (`named_connection`).
        messages: Messages that replace the prompt's own.
    """
    connection = named_connection(source, form)
    provider = provider_at(connection)
    endpoint = request_script.endpoint_of(provider, source.prepared.document.model.api_type)
    body = request_of(source, provider, messages).body
    path = endpoint.path.replace("{model}", source.prepared.document.model.id)
    key = f"${{env:{key_variable(connection)}}}"
    headers = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    if provider != "anthropic":
        headers = {"authorization": f"Bearer {key}"} if connection.kind != "ollama" else {}
    return SentRequest(
        f"{address_of(connection).rstrip('/')}{path}", {**body, **endpoint.whole}, headers
    )


def with_variables(request: SentRequest, environment: Mapping[str, str]) -> SentRequest:
    """Return the request with its references replaced by the variables' values."""
    return replace(
        request,
        address=str(_filled(request.address, environment)),
        body=object_of(_filled(request.body, environment)),
        headers={name: str(_filled(text, environment)) for name, text in request.headers.items()},
    )


def _filled(value: Json, environment: Mapping[str, str]) -> Json:
    if isinstance(value, Mapping):
        return {key: _filled(item, environment) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, environment) for item in value]
    if not isinstance(value, str):
        return value
    for reference in reversed(tuple(find_references(value))):
        if reference.protocol == "env":
            found = environment.get(reference.argument) or reference.default or ""
            rest = value[reference.span.end :]
            found = found.rstrip("/") if rest.startswith("/") else found
            value = f"{value[: reference.span.start]}{found}{rest}"
    return value


def compare_rounds(
    source: ExportSource,
    read: Callable[[ExportSource], SentRequest],
    *,
    form: Provider | None = None,
    loose: bool = False,
    program: str = "the program",
) -> tuple[RoundTrip, ...]:
    """Compare the requests that result from an export with those of the studio.

    Args:
        source: The prompt; the current values and each saved set are one round each.
        read: Returns the request of one round from the written file.
        form: Form of the request; None for that of the prompt.
        loose: Whether to ignore blanks at the ends of messages.
        program: The program that reads the file, for messages.
    """
    found = []
    for name, each in source.rounds.items():
        try:
            got = read(each)
        except CannotRender as error:
            found.append(RoundTrip(name, f"{program} cannot render the prompt: {error}"))
            continue
        except RuntimeRefusal as error:
            found.append(RoundTrip(name, f"{program} does not accept it: {error}."))
            continue
        found.append(compare_requests(name, sent_by_studio(each, form), got, loose=loose))
    return tuple(found)


def body_rounds(
    source: ExportSource, form: Provider, write: Callable[[ExportSource], str]
) -> tuple[RoundTrip, ...]:
    """Compare the bodies in written requests with those that the studio sends."""

    def read(each: ExportSource) -> SentRequest:
        sent = sent_by_studio(each, form)
        return replace(sent, body={**sent.body, **request_script.body_of(write(each))})

    return compare_rounds(source, read, form=form)


def compare_requests(
    name: str, expected: SentRequest, got: SentRequest, *, loose: bool = False
) -> RoundTrip:
    """Compare two requests; the difference is described in words.

    Args:
        name: Name of the round.
        expected: The studio's request.
        got: The other program's request; without an address only its messages are known.
        loose: Whether to ignore blanks at the ends of messages.
    """
    if got.address:
        differences = body_differences(expected.body, got.body, loose=loose)
        found = [*_head_differences(expected, got), *differences]
    else:
        messages = expected.body.get("messages"), got.body.get("messages")
        found = [_message_difference(*messages, loose=loose)]
    body = expected.body
    listed = body.get("messages", body.get("input", body.get("contents")))
    apart = body.get("system") or body.get("instructions") or body.get("systemInstruction")
    return RoundTrip(
        name,
        " ".join(filter(None, found)),
        len(list_of(listed)) + bool(apart),
        len(list_of(body.get("tools"))),
    )


def _head_differences(expected: SentRequest, got: SentRequest) -> Iterator[str]:
    if got.method != expected.method:
        yield f"The method is {got.method} instead of {expected.method}."
    if _destination(got.address) != _destination(expected.address):
        yield f"It goes to {got.address} instead of {expected.address}."
    for name, value in expected.headers.items():
        found = got.headers.get(name)
        if name in _KEY_HEADERS:
            # Azure and Anthropic accept a key in two headers each (API references).
            keys = {got.headers.get(each, "").removeprefix("Bearer ") for each in _KEY_HEADERS}
            is_same = value.removeprefix("Bearer ") in keys
        elif name == "anthropic-version":  # each package sends its own API version
            is_same = bool(found)
        else:
            is_same = found == value
        if not is_same:
            yield f"The header {name} is {found!r} instead of {value!r}."


_KEY_HEADERS = ("authorization", "api-key", "x-api-key")
_DEPLOYMENT = re.compile(r"/openai/deployments/[^/]+(/[^?]*)(?:\?.*)?")


def _destination(address: str) -> str:
    """Return an address without the part that names an Azure deployment.

    `/openai/deployments/NAME/…?api-version=…` and `/openai/v1/…` are the same resource, and the
    body names the deployment in both (Azure OpenAI's REST reference).
    """
    return _DEPLOYMENT.sub(r"/openai/v1\1", address)


def body_differences(
    expected: JsonObject, got: JsonObject, *, loose: bool = False
) -> Iterator[str]:
    """Yield the differences between two request bodies, one sentence each."""
    for key in dict.fromkeys((*expected, *got)):
        one, other = _plain(expected.get(key)), _plain(got.get(key))
        if one == other or (key == "stream" and not one and not other):
            continue
        if key == "messages" and "system" not in expected:
            yield _message_difference(one, other, loose=loose)
        elif key not in got:
            yield f"{key} is left out ({_short(one)})."
        elif key not in expected:
            yield f"{key} is added ({_short(other)})."
        else:
            yield f"{key} is {_short(other)} instead of {_short(one)}."


def _message_difference(one: Json, other: Json, *, loose: bool = False) -> str:
    """Return how two lists of messages differ; empty if they are equivalent."""
    before, after = (read_thread(each, {}, None) or () for each in (one, other))
    return first_difference(comparable(before, loose=loose), comparable(after, loose=loose))


def _plain(value: Json) -> Json:
    """Normalize forms that providers treat as equal: a text, and a list of one text."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items() if item is not None}
    if not isinstance(value, list | tuple):
        return value
    if len(value) == 1 and isinstance(value[0], Mapping) and set(value[0]) == {"type", "text"}:
        return value[0]["text"]
    return [_plain(item) for item in value]


def _short(value: Json) -> str:
    return shortened(repr(value), 80)
