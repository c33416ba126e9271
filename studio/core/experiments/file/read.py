"""An experiment file, read: YAML with promptfoo's names, and a few of its own.

Source: promptfoo's configuration reference (prompts, providers, tests, defaultTest, scenarios,
assertionTemplates, evaluateOptions); a configuration of that subset is an experiment file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast, get_args

from studio.core.experiments.file.cases import (
    CaseEntry,
    file_reference,
    read_case,
    read_cases,
    read_scenarios,
)
from studio.core.experiments.file.foreign import FOREIGN_KEYS
from studio.core.experiments.file.keys import key_names
from studio.core.experiments.file.nodes import ExperimentFindings, YamlNode, read_nodes
from studio.core.experiments.file.variants import read_variants
from studio.core.experiments.values import (
    MOST_REPEATS,
    EvaluateOptions,
    ExperimentBudget,
    ExperimentCase,
    ExperimentFile,
    Gates,
    KeepRule,
    PassRule,
)
from studio.core.text.source import SourceText

KEYS = key_names("root")
"""What is read of a file."""

_IGNORED = (
    "commandLineOptions",
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
    """Read a file. Never raises; what is wrong is in its `problems`."""
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
        cases.append(ExperimentCase(line=1))  # promptfoo asks once without values
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
        options=_options(root.get("evaluateOptions")),
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
    if isinstance(node.value, Mapping):  # promptfoo: names with values
        return tuple(f"{key}={value}" for key, value in node.value.items())
    return node.texts("A tag")


def _options(node: YamlNode) -> EvaluateOptions:
    node.check_keys((*key_names("options"), *_IGNORED_OPTIONS), "evaluateOptions")
    whole = node.get("maxEvalTimeMs").number("maxEvalTimeMs", 0)
    return EvaluateOptions(
        repeat=node.get("repeat").whole("repeat", 1, MOST_REPEATS) or 1,
        concurrency=node.get("maxConcurrency").whole("maxConcurrency", 1),
        timeout_ms=node.get("timeoutMs").whole("timeoutMs") or None,
        minutes=whole / 60_000 if whole else None,
        delay_ms=node.get("delay").whole("delay") or 0,
        cache=node.get("cache").value is not False,
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
        slices={name: _gates(item) for name, item in node.get("slices").fields()},
    )


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
