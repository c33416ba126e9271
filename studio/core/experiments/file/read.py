"""Read an experiment file: YAML with promptfoo's names, and a few of its own.

Source: promptfoo's configuration reference (prompts, providers, tests, defaultTest, scenarios,
assertionTemplates, evaluateOptions); a configuration of that subset is an experiment file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from studio.core.experiments.file.cases import (
    CaseEntry,
    file_reference,
    key_names,
    read_case,
    read_cases,
    read_scenarios,
)
from studio.core.experiments.file.nodes import (
    FOREIGN_KEYS,
    FOREIGN_PROVIDERS,
    ExperimentFindings,
    YamlNode,
    foreign_prompt,
    read_nodes,
)
from studio.core.experiments.values import (
    MOST_REPEATS,
    EvaluateOptions,
    ExperimentBudget,
    ExperimentCase,
    ExperimentFile,
    Gates,
    KeepRule,
    PassRule,
    PromptEntry,
    ProviderEntry,
    VariantEntry,
)
from studio.core.models.base import ProtocolName
from studio.core.text.amounts import shortened
from studio.core.text.naming import unique_names
from studio.core.text.source import SourceText
from studio.core.text.values import JsonObject

# The variants (columns) of an experiment: prompts × providers, or `variants` by name.

PROMPT_SUFFIXES = (".prompty", ".txt", ".md", ".json", ".yaml", ".yml", ".j2", ".prompt")
"""Suffixes of files that can contain a prompt."""

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
    """Read every variant, in order; their names are made unique."""
    found = _named(root.get("variants")) if "variants" in root else _product(root)
    return tuple(_unique(list(found)))


def _product(root: YamlNode) -> Iterator[VariantEntry]:
    prompts = [each for item in root.get("prompts").items() for each in _prompt(item)]
    key = "providers" if "providers" in root else "targets"
    providers = [each for item in root.get(key).items() for each in _provider(item)]
    if not prompts:
        if root.get("prompts").value is None and not root.findings.problems:
            root.findings.error(
                "experiment-prompts",
                "The experiment has no prompts; list them under `prompts`.",
                root.get("prompts").span,
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
    """Return the name of a variant; only prompt or model if only one of them differs."""
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
        node.wrong("A prompt of messages needs a file of its own: prompts: [chat.json].")
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
    """Yield a provider with the prompts that it is for (None for all)."""
    if isinstance(node.value, str):
        yield from _provider_of(node, node.value, "", {}, ())
        return
    if not isinstance(node.value, Mapping):
        if node.value is not None:
            node.wrong("A provider is a connection's name, `provider:model`, or {id, config}.")
        return
    written, inner = node.get("id").text("The id of a provider"), node
    if "id" not in node and len(node.value) == 1:  # {openai:gpt-4o: {config: …}}
        ((written, inner),) = node.fields()
    inner.check_keys(_PROVIDER_KEYS, "A provider")
    inner.check_foreign("provider")
    delay = inner.get("delay").whole("delay") or 0
    entries = _provider_of(
        node,
        written,
        inner.get("label").text("The label"),
        inner.get("config").object("config"),
        inner.get("prompts").texts("A prompt"),
    )
    yield from ((replace(entry, delay_ms=delay), only) for entry, only in entries)


def _provider_of(
    node: YamlNode, written: str, label: str, config: JsonObject, only: tuple[str, ...]
) -> Iterator[tuple[ProviderEntry, tuple[str, ...]]]:
    if is_provider_file(written):
        yield ProviderEntry(written, label, config, node.span), only
        return
    if written.startswith(FOREIGN_PROVIDERS) or written.endswith((".js", ".py", ".ts", ".mjs")):
        message = f"The provider {written!r} runs code of its own, which is not supported here: "
        node.wrong(f"{message}add a connection for it and name that.", "experiment-unsupported")
        return
    yield ProviderEntry(written, label, config, node.span), only


def is_provider_file(name: str) -> bool:
    """Return whether a provider is defined in its own file: `file://small.yaml`."""
    return name.startswith("file://") and name.lower().endswith((".yaml", ".yml", ".json"))


def read_providers(root: YamlNode) -> tuple[ProviderEntry, ...]:
    """Read the providers of such a file: one or a list."""
    return tuple(entry for item in root.items() for entry, _ in _provider(item))


def _unique(variants: list[VariantEntry]) -> Iterator[VariantEntry]:
    names = unique_names((each.name for each in variants), " ({})")
    for each, name in zip(variants, names, strict=True):
        yield replace(each, name=name)


KEYS = key_names("root")
"""Known keys of the root."""

_IGNORED = (
    "tracing",
    "outputPath",
    "sharing",
    "metadata",
    "writeLatestResults",
    "version",
    "author",
)
_IGNORED_OPTIONS = ("showProgressBar", "interactiveProviders", "generateSuggestions")


def read_experiment(text: str, path: Path | None = None) -> ExperimentFile:
    """Read a file. Never raises; problems are in the value's `problems`."""
    source = SourceText(text, path)
    findings = ExperimentFindings()
    root = read_nodes(text, findings)
    if not isinstance(root.value, Mapping):
        if not findings.problems:
            message = "An experiment is a YAML mapping with `prompts` and `tests`."
            findings.error("experiment-value", message, root.span)
        return ExperimentFile(source, problems=tuple(findings.problems))
    root.check_keys((*KEYS, *FOREIGN_KEYS["experiment"], *_IGNORED), "An experiment")
    root.check_foreign("experiment")
    templates = dict(root.get("assertionTemplates").fields())
    default = root.get("defaultTest")
    cases: list[CaseEntry] = list(read_cases(root.get("tests"), templates, source))
    cases += read_scenarios(root.get("scenarios"), templates, source)
    variants = read_variants(root)
    if not cases:
        cases.append(ExperimentCase(line=1))  # promptfoo sends one request without values
    return ExperimentFile(
        source,
        description=root.get("description").text("The description"),
        tags=_tags(root.get("tags")),
        variants=variants,
        cases=tuple(cases),
        default=_default(default, templates, source),
        default_file=(
            file_reference(default, "defaultTest") if isinstance(default.value, str) else None
        ),
        options=_options(root),
        pass_rule=_pass_rule(root.get("passRule")),
        baseline=root.get("baseline").text("The baseline"),
        gates=_gates(root.get("gates")),
        budget=_budget(root.get("budget")),
        keep=_keep(root.get("keep")),
        mocks=dict(root.get("mocks").object("mocks")),
        problems=tuple(sorted(findings.problems, key=lambda each: each.span)),
    )


def _default(
    node: YamlNode, templates: Mapping[str, YamlNode], source: SourceText
) -> ExperimentCase:
    if node.value is None or isinstance(node.value, str):
        return ExperimentCase()
    return read_case(node, templates, source)


def _tags(node: YamlNode) -> tuple[str, ...]:
    if isinstance(node.value, Mapping):  # promptfoo's form: names with values
        return tuple(f"{key}={value}" for key, value in node.value.items())
    return node.texts("A tag")


def _options(root: YamlNode) -> EvaluateOptions:
    node, over = root.get("evaluateOptions"), root.get("commandLineOptions")
    node.check_keys(
        (*key_names("options"), *_IGNORED_OPTIONS, *FOREIGN_KEYS["running"]), "evaluateOptions"
    )
    node.check_foreign("running")
    over.check_foreign("running")

    def option(name: str) -> YamlNode:
        return over.get(name) if name in over else node.get(name)

    whole = node.get("maxEvalTimeMs").number("maxEvalTimeMs", 0)
    return EvaluateOptions(
        repeat=option("repeat").whole("repeat", 1, MOST_REPEATS) or 1,
        concurrency=option("maxConcurrency").whole("maxConcurrency", 1),
        timeout_ms=node.get("timeoutMs").whole("timeoutMs") or None,
        minutes=whole / 60_000 if whole else None,
        delay_ms=option("delay").whole("delay") or 0,
        cache=option("cache").value is not False,
    )


def _pass_rule(node: YamlNode) -> PassRule:
    value = node.value
    if value is None:
        return "mean"
    if value in ("all", "any", "mean"):
        return cast("PassRule", value)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    node.wrong("passRule is all, any, mean, or a share of the repeats such as 0.8.")
    return "mean"


def _gates(node: YamlNode) -> Gates:
    node.object("gates")
    node.check_keys(key_names("gates"), "gates")
    hat = node.get("pass_hat")
    pair: tuple[int, float] | None = None
    if hat.value is not None:
        k, least = hat.get("k").whole("k", 1), hat.get("at_least").number("at_least", 0, 1)
        if k is None or least is None:
            hat.wrong("pass_hat is {k: 4, at_least: 0.7}.")
        else:
            pair = k, least
    return Gates(
        pass_rate=node.get("pass_rate").number("pass_rate", 0, 1),
        row_pass_rate=node.get("row_pass_rate").number("row_pass_rate", 0, 1),
        pass_hat=pair,
        lost_rows=node.get("lost_rows").whole("lost_rows"),
        p_value=node.get("p_value").number("p_value", 0, 1),
        cost=node.get("cost").number("cost", 0),
        p95_ms=node.get("p95_ms").number("p95_ms", 0),
        slices={name: _slice_gates(item) for name, item in node.get("slices").fields()},
    )


def _slice_gates(node: YamlNode) -> Gates:
    """Read the gates of a slice: the share of its rows that pass, under either of two names."""
    for key, item in node.fields():
        if key in key_names("gates") and key not in ("pass_rate", "row_pass_rate"):
            item.wrong(f"{key} is not a gate of a slice; use pass_rate.")
    return _gates(node)


def _budget(node: YamlNode) -> ExperimentBudget:
    node.object("budget")
    node.check_keys(key_names("budget"), "budget")
    return ExperimentBudget(
        cost=node.get("cost").number("cost", 0),
        tokens=node.get("tokens").whole("tokens"),
        minutes=node.get("minutes").number("minutes", 0),
    )


def _keep(node: YamlNode) -> KeepRule:
    if node.value in get_args(KeepRule):
        return cast("KeepRule", node.value)
    if node.value is not None:
        node.wrong("keep is all, failed or none.")
    return "all"
