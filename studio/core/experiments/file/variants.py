"""The columns of an experiment: prompts × providers, or `variants` by name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import get_args

from studio.core.experiments.file.foreign import FOREIGN_PROVIDERS, foreign_prompt
from studio.core.experiments.file.nodes import YamlNode
from studio.core.experiments.values import PromptEntry, ProviderEntry, VariantEntry
from studio.core.models.base import ProtocolName
from studio.core.text.naming import unique_names
from studio.core.text.shortened import shortened
from studio.core.text.values import Json, JsonObject

PROMPT_SUFFIXES = (".prompty", ".txt", ".md", ".json", ".yaml", ".yml", ".j2", ".prompt")
"""Files that prompts are read from."""

_PROMPT_KEYS = ("id", "label", "raw", "edit", "protocol", "config", "function")
_PROVIDER_KEYS = (
    "id",
    "label",
    "config",
    "prompts",
    "delay",
    "transform",
    "env",
    "inputs",
)
_REVISION = re.compile(r"^(?P<path>.+\.prompty)@(?P<revision>[\w./~^@{}-]+)$")


def read_variants(root: YamlNode) -> tuple[VariantEntry, ...]:
    """Every column, in order; their names are unique."""
    found = _named(root.get("variants")) if "variants" in root else _product(root)
    return tuple(_unique(list(found)))


def _product(root: YamlNode) -> Iterator[VariantEntry]:
    prompts = [each for item in root.get("prompts").items() for each in _prompt(item)]
    key = "providers" if "providers" in root else "targets"
    providers = [each for item in root.get(key).items() for each in _provider(item)]
    if not prompts:
        if "prompts" not in root and not root.findings.problems:
            root.findings.error(
                "experiment-prompts",
                "The experiment has no prompts; list them under `prompts`.",
                root.span,
            )
        return
    usual = providers or [(ProviderEntry(""), ())]
    left_out = list(_excluded(root.get("exclude")))
    for provider, only in usual:
        for prompt in prompts:
            if only and not {prompt.label, prompt.id} & set(only):
                continue
            if any(_is_excluded(rule, prompt, provider) for rule in left_out):
                continue
            yield VariantEntry(_name(prompt, provider, prompts, usual), prompt, provider)


def _name(
    prompt: PromptEntry,
    provider: ProviderEntry,
    prompts: list[PromptEntry],
    providers: list[tuple[ProviderEntry, tuple[str, ...]]],
) -> str:
    """The shorter of prompt and model, where only one of them differs."""
    model = provider.label or provider.id
    if len(providers) == 1:
        return prompt.label
    return model if len(prompts) == 1 else f"{prompt.label} · {model}"


def _excluded(node: YamlNode) -> Iterator[JsonObject]:
    for item in node.items():
        if isinstance(item.value, Mapping):
            item.check_keys(("prompt", "provider"), "A pair that is left out")
            yield item.value
        else:
            item.wrong("exclude lists pairs: {prompt: …, provider: …}.")


def _is_excluded(rule: JsonObject, prompt: PromptEntry, provider: ProviderEntry) -> bool:
    fits_prompt = rule.get("prompt") in (None, prompt.label, prompt.id)
    return fits_prompt and rule.get("provider") in (None, provider.label, provider.id)


def _named(node: YamlNode) -> Iterator[VariantEntry]:
    if not isinstance(node.value, Mapping):
        node.wrong("variants is a mapping of names to {prompt, provider, config, protocol}.")
        return
    for name, item in node.fields():
        item.check_keys(("prompt", "provider", "config", "protocol", "edit"), "A variant")
        prompts = list(_prompt(item.get("prompt")))
        if not prompts:
            item.wrong(f"The variant {name!r} names no prompt.")
            continue
        prompt = prompts[0]
        protocol = _protocol(item.get("protocol")) or prompt.protocol
        edit = dict(_edits(item.get("edit"))) or prompt.edit
        providers = list(_provider(item.get("provider"))) or [(ProviderEntry(""), ())]
        config = {**providers[0][0].config, **item.get("config").object("config")}
        yield VariantEntry(
            name,
            replace(prompt, protocol=protocol, edit=edit, span=item.span),
            replace(providers[0][0], config=config),
        )


def _prompt(node: YamlNode) -> Iterator[PromptEntry]:
    if isinstance(node.value, str):
        yield _prompt_of(node, node.value, "")
        return
    if not isinstance(node.value, Mapping):
        if node.value is not None:
            node.wrong("A prompt is a path, a text, or {id, label, edit, protocol}.")
        return
    if set(node.value) <= {"role", "content"}:
        node.wrong("A prompt of messages stands in a file of its own: prompts: [chat.json].")
        return
    if not set(_PROMPT_KEYS) & set(node.value):  # {prompts/a.txt: label, prompts/b.txt: label}
        for path, item in node.fields():
            yield _prompt_of(item, path, item.text("The label"))
        return
    node.check_keys(_PROMPT_KEYS, "A prompt")
    node.check_foreign("prompt")
    written = node.get("raw").text("raw") or node.get("id").text("The id")
    if not written:
        node.wrong("The prompt has no `id`: the path of its file.")
        return
    made = _prompt_of(node, written, node.get("label").text("The label"))
    if "raw" in node:
        made = replace(made, id=node.get("id").text("The id") or written, text=written)
    yield replace(
        made,
        edit=dict(_edits(node.get("edit"))),
        protocol=_protocol(node.get("protocol")),
        config=node.get("config").object("config"),
    )


def _edits(node: YamlNode) -> Iterator[tuple[str, str]]:
    if node.value is not None and not isinstance(node.value, Mapping):
        node.wrong("edit is a mapping of section titles to their new text.")
        return
    for title, item in node.fields():
        yield title, item.text("The new text of a section")


def _protocol(node: YamlNode) -> str:
    found = node.text("protocol")
    if found and found not in get_args(ProtocolName):
        node.wrong(f"protocol is one of {', '.join(get_args(ProtocolName))}; not {found!r}.")
        return ""
    return found


def _prompt_of(node: YamlNode, written: str, label: str) -> PromptEntry:
    foreign = foreign_prompt(written)
    if foreign:
        node.wrong(foreign, "experiment-unsupported")
    path = written.removeprefix("file://").strip()
    found = _REVISION.match(path)
    revision = found["revision"] if found is not None else ""
    path = found["path"] if found is not None else path
    is_file = written.startswith("file://") or (
        "\n" not in path and "{{" not in path and path.lower().endswith(PROMPT_SUFFIXES)
    )
    if not is_file:
        short = " ".join(written.split())
        title = label or (shortened(short, 40))
        return PromptEntry(written, title, text=written, span=node.span)
    usual = path.rpartition("/")[2] + (f"@{revision}" if revision else "")
    return PromptEntry(path, label or usual, revision=revision, span=node.span)


def _provider(node: YamlNode) -> Iterator[tuple[ProviderEntry, tuple[str, ...]]]:
    """A provider, with the prompts that it is for (none: all)."""
    if isinstance(node.value, str):
        yield from _provider_of(node, node.value, "", {}, ())
        return
    if not isinstance(node.value, Mapping):
        if node.value is not None:
            node.wrong("A provider is a connection's name, `provider:model`, or {id, config}.")
        return
    if "id" not in node and len(node.value) == 1:  # {openai:gpt-4o: {config: …}}
        name, inner = next(iter(node.value.items()))
        inside: Json = inner.get("config") if isinstance(inner, Mapping) else None
        label = inner.get("label") if isinstance(inner, Mapping) else None
        config = dict(inside) if isinstance(inside, Mapping) else {}
        yield from _provider_of(node, str(name), str(label or ""), config, ())
        return
    node.check_keys(_PROVIDER_KEYS, "A provider")
    node.check_foreign("provider")
    yield from _provider_of(
        node,
        node.get("id").text("The id of a provider"),
        node.get("label").text("The label"),
        node.get("config").object("config"),
        node.get("prompts").texts("A prompt"),
    )


def _provider_of(
    node: YamlNode, written: str, label: str, config: JsonObject, only: tuple[str, ...]
) -> Iterator[tuple[ProviderEntry, tuple[str, ...]]]:
    if is_provider_file(written):
        yield ProviderEntry(written, label, config, node.span), only
        return
    if written.startswith(FOREIGN_PROVIDERS) or written.endswith((".js", ".py", ".ts", ".mjs")):
        message = f"The provider {written!r} runs code of its own, which is not done here: "
        node.wrong(f"{message}add a connection for it and name that.", "experiment-unsupported")
        return
    yield ProviderEntry(written, label, config, node.span), only


def is_provider_file(name: str) -> bool:
    """Whether a provider stands in a file of its own: `file://small.yaml`."""
    return name.startswith("file://") and name.lower().endswith((".yaml", ".yml", ".json"))


def read_providers(root: YamlNode) -> tuple[ProviderEntry, ...]:
    """The providers of such a file: one, or a list."""
    return tuple(entry for item in root.items() for entry, _ in _provider(item))


def _unique(variants: list[VariantEntry]) -> Iterator[VariantEntry]:
    names = unique_names((each.name for each in variants), " ({})")
    for each, name in zip(variants, names, strict=True):
        yield replace(each, name=name)
