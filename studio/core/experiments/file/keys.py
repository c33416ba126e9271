"""The keys of an experiment file: the one definition behind completion, hover and the schema.

Run as `python -m studio.core.experiments.file.keys [FILE]` it writes the JSON schema for other
editors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import get_args

from studio.core.experiments.file.assertions import TYPES
from studio.core.experiments.values import KeepRule
from studio.core.models.base import ProtocolName
from studio.core.prompty.front.schema import json_schema
from studio.core.prompty.front.schema_shapes import Key

_ROOT = (
    Key("description", "What the experiment finds out."),
    Key(
        "prompts",
        "The prompts: paths, texts, or {id, label, edit, protocol}.",
        ("list", "text"),
        shape="prompt",
        container="list",
    ),
    Key(
        "providers",
        "The models: connections by name, `provider:model`, or {id, label, config}.",
        ("list", "text"),
        shape="provider",
        container="list",
    ),
    Key(
        "targets",
        "Another word for `providers`.",
        ("list", "text"),
        shape="provider",
        container="list",
    ),
    Key(
        "variants",
        "Columns by name, in place of prompts × providers.",
        ("mapping",),
        shape="variant",
        container="named",
    ),
    Key(
        "exclude",
        "Pairs of prompt and provider that are left out.",
        ("list",),
        shape="pair",
        container="list",
    ),
    Key(
        "tests",
        "The rows: cases, files of rows (file://rows.csv), or `samples`.",
        ("list", "text"),
        shape="case",
        container="list",
    ),
    Key(
        "defaultTest",
        "What every row has: values and assertions.",
        ("mapping", "text"),
        shape="case",
    ),
    Key(
        "scenarios",
        "Every test with every one of some configurations.",
        ("list",),
        shape="scenario",
        container="list",
    ),
    Key(
        "assertionTemplates",
        "Assertions by name, for `$ref`.",
        ("mapping",),
        shape="assertion",
        container="named",
    ),
    Key("evaluateOptions", "How it is run.", ("mapping",), shape="options"),
    Key(
        "passRule",
        "How repeats make a row pass: all, any, mean, or a share such as 0.8.",
        ("text", "number"),
        ("all", "any", "mean"),
    ),
    Key("baseline", "What is compared with: a variant, `#12`, a label, `accepted`, `git:main`."),
    Key("gates", "What must hold for the exit code 0.", ("mapping",), shape="gates"),
    Key("budget", "Where it pauses.", ("mapping",), shape="budget"),
    Key("keep", "Whose runs are kept.", values=tuple(get_args(KeepRule)), closed=True),
    Key("mocks", "Tools that the experiment answers itself: name and answer.", ("mapping",)),
    Key("tags", "Words to find it by.", ("list", "text", "mapping")),
)
_PROTOCOL = Key(
    "protocol",
    "The loop's protocol, over the prompt's own.",
    values=tuple(get_args(ProtocolName)),
    closed=True,
)
_EDIT = Key(
    "edit", "Sections that are replaced: title or role#2, and a text or file://…", ("mapping",)
)
_PROMPT = (
    Key("id", "The prompt's path; x.prompty@HEAD~3 as of a revision of git."),
    Key("label", "The name of its column."),
    Key("raw", "The text itself."),
    _EDIT,
    _PROTOCOL,
)
_PROVIDER = (
    Key("id", "A connection's name, or provider:model."),
    Key("label", "The name of its column."),
    Key("config", "Model options, over the prompt's own: temperature, …", ("mapping",)),
    Key("prompts", "The prompts that it is asked for.", ("list", "text")),
)
_VARIANT = (
    Key("prompt", "The prompt's path.", ("text", "mapping"), shape="prompt"),
    Key(
        "provider", "A connection's name, or provider:model.", ("text", "mapping"), shape="provider"
    ),
    Key("config", "Model options, over the prompt's own.", ("mapping",)),
    _PROTOCOL,
    _EDIT,
)
_CASE = (
    Key(
        "vars",
        "Values of the prompts' inputs (a list: a row for each item), or files of them.",
        ("mapping", "text", "list"),
    ),
    Key("assert", "What the answer must be.", ("list",), shape="assertion", container="list"),
    Key("expected", "The expected answer, as {{ expected }} in assertions."),
    Key("description", "The row in a few words."),
    Key(
        "threshold",
        "The score from which it passes; without, every assertion must hold.",
        ("number",),
    ),
    Key("id", "The same row in other results; else its values are."),
    Key("tags", "Words to filter and slice by.", ("list", "text")),
    Key("metadata", "Facts to slice by.", ("mapping",)),
    Key("prompts", "The prompts that it is for: labels or ids.", ("list", "text")),
    Key("providers", "The providers that it is for: labels or ids.", ("list", "text")),
    Key(
        "options",
        "disableDefaultAsserts, provider (of judges), prefix, suffix.",
        ("mapping",),
        shape="case_options",
    ),
    Key("path", "A file of rows, with `take`, `seed`, `where` and `columns`."),
    Key("take", "At most so many rows of the file.", ("integer",)),
    Key("seed", "Which rows are taken: the same seed, the same rows.", ("integer",)),
    Key("where", "Which rows: an expression of their columns, as tag == 'refund'."),
    Key("columns", "What columns mean: {question: vars.q, answer: expected}.", ("mapping",)),
)
_ASSERTION = (
    Key(
        "type",
        "What is asked of the answer; `not-` before it turns it round.",
        values=(*TYPES, *(f"not-{each}" for each in TYPES if each != "assert-set")),
    ),
    Key("value", "What is expected; {{ variables }} of the row are put in.", ("any",)),
    Key("threshold", "The score or measure from which it holds.", ("number",)),
    Key("weight", "Its part in the score; 0 only measures.", ("number",)),
    Key("metric", "A name under which results are added up."),
    Key("provider", "Which model judges, or makes the embeddings.", ("text", "mapping")),
    Key("rubricPrompt", "The judge's own prompt: file://judge.prompty."),
    Key("transform", "JavaScript that changes `output` first."),
    Key("config", "What code gets as `context.config`.", ("mapping",)),
    Key("assert", "The assertions of a set.", ("list",), shape="assertion", container="list"),
    Key("$ref", "An assertion of `assertionTemplates`."),
)
_OPTIONS = (
    Key("repeat", "How often each row is asked.", ("integer",)),
    Key("maxConcurrency", "At most so many requests at once.", ("integer",)),
    Key("timeoutMs", "How long one cell may take.", ("integer",)),
    Key("maxEvalTimeMs", "How long all may take; then it pauses.", ("integer",)),
    Key("delay", "Milliseconds between cells, one at a time.", ("integer",)),
    Key("cache", "Whether equal requests are taken from earlier results.", ("boolean",)),
)
_GATES = (
    Key("pass_rate", "Least share of cells that pass.", ("number",)),
    Key("row_pass_rate", "Least share of rows that pass.", ("number",)),
    Key(
        "pass_hat",
        "Least share of rows of which k repeats pass: {k: 4, at_least: 0.7}.",
        ("mapping",),
        shape="pass_hat",
    ),
    Key("lost_rows", "Most rows that the baseline passes and this does not.", ("integer",)),
    Key("p_value", "Losses count only below this probability of chance.", ("number",)),
    Key("cost", "Most dollars.", ("number",)),
    Key("p95_ms", "Most milliseconds of 95 % of the cells.", ("number",)),
    Key(
        "slices",
        "Gates of rows with a tag or a fact.",
        ("mapping",),
        shape="gates",
        container="named",
    ),
)
SHAPES: Mapping[str, tuple[Key, ...]] = MappingProxyType(
    {
        "root": _ROOT,
        "prompt": _PROMPT,
        "provider": _PROVIDER,
        "variant": _VARIANT,
        "pair": (Key("prompt", "Label of a prompt."), Key("provider", "Label of a provider.")),
        "case": _CASE,
        "case_options": (
            Key("disableDefaultAsserts", "Leave out those of defaultTest.", ("boolean",)),
            Key("provider", "Which model judges.", ("text", "mapping")),
            Key("prefix", "Stands before the prompt."),
            Key("suffix", "Stands after the prompt."),
            Key("transform", "JavaScript that changes `output` before it is marked."),
        ),
        "scenario": (
            Key(
                "config",
                "Values and assertions, one after another.",
                ("list",),
                shape="case",
                container="list",
            ),
            Key("tests", "Tests of each of them.", ("list",), shape="case", container="list"),
        ),
        "assertion": _ASSERTION,
        "options": _OPTIONS,
        "gates": _GATES,
        "pass_hat": (
            Key("k", "How many repeats.", ("integer",)),
            Key("at_least", "The share of rows.", ("number",)),
        ),
        "budget": (
            Key("cost", "Dollars.", ("number",)),
            Key("tokens", "Tokens.", ("integer",)),
            Key("minutes", "Minutes.", ("number",)),
        ),
    }
)
"""Every mapping of an experiment file with its keys."""


def key_names(shape: str) -> tuple[str, ...]:
    """The keys of a mapping, by the name of its shape."""
    return tuple(key.name for key in SHAPES[shape])


def main(arguments: list[str]) -> int:
    """Write the schema to the named file, or to `resources/schema/experiment.schema.json`."""
    from studio.core.resource_files import resource

    target = Path(arguments[0]) if arguments else resource("schema", "experiment.schema.json")
    text = json.dumps(json_schema(SHAPES, "An experiment"), indent=2, ensure_ascii=False)
    target.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
