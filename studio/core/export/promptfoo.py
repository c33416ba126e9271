"""promptfoo's configuration: the prompt, its model, and each saved input set as a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

from studio.core.export.asserted import asserted_tests
from studio.core.export.chat_items import as_sent, chat_items, fill_items
from studio.core.export.chat_template import chat_template
from studio.core.export.consumers import check_bounds, nunjucks_renderer
from studio.core.export.requests import lost, request_of
from studio.core.export.round_trip import Meaning, compare, utf8_problem
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, TargetGroup, result
from studio.core.prompty.runtimes.render import CannotRender
from studio.core.prompty.templates.fstring import fstring_as_jinja
from studio.core.prompty.templates.nunjucks import nunjucks_losses
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.values import Json

_PROVIDERS = {"foundry": "azureopenai", "azure": "azureopenai", "": "openai"}
_APIS = {"chat": "chat", "responses": "responses", "embedding": "embedding"}


@dataclass(frozen=True, slots=True)
class PromptfooConfig:
    """One YAML file that `promptfoo eval` runs."""

    name: str = "promptfoo"
    label: str = "promptfoo configuration"
    group: TargetGroup = "Code"
    suffix: str = ".yaml"
    needs_values: bool = False
    about: str = (
        "The prompt with its model, and each saved input set as a test, for promptfoo eval. It "
        "renders with Nunjucks; read back here by Jinja2 with values as JavaScript has them."
    )

    def make(self, source: ExportSource) -> ExportResult:
        """The configuration; what Nunjucks or promptfoo have no place for is a loss."""
        document = source.document
        template = chat_template(source)
        read, problems = chat_items(template)
        items: list[Json] = list(read)
        losses = [*template.losses, *lost(problems)]
        if template.format == "mustache" and not template.is_plain:
            losses.append("The template is Mustache, and promptfoo renders with Nunjucks.")
        if template.format == "jinja2" and not template.is_plain:
            losses += nunjucks_losses(_texts(items))
        if template.format == "fstring":
            items = [_as_jinja(item) for item in items]
        items = [_with_name(item) for item in items]
        if any(isinstance(item, dict) and "thread" in item for item in items):
            losses.append("A thread of messages has no place in a promptfoo prompt; left out.")
            items = [i for i in items if not (isinstance(i, dict) and "thread" in i)]
        data: dict[str, Json] = {
            "description": document.description or document.name or "Prompt",
            "prompts": [
                {"id": document.name or "prompt",
                 "raw": json.dumps(items, ensure_ascii=False, indent=2)}
            ],
            "providers": [_provider(source)],
            **asserted_tests(source, losses),
        }  # fmt: skip
        text = "\n".join(write_yaml(data)) + "\n"
        fault = utf8_problem(text)
        if fault is not None:
            return result(text, (*document.problems, fault))
        rounds = tuple(_rounds(source, items))
        return result(text, document.problems, losses, rounds)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _as_jinja(value: Json) -> Json:
    """Every text of a message as Jinja2 instead of a format string."""
    if isinstance(value, str):
        return fstring_as_jinja(value) or value
    if isinstance(value, dict):
        return {
            key: item if key in ("role", "type") else _as_jinja(item) for key, item in value.items()
        }
    return [_as_jinja(item) for item in value] if isinstance(value, list) else value


def _with_name(item: Json) -> Json:
    """A message whose name is a template, without the blanks that OpenAI refuses in a name."""
    name = item.get("name") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(name, str) or "{" not in name:
        return item
    return {**item, "name": f"{{% filter replace(' ', '_') %}}{name}{{% endfilter %}}"}


def _provider(source: ExportSource) -> Json:
    """`provider:api:model`, with the options that a request would send."""
    model = source.document.model
    body = request_of(replace(source, prepared=source.prepared), "openai-chat").body
    config = {
        key: value
        for key, value in body.items()
        if key not in ("model", "messages", "stream", "stream_options")
    }
    name = _PROVIDERS.get(model.provider, model.provider)
    api = "messages" if name == "anthropic" else _APIS.get(model.api_type, "chat")
    word = f"{name}:{api}:{model.id or source.model or 'gpt-4o-mini'}"
    return {"id": word, "config": config} if config else {"id": word}


def _rounds(source: ExportSource, items: list[Json]) -> Iterator[RoundTrip]:
    render = nunjucks_renderer()
    for name, prepared in source.round_trips.items():
        try:
            check_bounds(prepared)
            got = fill_items(items, render, prepared.inputs, drops=True)
        except CannotRender as error:
            yield RoundTrip(name, f"promptfoo cannot render the prompt: {error}")
            continue
        yield compare(name, Meaning(as_sent(prepared.messages.messages)), Meaning(as_sent(got)))
