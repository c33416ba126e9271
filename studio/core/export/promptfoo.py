"""promptfoo's configuration: the prompt, its model, and each saved input set as a test.

The assertions of the experiment beside the prompt are included.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import islice, product
from pathlib import Path

from studio.core.export.chat_template import chat_items, chat_template, filled_items
from studio.core.export.prompt_files import check_bounds, nunjucks_renderer, utf8_problem
from studio.core.export.sent import (
    SentRequest,
    compare_rounds,
    key_variable,
    lost,
    model_losses,
    named_connection,
    openai_connection,
    request_of,
    with_model,
)
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result
from studio.core.imports.imported import experiment_path
from studio.core.models.connections import address_of, provider_at
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.reference_values import find_references
from studio.core.prompty.templates.fstring import fstring_as_jinja
from studio.core.prompty.templates.jinja.stock import nunjucks_losses
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.files import read_bounded
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, texts_in
from studio.core.wire.request import Provider

_WORDS: Mapping[Provider, str] = {
    "openai-chat": "openai:chat",
    "openai-responses": "openai:responses",
    "anthropic": "anthropic:messages",
}

_OWN_TYPES = frozenset(("ends-with", "final-answer", "no-error", "tokens"))
"""Types of assertions that promptfoo does not have."""

_OWN_KEYS = ("id", "tags", "expected")
"""Keys of a case that promptfoo does not have."""

_MOST_ROWS = 1000

_SHARED = ("defaultTest", "scenarios", "assertionTemplates")


def promptfoo_config(source: ExportSource) -> ExportResult:
    """Return the configuration; anything that Nunjucks or promptfoo cannot express is a loss."""
    document = source.document
    template = chat_template(source)
    read, problems = chat_items(template)
    items: list[Json] = list(read)
    losses = [*template.losses, *lost(problems)]
    if template.format == "mustache" and not template.is_plain:
        losses.append("The template is Mustache, and promptfoo renders with Nunjucks.")
    if template.format == "jinja2" and not template.is_plain:
        losses += nunjucks_losses(texts_in(items))
    if template.format == "fstring":
        items = [_as_jinja(item) for item in items]
    items = [_with_name(item) for item in items]
    if any(isinstance(item, dict) and "thread" in item for item in items):
        losses.append("A thread of messages is not possible in a promptfoo prompt; left out.")
        items = [i for i in items if not (isinstance(i, dict) and "thread" in i)]
    losses += model_losses(source)
    source = with_model(source)
    provider = _provider(source)
    data: JsonDict = {
        "description": document.description or document.name or "Prompt",
        "prompts": [
            {
                "id": document.name or "prompt",
                "raw": json.dumps(items, ensure_ascii=False, indent=2),
            }
        ],
        "providers": [_in_nunjucks(provider)],
        **asserted_tests(source, losses),
    }
    text = "\n".join(write_yaml(data)) + "\n"
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*document.problems, fault))
    rounds = _rounds(source, items, provider)
    return result(text, document.problems, losses, rounds, judge="promptfoo")


def _as_jinja(value: Json) -> Json:
    """Return a message with every text as Jinja2 instead of a format string."""
    if isinstance(value, str):
        return fstring_as_jinja(value) or value
    if isinstance(value, dict):
        return {
            key: item if key in ("role", "type") else _as_jinja(item) for key, item in value.items()
        }
    return [_as_jinja(item) for item in value] if isinstance(value, list) else value


def _with_name(item: Json) -> Json:
    """Return a message with a template as name, without blanks, which OpenAI rejects there."""
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(name, str) or "{" not in name:
        return item
    return {**item, "name": f"{{% filter replace(' ', '_') %}}{name}{{% endfilter %}}"}


def _provider(source: ExportSource) -> JsonObject:
    """Return the provider that sends the studio's requests, with references as written.

    Options are set in the body directly (`passthrough`, `extra_body`): promptfoo sends its own keys
    only for some models, and renders them or reads them as file names.
    """
    connection = named_connection(source)
    form = provider_at(connection)
    is_free = connection.kind == "ollama"
    if form not in _WORDS:
        connection, form = openai_connection(connection), "openai-chat"
    body = request_of(source, form).body
    further = {key: value for key, value in body.items() if key not in _OF_THE_PROMPT}
    address = address_of(connection) if connection.base_url else ""
    key = key_variable(connection)
    config: JsonDict = {}
    if form == "anthropic":
        config |= {"apiBaseUrl": address.rstrip("/").removesuffix("/v1")} if address else {}
        config |= {"apiKey": f"${{env:{key}}}"} if key != "ANTHROPIC_API_KEY" else {}
        config |= {"extra_body": further} if further else {}
    else:
        config |= {"apiBaseUrl": address.rstrip("/")} if address else {}
        config |= {"apiKeyEnvar": key} if key != "OPENAI_API_KEY" else {}
        config |= {"apiKeyRequired": False} if is_free else {}
        config |= {"omitDefaults": True}
        config |= {"passthrough": further} if further else {}
    return {"id": f"{_WORDS[form]}:{body.get('model')}", "config": config}


_OF_THE_PROMPT = (
    "model",
    "messages",
    "input",
    "system",
    "instructions",
    "stream",
    "stream_options",
)


def _in_nunjucks(value: Json) -> Json:
    """Return a value with `${env:NAME}` written as promptfoo does."""
    if isinstance(value, Mapping):
        return {key: _in_nunjucks(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_nunjucks(item) for item in value]
    if not isinstance(value, str):
        return value
    for reference in reversed(tuple(find_references(value))):
        if reference.protocol == "env":
            rest = value[reference.span.end :]
            default = f" | default({json.dumps(reference.default)})" if reference.default else ""
            trimmed = ' | replace(r/\\/$/, "")' if rest.startswith("/") else ""
            name = f"{{{{ env.{reference.argument}{default}{trimmed} }}}}"
            value = f"{value[: reference.span.start]}{name}{rest}"
    return value


def _rounds(source: ExportSource, items: list[Json], provider: JsonObject) -> tuple[RoundTrip, ...]:
    render = nunjucks_renderer()

    def read(each: ExportSource) -> SentRequest:
        check_bounds(each.prepared)
        return _sent(provider, filled_items(items, render, each.prepared.inputs))

    return compare_rounds(source, read, program="promptfoo")


def _sent(provider: JsonObject, messages: list[Json]) -> SentRequest:
    """Return the request that promptfoo 0.123 makes: `getOpenAiBody`, `AnthropicMessagesProvider`.

    Keys that promptfoo always adds, even with `omitDefaults`, come before the configuration's.
    """
    config = object_of(provider.get("config"))
    form, _, rest = str(provider.get("id")).partition(":")
    api, _, model = rest.partition(":")
    given = str(config.get("apiBaseUrl", ""))
    if form == "anthropic":
        system = [item for item in messages if object_of(item).get("role") == "system"]
        body: JsonDict = {
            "model": model,
            "messages": [_role_and_content(item) for item in messages if item not in system],
            "max_tokens": 1024,
            "temperature": 0,
            **({"system": object_of(system[0]).get("content")} if system else {}),
            **object_of(config.get("extra_body")),
        }
        key = config.get("apiKey", "${env:ANTHROPIC_API_KEY}")
        headers = {"x-api-key": str(key), "anthropic-version": "2023-06-01"}
        address = given or "https://api.anthropic.com"
        return SentRequest(f"{address}/v1/messages", body, headers)
    address = given or "https://api.openai.com/v1"
    key = f"${{env:{config.get('apiKeyEnvar', 'OPENAI_API_KEY')}}}"
    headers = {"authorization": f"Bearer {key}"}
    if api == "responses":
        body = {"model": model, "input": messages, "text": {"format": {"type": "text"}}}
        body |= object_of(config.get("passthrough"))
        return SentRequest(f"{address}/responses", body, headers)
    body = {"model": model, "messages": messages, **object_of(config.get("passthrough"))}
    return SentRequest(f"{address}/chat/completions", body, headers)


def _role_and_content(item: Json) -> Json:
    return {key: value for key, value in object_of(item).items() if key in ("role", "content")}


def asserted_tests(source: ExportSource, losses: list[str]) -> JsonDict:
    """Return the configuration's keys for the tests and their assertions.

    Args:
        source: The prompt with its sets; the experiment file of its own name is beside it.
        losses: Gets a sentence for each thing that promptfoo cannot express.
    """
    experiment = _experiment_beside(source.document.source.path)
    written = experiment.get("tests")
    entries = written if isinstance(written, list) else [written] if written else []
    asked = [row for item in entries for row in _rows(item)]
    tests: list[Json] = [
        {"description": name, **_vars({**_values(source, each.prepared), **each.inputs})}
        for name, each in source.set_rounds.items()
        if each.inputs not in asked
    ]
    for item in entries:
        tests += _entry(item, source, losses)
    if not tests:
        tests.append(_vars(_values(source, source.prepared)))
    shared = {key: _without_own(experiment[key], losses) for key in _SHARED if key in experiment}
    return {**shared, "tests": tests}


def _experiment_beside(prompt: Path | None) -> JsonObject:
    """Return the content of the experiment file with the prompt's name; empty without one."""
    if prompt is None:
        return {}
    try:
        text = read_bounded(experiment_path(prompt)).decode("utf-8", "replace")
    except OSError:
        return {}
    return object_of(read_yaml(text).value)


def _rows(item: Json) -> Iterator[JsonObject]:
    """Yield the values of a test, its lists spread."""
    values = item.get("vars") if isinstance(item, Mapping) else None
    if not isinstance(values, Mapping):
        return
    lists = {key: value for key, value in values.items() if isinstance(value, list)}
    for row in islice(product(*lists.values()), _MOST_ROWS):
        yield {**values, **dict(zip(lists, row, strict=True))}


def _entry(item: Json, source: ExportSource, losses: list[str]) -> Iterator[Json]:
    if item == "samples":
        yield {"description": "samples", **_vars(_values(source, source.prepared))}
    elif isinstance(item, Mapping) and isinstance(item.get("path"), str):
        further = ", ".join(key for key in item if key != "path")
        if further:
            losses.append(
                f"tests of {item['path']}: promptfoo does not support {further}; left out."
            )
        yield item["path"]
    elif isinstance(item, str):
        yield item
    elif isinstance(item, Mapping):
        kept = {key: value for key, value in item.items() if key not in _OWN_KEYS}
        if "expected" in item:  # the variable for {{ expected }} in assertions
            known = object_of(kept.get("vars"))
            kept["vars"] = {"expected": item["expected"], **known}
        yield _without_own(kept, losses)


def _vars(values: JsonObject) -> JsonDict:
    """Return the values of a test; a list would make several tests in promptfoo."""
    if any(isinstance(value, list) for value in values.values()):
        return {"vars": dict(values), "options": {"disableVarExpansion": True}}
    return {"vars": dict(values)}


def _values(source: ExportSource, prepared: Prepared) -> JsonObject:
    """Return the values of the template: given ones, and those that a run adds at its start."""
    names = {item.name for item in source.document.inputs}
    names |= {item.name for item in source.document.variables}
    names |= {item.name for item in source.document.parameters}
    return {key: value for key, value in prepared.inputs.items() if key in names}


def _without_own(value: Json, losses: list[str]) -> Json:
    """Return a value without assertions that promptfoo does not have; report them as losses."""
    if isinstance(value, list):
        found: list[Json] = []
        for item in value:
            kind = item.get("type") if isinstance(item, Mapping) else None
            word = kind.removeprefix("not-") if isinstance(kind, str) else ""
            if word in _OWN_TYPES:
                words = f"promptfoo has no assertion {kind!r}; it is left out."
                losses += [words] if words not in losses else []
            else:
                found.append(_without_own(item, losses))
        return found
    if isinstance(value, Mapping):
        return {
            key: _without_own(item, losses) if key != "vars" else item
            for key, item in value.items()
        }
    return value
