"""The first connection to a provider: what is asked of the user, and what the environment says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from studio.application.connections.editing import problems_of, with_added, with_changed
from studio.application.words import tr
from studio.core.models.connections import PRESETS, Connection, Connections, Preset, address_of
from studio.core.models.probe import Probe
from studio.core.models.secrets import KEYRING, environment_name
from studio.core.text.naming import free_name
from studio.core.text.values import JsonObject

Ask: TypeAlias = Literal["address", "key", "deployment"]
"""Something that the user is asked for before a provider can be connected."""

_OFFERED = ("openai", "anthropic", "gemini", "azure", "ollama", "lm-studio", "compatible")
_LOCAL = ("ollama", "lm-studio")
"""Servers of this machine that are asked for without a key."""

_LOCAL_SERVERS = ("ollama", "lm-studio", "llama-cpp", "vllm")
"""Servers that are looked for on this machine."""

_KEY_VARIABLES: Mapping[str, tuple[str, ...]] = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "azure": ("AZURE_OPENAI_API_KEY",),
}
# As each provider's own package reads them.
_ADDRESS_VARIABLES: Mapping[str, str] = {
    "openai": "OPENAI_BASE_URL",
    "anthropic": "ANTHROPIC_BASE_URL",
    "gemini": "GOOGLE_GEMINI_BASE_URL",
    "azure": "AZURE_OPENAI_ENDPOINT",
    "ollama": "OLLAMA_HOST",
}
_NO_CHAT = re.compile(
    "embed|whisper|tts|dall-e|moderation|image|realtime|transcribe|rerank|sora|veo-|speech|lyria"
    "|aqa",
    re.IGNORECASE,
)
_CHAT_METHODS = ("generateContent", "completion")
_ASSIGNED = re.compile(
    r"(?:export\s+|set\s+|\$env:)?\w*(?:key|token|secret)\s*(?:=(?!=)|:\s)\s*", re.IGNORECASE
)
"""`export OPENAI_API_KEY=`, and `api_key: ` of a YAML file."""
_QUOTES = "\"'`“”„‘’«»,;"


@dataclass(frozen=True, slots=True)
class ProviderStart:
    """A provider that the user can connect, and how far that is settled already."""

    id: str
    """Identifier of its preset."""

    connection: Connection
    """Connection to be saved, still without a model, under a free name or its earlier one."""

    variable: str
    """The environment variable that holds a key; empty where none is set."""

    hint: str
    """Prerequisite that the user must meet."""

    asks: tuple[Ask, ...]
    """Fields to fill in, in order."""

    is_known: bool
    """Whether the user has this connection already."""


@dataclass(frozen=True, slots=True)
class ProviderAnswers:
    """Answers of the user to the fields."""

    address: str = ""
    """Address of the API."""

    key: str = ""
    """A pasted key; empty for the one that is there."""

    model: str = ""
    """Id of the model; of Azure the name of the deployment."""


def provider_starts(
    environment: Mapping[str, str], connections: Connections
) -> tuple[ProviderStart, ...]:
    """Return every provider that is offered, in order.

    Args:
        environment: the variables of the process.
        connections: what the user has set up.
    """
    presets = {preset.id: preset for preset in PRESETS}
    return tuple(_start(presets[each], environment, connections) for each in _OFFERED)


def missing(start: ProviderStart, answers: ProviderAnswers) -> tuple[Ask, str] | None:
    """Return the first thing that is still to be written, and the sentence that says so."""
    address = answers.address.strip()
    if "address" in start.asks:
        if not address:
            return "address", tr("Enter the address first.")
        wrong = problems_of(replace(start.connection, base_url=address), ()).get("base_url")
        if wrong:
            return "address", wrong
    if "key" in start.asks and (wrong := _key_problem(answers.key)):
        return "key", wrong
    has_key = answers.key.strip() or start.variable or start.is_known
    if "key" in start.asks and not has_key and start.id != "compatible":
        return "key", tr("Paste a key first.")
    if "deployment" in start.asks and not answers.model.strip():
        return "deployment", tr(
            "Enter the name of your deployment first: Azure calls a model by it."
        )
    return None


def tidied_key(text: str) -> str:
    """Remove quotes, `Bearer` or a variable's name around a pasted key."""
    key = text.strip()
    named = _ASSIGNED.match(key)
    if named is not None and named.end() < len(key):
        key = key[named.end() :]
    key = key.strip().strip(_QUOTES).strip()
    return key[7:].strip() if key[:7].lower() == "bearer " else key


def _key_problem(key: str) -> str:
    """Return why a text cannot be the key of any provider; empty if it can."""
    if any(not "!" <= char <= "~" for char in key):
        return tr(
            "This is not a key: keys have no blanks, and no letters such as ü. Copy it again."
        )
    return ""


def connection_of(start: ProviderStart, answers: ProviderAnswers) -> Connection:
    """Build the connection that is tried and saved from the user's answers."""
    draft = start.connection
    key = KEYRING if answers.key.strip() else draft.key
    if start.id == "compatible" and not answers.key.strip() and not start.is_known:
        key = ""  # many servers of one's own ask for none
    address = answers.address.strip() if "address" in start.asks else draft.base_url
    return replace(draft, key=key, base_url=address, model=answers.model.strip())


def with_provider(connections: Connections, connection: Connection) -> Connections:
    """Return the list with a connected provider, which takes the place of the embedded default."""
    known = connections.named(connection.name)
    if known is None:
        changed = with_added(connections, connection)
    else:
        changed = with_changed(connections, known.name, connection)
    is_toy = connections.default_connection.kind == "embedded"
    return replace(changed, default=connection.name) if is_toy else changed


def offered_models(probe: Probe) -> tuple[str, ...]:
    """Sort the listed models: chat models first, then the newest first if dates are known."""
    described = {str(each.get("id")): each for each in probe.listed}
    models = sorted(probe.models)
    models.sort(key=lambda model: _made(described.get(model, {})), reverse=True)
    models.sort(key=lambda model: not _chats(model, described.get(model, {})))
    return tuple(models)


def next_step(start: ProviderStart, probe: Probe) -> str:
    """Return the next step after a trial, in one sentence; empty if a model is to be chosen."""
    if not probe.works:
        return ""  # its own hint says it
    if not probe.models and start.id == "ollama":
        return tr("It has no model yet: run `ollama pull llama3.2`, then connect again.")
    if not probe.models and not start.connection.model:
        return tr("It lists no models: type the id of one.")
    return ""


def local_servers(starts: Sequence[ProviderStart]) -> tuple[Connection, ...]:
    """Return the servers of this machine that are looked for, at their usual addresses.

    Args:
        starts: of `provider_starts`; they know the addresses in the environment.
    """
    by_id = {preset.id: preset.connection for preset in PRESETS}
    by_id |= {start.id: start.connection for start in starts if not start.is_known}
    return tuple(by_id[each] for each in _LOCAL_SERVERS)


def _start(
    preset: Preset, environment: Mapping[str, str], connections: Connections
) -> ProviderStart:
    variables = _KEY_VARIABLES.get(preset.id, ())
    variable = next((each for each in variables if environment.get(each, "").strip()), "")
    address = _address(preset.id, environment.get(_ADDRESS_VARIABLES.get(preset.id, ""), ""))
    draft = replace(preset.connection, base_url=address or preset.connection.base_url)
    known = next(
        (
            each
            for each in connections.connections
            if each.kind == draft.kind
            and (draft.kind == "azure" or address_of(each) == address_of(draft))
        ),
        None,
    )
    if preset.id == "compatible":
        known = None  # another server each time
    names = [each.name for each in connections.connections]
    if known is not None:
        draft = replace(known, base_url=draft.base_url or known.base_url)
    else:
        draft = replace(draft, name=free_name(draft.name, names.__contains__))
    if known is not None:
        variable = environment_name(known.key) or ""
    elif variable:
        draft = replace(draft, key=f"${{env:{variable}}}")
    elif preset.id in _KEY_VARIABLES:
        draft = replace(draft, key=KEYRING)
    hint = tr(preset.hint)
    return ProviderStart(preset.id, draft, variable, hint, tuple(_asks(preset.id)), bool(known))


def _asks(identifier: str) -> Iterator[Ask]:
    if identifier in ("azure", "compatible"):
        yield "address"
    if identifier not in _LOCAL:
        yield "key"
    if identifier == "azure":
        yield "deployment"


def _address(identifier: str, written: str) -> str:
    """Return an address as written in a variable; Ollama's may be a host alone, or all."""
    address = written.strip()
    if identifier != "ollama" or not address:
        return address
    scheme, mark, host = address.rpartition("://")
    host = host.rstrip("/").replace("0.0.0.0", "127.0.0.1")  # where it listens
    if not mark and ":" not in host:
        host += ":11434"
    return f"{scheme or 'http'}://{host}"


def _chats(model: str, described: JsonObject) -> bool:
    for field in ("supportedGenerationMethods", "capabilities"):
        methods = described.get(field)
        if isinstance(methods, Sequence) and not isinstance(methods, str):
            return any(each in methods for each in _CHAT_METHODS)
    return _NO_CHAT.search(model) is None


def _made(described: JsonObject) -> str:
    """Return when a model was made, in a form to compare within one list."""
    created = described.get("created", described.get("created_at", ""))
    return f"{created:020}" if isinstance(created, int) else str(created)
