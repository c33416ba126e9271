"""The contents of an experiment file: variants, rows and assertions, each with its place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from studio.core.text.amounts import one_line
from studio.core.text.source import Problem, SourceText, Span
from studio.core.text.values import Json, JsonObject
from studio.core.wire.reply import RefusedOption

_NOWHERE = Span(0, 0)

KeepRule: TypeAlias = Literal["all", "failed", "none"]
"""Whose runs stay openable: of all cells, of those that did not pass, of none."""

PassRule: TypeAlias = Literal["all", "any", "mean"] | float
"""Rule by which repeats make a row pass: each, one, the mean score, or a share of them."""


@dataclass(frozen=True, slots=True)
class AssertionSpec:
    """One assertion, as the file states it."""

    type: str
    """Its type without `not-`, or `assert-set`."""

    negated: bool = False
    """Whether `not-` precedes the type."""

    value: Json = None
    """Expected value; a text can contain `{{ variables }}` of the row."""

    threshold: float | None = None
    """The score, or the measure, from which it passes."""

    weight: float = 1.0
    """Its part in the score of the cell; 0 leaves it out of the verdict."""

    metric: str = ""
    """A name under which results are added up."""

    provider: Json = None
    """Which connection or model judges, where one does."""

    rubric: Json = None
    """The judge's own prompt (`rubricPrompt`)."""

    transform: str = ""
    """JavaScript of `output` that changes the answer first, or file://code.js:function."""

    config: JsonObject = field(default_factory=dict)
    """Settings of the assertion."""

    nested: tuple[AssertionSpec, ...] = ()
    """The assertions of a set."""

    span: Span = _NOWHERE
    """Place in the file."""

    @property
    def label(self) -> str:
        """The assertion as a user names it: `not-contains "Paris"`."""
        name = f"not-{self.type}" if self.negated else self.type
        if self.metric:
            return f"{self.metric} ({name})"
        if isinstance(self.value, str) and self.value:
            return f'{name} "{one_line(self.value, 60)}"'
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            return f"{name} {self.value:g}"
        return name


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A prompt of the experiment."""

    id: str
    """As it is written: a path, or the text itself."""

    label: str
    """Name for people; variants are named by it."""

    text: str | None = None
    """An inline prompt; None where it is a file."""

    revision: str = ""
    """Git revision of the file (`x.prompty@HEAD~3`); empty for the working tree."""

    edit: Mapping[str, str] = field(default_factory=dict)
    """Sections that are replaced, by title or `role#number`: a text or `file://…`."""

    protocol: str = ""
    """The loop's protocol, over the prompt's own."""

    config: JsonObject = field(default_factory=dict)
    """Model options, over those of its provider."""

    span: Span = _NOWHERE
    """Place in the file."""

    @property
    def is_prompty(self) -> bool:
        """Whether it is a prompt file of the studio, and no text."""
        return self.text is None and self.id.endswith(".prompty")


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A model that answers."""

    id: str
    """A connection's name, or `provider:model`; empty for what the prompt itself asks for."""

    label: str = ""
    """Name for people."""

    config: JsonObject = field(default_factory=dict)
    """Model options, over the prompt's own."""

    span: Span = _NOWHERE
    """Place in the file."""

    delay_ms: int = 0
    """Wait before each of its cells, in place of the file's; 0 for the file's."""


@dataclass(frozen=True, slots=True)
class VariantEntry:
    """One column of the experiment: a prompt with a model."""

    name: str
    """Unique in the experiment."""

    prompt: PromptEntry
    """Prompt to send."""

    provider: ProviderEntry
    """Provider that answers."""


@dataclass(frozen=True, slots=True)
class DatasetReference:
    """A file of rows."""

    path: str
    """Relative to the experiment file."""

    take: int | None = None
    """Number of rows to draw from it; None takes all."""

    seed: int = 0
    """Of the draw."""

    where: str = ""
    """A condition on the columns that rows must meet."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Columns by what they become: `{question: vars.q, answer: expected}`."""

    span: Span = _NOWHERE
    """Place in the file."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file, or several, that an experiment names."""

    path: str
    """Relative to the experiment file; with `*` a pattern."""

    span: Span = _NOWHERE
    """Place in the file."""


@dataclass(frozen=True, slots=True)
class ExperimentCase:
    """One case as written in the file or a dataset, before defaults are added."""

    variables: JsonObject = field(default_factory=dict)
    """Values by input name."""

    files: tuple[FileReference, ...] = ()
    """Files with more of them; of two that give one name the later counts."""

    assertions: tuple[AssertionSpec, ...] = ()
    """Assertions on the answer."""

    id: str = ""
    """Its name; empty takes the hash of the variables."""

    description: str = ""
    """For people."""

    tags: tuple[str, ...] = ()
    """For filters and slices."""

    metadata: JsonObject = field(default_factory=dict)
    """For filters and slices."""

    threshold: float | None = None
    """Minimum score to pass; None requires every assertion to pass."""

    expected: str | None = None
    """The expected answer, for `{{ expected }}` in assertions."""

    stated: JsonObject = field(default_factory=dict)
    """Texts of the columns `__expected…` of a table, by column; `assertions` has what they say."""

    options: JsonObject = field(default_factory=dict)
    """`disableDefaultAsserts`, `disableVarExpansion`, `prefix`, `suffix`."""

    prompts: tuple[str, ...] | None = None
    """Labels or ids of the prompts that it is for; None is for all."""

    providers: tuple[str, ...] | None = None
    """Labels or ids of the providers that it is for; None is for all."""

    file: str = ""
    """The dataset that it comes from; empty for the experiment file."""

    line: int = 0
    """Its line there, from 1."""


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One row: a case with everything that holds for it, its lists spread."""

    key: str
    """Unique in the experiment; the same in later results of the same case."""

    case: ExperimentCase
    """Its values and assertions, defaults included."""

    number: int
    """From 1."""


@dataclass(frozen=True, slots=True)
class Gates:
    """The conditions for the whole experiment."""

    pass_rate: float | None = None
    """Share of cells that pass, of each variant that is no baseline."""

    row_pass_rate: float | None = None
    """Share of rows that pass."""

    pass_hat: tuple[int, float] | None = None
    """(k, at least): share of rows of which k repeats would all pass."""

    lost_rows: int | None = None
    """Rows at most that the baseline passes and a variant does not."""

    p_value: float | None = None
    """A variant that is worse than the baseline fails below this."""

    cost: float | None = None
    """US dollars at most."""

    p95_ms: float | None = None
    """The 95th percentile of the time of a cell at most."""

    slices: Mapping[str, Gates] = field(default_factory=dict)
    """Gates of each value of a tag group or metadata key."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked for."""
        return self == Gates()


@dataclass(frozen=True, slots=True)
class ExperimentBudget:
    """The budget at which an experiment pauses."""

    cost: float | None = None
    """US dollars."""

    tokens: int | None = None
    """Input and output tokens."""

    minutes: float | None = None
    """Minutes of one start."""


MOST_REPEATS = 10_000
"""Maximum number of repeats."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """The options for running the cells."""

    repeat: int = 1
    """Number of times that each row is asked."""

    concurrency: int | None = None
    """Cells at once at most; None finds out."""

    timeout_ms: int | None = None
    """The longest time of one cell."""

    minutes: float | None = None
    """The longest time of the whole (`maxEvalTimeMs`)."""

    delay_ms: int = 0
    """Wait before each cell."""

    cache: bool = True
    """Whether cells that were answered before are taken from there."""


@dataclass(frozen=True)
class ExperimentFile:
    """Everything an experiment file says. Made for any text; what is wrong is in `problems`."""

    source: SourceText
    """The text, whole."""

    description: str = ""
    """For people."""

    tags: tuple[str, ...] = ()
    """For lists."""

    variants: tuple[VariantEntry, ...] = ()
    """The columns."""

    cases: tuple[ExperimentCase | DatasetReference | Literal["samples"], ...] = ()
    """The rows, in order; datasets are read when the experiment is planned."""

    default: ExperimentCase = field(default_factory=ExperimentCase)
    """Holds for every case."""

    default_file: FileReference | None = None
    """File that contains the defaults; None if they are in the experiment."""

    options: EvaluateOptions = field(default_factory=EvaluateOptions)
    """Options for running the cells."""

    pass_rule: PassRule = "mean"
    """Rule by which repeats make a row pass."""

    baseline: str = ""
    """A variant's name, or an earlier result."""

    gates: Gates = field(default_factory=Gates)
    """Conditions that decide the verdict."""

    budget: ExperimentBudget = field(default_factory=ExperimentBudget)
    """Budget of a run."""

    keep: KeepRule = "all"
    """Whose runs stay openable."""

    mocks: JsonObject = field(default_factory=dict)
    """Answers of tools, by tool."""

    problems: tuple[Problem, ...] = ()
    """Problems, in source order."""

    @property
    def path(self) -> Path | None:
        """The file."""
        return self.source.path

    @property
    def name(self) -> str:
        """Name for people: the file's, without its endings."""
        if self.path is None:
            return self.description or "experiment"
        return self.path.name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".experiment")


# The identity of a cell: over all that is sent and decides what comes back, and the repeat.


@dataclass(frozen=True, slots=True)
class SentCell:
    """The request of a cell, apart from its repeat."""

    body: JsonObject
    """The first request, with model and options as they are sent."""

    endpoint: str
    """Address of the request, without a key."""

    protocol: str
    """Protocol by which the loop reads replies."""

    tools: tuple[JsonObject, ...] = ()
    """Definitions of the tools."""

    sources: str = ""
    """Hash of the files that run the tools, and of the mocks that replace them."""

    limits: tuple[float | None, ...] = ()
    """Limits of the run."""

    later: str = ""
    """The template and values of later steps, where they are rendered again."""

    rules: JsonObject = field(default_factory=dict)
    """Other rules of the run: whether tools that ask are allowed."""

    asked_body: JsonObject = field(default_factory=dict)
    """The body with the options that the server is known to refuse."""

    refused: tuple[RefusedOption, ...] = ()
    """Those options."""


def cell_identity(sent: SentCell, repeat: int) -> bytes:
    """Return the identity of one repeat: 32 bytes."""
    return next(iter(cell_identities(sent, (repeat,))))


def cell_identities(sent: SentCell, repeats: Iterable[int]) -> Iterator[bytes]:
    """Yield the identities of repeats: all that they have in common is written once."""
    before = _json(
        {
            "body": sent.body,
            "endpoint": sent.endpoint,
            "later": sent.later,
            "limits": list(sent.limits),
            "protocol": sent.protocol,
        }
    )
    after = _json({"rules": sent.rules, "sources": sent.sources, "tools": list(sent.tools)})
    common = hashlib.sha256(before[:-1] + b',"repeat":')
    for repeat in repeats:
        whole = common.copy()
        whole.update(b"%d," % repeat + after[1:])
        yield whole.digest()


def _json(value: JsonObject) -> bytes:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "surrogatepass")
