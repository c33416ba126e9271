"""The models offered in the toolbar, with facts about each for the open prompt."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.connections.model import ProviderAnswers, ProviderStart
from studio.application.words import tr
from studio.core.models.capabilities import ModelFacts, facts_of, is_loaded
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import (
    EMBEDDED,
    Connection,
    Connections,
    address_of,
    is_local,
    origin,
)
from studio.core.models.embedded.weights import Weights
from studio.core.models.remote.openai_client import FoundServer
from studio.core.models.secrets import KEYRING, environment_name
from studio.core.text.amounts import counted, money, size
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Usage


@dataclass(frozen=True, slots=True)
class UseModel:
    """Use a model."""

    connection: Connection
    """Connection of the model, saved or not."""

    model: str = ""
    """Model id; empty for the connection's own."""


@dataclass(frozen=True, slots=True)
class AskFor:
    """Ask for the settings of a provider or server, then for one of its models."""

    start: ProviderStart
    """The provider."""

    answers: ProviderAnswers = field(default_factory=ProviderAnswers)
    """Answers that the user has given."""


@dataclass(frozen=True, slots=True)
class AllowFolder:
    """List the model files of a folder from now on."""

    folder: Path
    """The folder."""


OfferAct: TypeAlias = UseModel | AskFor | AllowFolder | Literal["file", "providers", "connections"]
"""`file`: use the file's own choice. `providers`: list the providers. `connections`: edit them."""


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A line of the list."""

    group: str
    """Heading of the line; empty for the last lines."""

    title: str
    """Name of the model or of the action."""

    detail: str
    """Place of the model, or description of the action."""

    act: OfferAct
    """Action of the line."""

    is_used: bool = False
    """Whether it is the open prompt's current model."""

    is_replaced: bool = False
    """Whether the file requests it and another model is used."""


@dataclass(frozen=True, slots=True)
class ModelSources:
    """The data of the list."""

    asked: ModelChoice
    """The file's own choice, without the user's."""

    choice: ModelChoice
    """Current choice."""

    connections: Connections
    """Connections that the user has set up."""

    listed: Mapping[str, tuple[str, ...]]
    """Models listed by servers, by the name of the connection."""

    found: tuple[FoundServer, ...] = ()
    """Servers found on this machine."""

    starts: tuple[ProviderStart, ...] = ()
    """Providers that can be connected."""

    weights: tuple[Weights, ...] = ()
    """Model files in the folders that the user allowed."""


_MOST_OF_ONE = 200
"""Maximum number of models per connection in the list; typing finds the others."""

_HOST = re.compile(r"(localhost|\d{1,3}(\.\d{1,3}){3}|[\w.-]+(?=:\d))(:\d{1,5})?(/\S*)?")
_KEYS = (("sk-ant-", "anthropic"), ("sk-", "openai"), ("AIza", "gemini"))
"""Prefixes of keys with the provider that issues them."""


def model_offers(
    sources: ModelSources, words: str, *, providers: bool = False
) -> tuple[ModelOffer, ...]:
    """Return the lines of the list: models, and ways to connect others.

    Args:
        sources: the data of the list.
        words: the user's search: only lines with all its words are listed; an address, a key or a
            weights file becomes its own line.
        providers: whether to list providers instead of models.
    """
    starts = sources.starts
    typed = words.strip()
    if providers:
        found = [_provider(tr("Connect"), start) for start in starts]
    else:
        found = [_of_file(sources), *_models(sources)]
        found += [_provider(tr("Keys found"), start) for start in starts if _has_key(start)]
        if typed:
            found += [_provider(tr("Connect"), start) for start in starts if not _has_key(start)]
    parts = typed.lower().split()
    fitting = [
        each
        for each in found
        if all(part in f"{each.title} {each.detail}".lower() for part in parts)
    ]
    return (*_typed(typed, sources), *fitting, *(() if providers else _last(typed, sources, found)))


def _of_file(sources: ModelSources) -> ModelOffer:
    """Return the line of the file's own choice, with a remedy if it is not set up."""
    asked, choice = sources.asked, sources.choice
    wanted = asked.asked_id or asked.asked_place
    title = wanted or asked.declaration.id or asked.connection.name
    place = asked.connection.name
    act: OfferAct = "file"
    if asked.missing:
        detail = tr("{place} is not configured here: connect it").format(place=place)
        kind = asked.connection.kind
        start = next((each for each in sources.starts if each.connection.kind == kind), None)
        act = AskFor(start) if start is not None else "connections"
    elif not wanted:
        detail = tr("{place}: the file names no model, so the default is used").format(place=place)
    else:
        detail = place
    if choice.instead_of:
        instead = choice.declaration.id or choice.connection.name
        detail += tr(" · {model} is used instead").format(model=instead)
    is_used = choice.connection == asked.connection and choice.declaration == asked.declaration
    is_replaced = bool(choice.instead_of or choice.refusal)
    return ModelOffer(
        tr("Requested by this file"), title, detail, act, is_used and not is_replaced, is_replaced
    )


def _models(sources: ModelSources) -> Iterator[ModelOffer]:
    """Yield the models of this computer, then those of other connections."""
    own = sources.connections.connections
    here = [each for each in own if not each.is_remote or is_local(address_of(each))]
    for each in here:
        yield from _of_connection(tr("On this computer"), each, sources)
    known = {_place(each) for each in own if each.is_remote}
    for server in sources.found:
        if _place(server.connection) not in known:
            for entry in server.listed[:_MOST_OF_ONE]:
                model = str(entry["id"])
                detail = f"{server.connection.name} · {_host(server.connection)}"
                act = UseModel(server.connection, model)
                yield ModelOffer(tr("On this computer"), model, detail, act)
    used = {str(each.settings.get("weights", "")) for each in own}
    for weights in sources.weights:
        if str(weights.path) not in used:
            detail = f"{weights.path.parent} · {size(weights.size)}"
            yield ModelOffer(tr("On this computer"), weights.name, detail, _run(weights.path))
    for each in own:
        if each not in here:
            yield from _of_connection(tr("Connected"), each, sources)


def _place(connection: Connection) -> str:
    """Return the origin of a server; all names of this computer are one."""
    return origin(address_of(connection)).replace("//127.0.0.1", "//localhost")


def _run(path: Path) -> UseModel:
    """Return the action that runs a model file in the studio's own server."""
    return UseModel(replace(EMBEDDED, name=path.stem, settings={"weights": str(path)}))


def _of_connection(
    group: str, connection: Connection, sources: ModelSources
) -> Iterator[ModelOffer]:
    now = sources.choice
    is_now = now.connection.name == connection.name and not now.refusal
    if not connection.is_remote:
        detail = tr("built in, for first tries") if connection == EMBEDDED else ""
        detail = detail or tr("{kind}, on this computer").format(kind=connection.kind)
        yield ModelOffer(group, connection.name, detail, UseModel(connection), is_now)
        return
    listed = sources.listed.get(connection.name, ())[:_MOST_OF_ONE]
    own = (connection.model, now.declaration.id if is_now else "")
    place = f"{connection.name} · {_host(connection)}"
    for model in dict.fromkeys(filter(None, (*own, *listed))):
        is_used = is_now and model == now.declaration.id
        yield ModelOffer(group, model, place, UseModel(connection, model), is_used)
    if not any(own) and not listed:
        yield ModelOffer(group, connection.name, _host(connection), UseModel(connection), is_now)


def _provider(group: str, start: ProviderStart) -> ModelOffer:
    connection = start.connection
    detail = start.hint
    if variable := start.variable:
        detail = tr("{variable} of your environment").format(variable=variable)
    return ModelOffer(group, connection.name, detail, AskFor(start))


def _has_key(start: ProviderStart) -> bool:
    return bool(start.variable) and not start.is_known


def _typed(typed: str, sources: ModelSources) -> Iterator[ModelOffer]:
    """Yield the line for an address, a key or the path of a weights file."""
    starts = {each.id: each for each in sources.starts}
    path = Path(typed).expanduser() if typed[:1] in ("~", "/") or typed[1:2] == ":" else Path(typed)
    if typed.lower().endswith(".gguf"):
        words = tr("Run {file} here").format(file=path.name)
        yield ModelOffer("", words, typed, _run(path))
    elif path.is_absolute() and path.is_dir():
        words = tr("List the model files of {folder}").format(folder=path.name)
        detail = tr("GGUF files, also later; links are not followed")
        yield ModelOffer("", words, detail, AllowFolder(path))
    elif typed.startswith(("http://", "https://")) or _HOST.fullmatch(typed):
        address = typed if "://" in typed else f"http://{typed}"
        scheme, _, rest = address.partition("://")
        address = address if "/" in rest else f"{scheme}://{rest}/v1"
        act = AskFor(starts["compatible"], ProviderAnswers(address=address))
        yield ModelOffer("", tr("Connect {address}").format(address=typed), address, act)
    elif identifier := next((each for start, each in _KEYS if typed.startswith(start)), ""):
        start = starts[identifier]
        words = tr("Connect {name} with this key").format(name=start.connection.name)
        act = AskFor(start, ProviderAnswers(key=typed))
        yield ModelOffer("", words, tr("It goes into the system's key store"), act)


def _last(typed: str, sources: ModelSources, found: list[ModelOffer]) -> Iterator[ModelOffer]:
    connection = sources.choice.connection
    is_known = any(typed in (each.title, each.detail) for each in found)
    if typed and not is_known and connection.is_remote and " " not in typed:
        words = tr("Ask {name} for {model}").format(name=connection.name, model=typed)
        yield ModelOffer("", words, "", UseModel(connection, typed))
    if not typed:
        words = tr("Connect a provider or server…")
        yield ModelOffer("", words, tr("or type its address or key above"), "providers")
    if not typed or "connections".startswith(typed.lower()):
        yield ModelOffer("", tr("Connections…"), tr("names, keys, limits"), "connections")


def _host(connection: Connection) -> str:
    return address_of(connection).partition("://")[2].partition("/")[0]


# The cost and abilities of a model for the open prompt.


@dataclass(frozen=True, slots=True)
class RunMeans:
    """The average usage of a prompt's last successful runs."""

    runs: int = 0
    """Number of runs."""

    input_tokens: float = 0.0
    """Request tokens per run."""

    output_tokens: float = 0.0
    """Reply tokens per run."""

    requests: float = 0.0
    """Requests per run."""


@dataclass(frozen=True, slots=True)
class PromptSize:
    """The size of the open prompt, for prices."""

    tokens: int | None = None
    """Tokens of one request; None before they are counted."""

    is_exact: bool = False
    """Whether the model's own tokenizer counted them."""

    means: RunMeans = field(default_factory=RunMeans)
    """Average usage of its last runs."""


def price_of(
    connection: Connection, model: str, size: PromptSize, listed: JsonObject | None = None
) -> tuple[str, str]:
    """Return the short price of 1,000 runs of a prompt, and its calculation.

    Args:
        connection: connection of the model.
        model: model id.
        size: size of the prompt.
        listed: the server's description of the model.
    """
    if not connection.is_remote or is_local(address_of(connection)):
        return tr("free, local"), tr("It runs on this computer.")
    price = _facts(connection, model, listed).price
    if price is None:
        return (tr("price unknown"), "") if is_loaded() else ("", "")
    into, out, _ = price.per_million()
    source = tr("A million tokens cost {sent} sent, {received} received ({source}).").format(
        sent=money(into), received=money(out), source=price.source
    )
    means, tokens = size.means, size.tokens
    if tokens is None:
        return "", source
    is_agent = means.requests > 1
    sent = round(means.input_tokens) if is_agent else tokens
    cost = price.of(Usage(input_tokens=sent, output_tokens=round(means.output_tokens)))
    if cost is None:
        return tr("price unknown"), source
    amount = f"${cost * 1000:,.2f}" if cost * 1000 >= 0.01 else money(cost * 1000)
    how = tr("{sent:,} tokens sent, {received:,} received: averages of the last {runs} runs.")
    words = tr("{amount} per 1,000")
    if not means.runs:
        how = tr("{sent:,} tokens sent; the answer is not included because there is no run yet.")
        words = tr("from {amount} per 1,000")
    elif not is_agent:
        how = tr(
            "{sent:,} tokens sent as counted now, {received:,} received on average in the last "
            "{runs} runs."
        )
    how = how.format(sent=sent, received=round(means.output_tokens), runs=means.runs)
    return words.format(amount=amount), f"{how} {source}"


def _facts(connection: Connection, model: str, listed: JsonObject | None) -> ModelFacts:
    return facts_of(
        model,
        corrections=connection.capabilities,
        listed=listed,
        connection=connection,
        priced=is_loaded(),
    )


def passport(
    use: UseModel, size: PromptSize, listed: JsonObject | None = None
) -> tuple[tuple[str, str], ...]:
    """Return the known facts about a model for the open prompt, as names and values.

    Args:
        use: the model.
        size: size of the prompt.
        listed: the server's description of the model.
    """
    connection, unknown = use.connection, tr("not known")
    price, how = price_of(connection, use.model, size, listed)
    facts = _facts(connection, use.model, listed)
    able, window = facts.capabilities, facts.capabilities.context_window
    context = tr("{window:,} tokens").format(window=window) if window else unknown
    tokens = unknown
    if size.tokens is not None:
        exact = tr("counted exactly") if size.is_exact else tr("estimated")
        tokens = f"{counted(size.tokens, tr('token'))}, {exact}"
    named = (
        (tr("tools"), able.tools),
        (tr("a schema for the answer"), able.json_schema),
        (tr("pictures"), able.vision),
        (tr("stop sequences"), able.stop),
    )
    is_known = facts.source != "unknown" and connection.is_remote
    can = ", ".join(name for name, is_able in named if is_able) if is_known else unknown
    cannot = ", ".join(name for name, is_able in named if not is_able) if is_known else unknown
    return (
        (tr("This prompt"), "\n".join(filter(None, (price or unknown, how)))),
        (tr("Request"), tokens),
        (tr("Context"), context),
        (tr("Can"), can or tr("none of these")),
        (tr("Cannot"), cannot or tr("nothing is known")),
        (tr("Key"), _key_words(connection)),
        (tr("Facts from"), facts.source if is_known else unknown),
    )


def _key_words(connection: Connection) -> str:
    if variable := environment_name(connection.key):
        return variable
    return tr("in the system's key store") if connection.key == KEYRING else tr("none needed")
