"""The content of an experiment file: variants, rows and assertions, each with its place."""

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
"""Which runs stay viewable: of all cells, of cells that did not pass, of none."""

PassRule: TypeAlias = Literal["all", "any", "mean"] | float
"""Rule by which repeats decide a row: all pass, one passes, the mean score, or a share of them."""


@dataclass(frozen=True, slots=True)
class AssertionSpec:
    """One assertion of the file."""

    type: str
    """Type without `not-`, or `assert-set`."""

    negated: bool = False
    """Whether `not-` precedes the type."""

    value: Json = None
    """Expected value; a text can contain `{{ variables }}` of the row."""

    threshold: float | None = None
    """Minimum score, or limit of the measured value, to pass."""

    weight: float = 1.0
    """Weight in the score of the cell; 0 leaves it out of the verdict."""

    metric: str = ""
    """Name of the metric that it counts toward; empty for none."""

    provider: Json = None
    """Connection or model of the judge, if it needs one."""

    rubric: Json = None
    """The judge's own prompt (`rubricPrompt`)."""

    transform: str = ""
    """JavaScript of `output` that changes the answer first, or file://code.js:function."""

    config: JsonObject = field(default_factory=dict)
    """Further settings of the assertion."""

    nested: tuple[AssertionSpec, ...] = ()
    """The assertions of a set."""

    span: Span = _NOWHERE
    """Place in the file."""

    @property
    def label(self) -> str:
        """The assertion as shown to the user: `not-contains "Paris"`."""
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
    """The prompt as written: a path, or the text itself."""

    label: str
    """Name for the user, from which variants are named."""

    text: str | None = None
    """An inline prompt; None for a file."""

    revision: str = ""
    """Git revision of the file (`x.prompty@HEAD~3`); empty for the working tree."""

    edit: Mapping[str, str] = field(default_factory=dict)
    """Replaced sections, by title or `role#number`: a text or `file://…`."""

    protocol: str = ""
    """The loop's protocol; empty for the prompt's own."""

    config: JsonObject = field(default_factory=dict)
    """Model options, which override those of its provider."""

    span: Span = _NOWHERE
    """Place in the file."""

    @property
    def is_prompty(self) -> bool:
        """Whether it is a prompt file of the studio instead of a text."""
        return self.text is None and self.id.endswith(".prompty")


@dataclass(frozen=True, slots=True)
class ProviderEntry:
    """A model that answers, with its settings."""

    id: str
    """Name of a connection, or `provider:model`; empty for the prompt's own model."""

    label: str = ""
    """Name for the user."""

    config: JsonObject = field(default_factory=dict)
    """Model options, which override the prompt's."""

    span: Span = _NOWHERE
    """Place in the file."""

    delay_ms: int = 0
    """Delay before each of its cells in milliseconds; 0 for the file's setting."""


@dataclass(frozen=True, slots=True)
class VariantEntry:
    """One variant (column) of the experiment: a prompt with a model."""

    name: str
    """Name, unique in the experiment."""

    prompt: PromptEntry
    """Prompt to send."""

    provider: ProviderEntry
    """Provider that answers."""


@dataclass(frozen=True, slots=True)
class DatasetReference:
    """A reference to a file of rows."""

    path: str
    """Path relative to the experiment file."""

    take: int | None = None
    """Number of rows to draw; None for all."""

    seed: int = 0
    """Seed of the draw."""

    where: str = ""
    """Condition on the columns of a row; empty for all rows."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Targets by column: `{question: vars.q, answer: expected}`."""

    span: Span = _NOWHERE
    """Place in the file."""


@dataclass(frozen=True, slots=True)
class FileReference:
    """A file, or several, named in an experiment."""

    path: str
    """Path relative to the experiment file; a pattern if it contains `*`."""

    span: Span = _NOWHERE
    """Place in the file."""


@dataclass(frozen=True, slots=True)
class ExperimentCase:
    """A case of the file or a dataset, before defaults are added."""

    variables: JsonObject = field(default_factory=dict)
    """Values by input name."""

    files: tuple[FileReference, ...] = ()
    """Files with further values; the later file wins."""

    assertions: tuple[AssertionSpec, ...] = ()
    """Assertions on the answer."""

    id: str = ""
    """Name; empty for the hash of the variables."""

    description: str = ""
    """Description for the user."""

    tags: tuple[str, ...] = ()
    """Tags for filters and slices."""

    metadata: JsonObject = field(default_factory=dict)
    """Metadata for filters and slices."""

    threshold: float | None = None
    """Minimum score to pass; None requires every assertion to pass."""

    expected: str | None = None
    """The expected answer, for `{{ expected }}` in assertions."""

    stated: JsonObject = field(default_factory=dict)
    """Texts of a table's `__expected…` columns; `assertions` contains them as assertions."""

    options: JsonObject = field(default_factory=dict)
    """`disableDefaultAsserts`, `disableVarExpansion`, `prefix`, `suffix`."""

    prompts: tuple[str, ...] | None = None
    """Labels or ids of the prompts to which it applies; None for all."""

    providers: tuple[str, ...] | None = None
    """Labels or ids of the providers to which it applies; None for all."""

    file: str = ""
    """Path of the dataset that contains it; empty for the experiment file."""

    line: int = 0
    """Line in that file, from 1."""


@dataclass(frozen=True, slots=True)
class ExperimentRow:
    """One row: a case with all defaults, its lists spread."""

    key: str
    """Key, unique in the experiment and equal in later results of the same case."""

    case: ExperimentCase
    """Values and assertions, including defaults."""

    number: int
    """Number of the row, from 1."""


@dataclass(frozen=True, slots=True)
class Gates:
    """The conditions on the whole result."""

    pass_rate: float | None = None
    """Minimum share of cells that pass, for each variant except the baseline."""

    row_pass_rate: float | None = None
    """Minimum share of rows that pass."""

    pass_hat: tuple[int, float] | None = None
    """(k, minimum): share of rows of which k repeats would all pass."""

    lost_rows: int | None = None
    """Maximum number of rows that the baseline passes and a variant fails."""

    p_value: float | None = None
    """P-value below which a variant worse than the baseline fails."""

    cost: float | None = None
    """Maximum cost in US dollars."""

    p95_ms: float | None = None
    """Maximum 95th percentile of the time of a cell, in milliseconds."""

    slices: Mapping[str, Gates] = field(default_factory=dict)
    """Gates of each value of a tag group or metadata key."""

    @property
    def is_empty(self) -> bool:
        """Whether there is no condition."""
        return self == Gates()


@dataclass(frozen=True, slots=True)
class ExperimentBudget:
    """The budget at which an experiment pauses."""

    cost: float | None = None
    """Cost in US dollars."""

    tokens: int | None = None
    """Number of input and output tokens."""

    minutes: float | None = None
    """Minutes since the start."""


MOST_REPEATS = 10_000
"""Maximum number of repeats."""


@dataclass(frozen=True, slots=True)
class EvaluateOptions:
    """The options for running the cells."""

    repeat: int = 1
    """Number of repeats of each row."""

    concurrency: int | None = None
    """Maximum number of cells at once; None to adapt it to the server."""

    timeout_ms: int | None = None
    """Maximum time of one cell, in milliseconds."""

    minutes: float | None = None
    """Maximum time of the whole experiment, in minutes (`maxEvalTimeMs`)."""

    delay_ms: int = 0
    """Delay before each cell, in milliseconds."""

    cache: bool = True
    """Whether answers are copied from earlier results."""


@dataclass(frozen=True)
class ExperimentFile:
    """The content of an experiment file. Exists for any text; faults are in `problems`."""

    source: SourceText
    """The whole text."""

    description: str = ""
    """Description for the user."""

    tags: tuple[str, ...] = ()
    """Tags for lists."""

    variants: tuple[VariantEntry, ...] = ()
    """The variants (columns)."""

    cases: tuple[ExperimentCase | DatasetReference | Literal["samples"], ...] = ()
    """The rows, in order; datasets are read when the experiment is planned."""

    default: ExperimentCase = field(default_factory=ExperimentCase)
    """Defaults for every case."""

    default_file: FileReference | None = None
    """File that contains the defaults; None if they are in the experiment."""

    options: EvaluateOptions = field(default_factory=EvaluateOptions)
    """Options for running the cells."""

    pass_rule: PassRule = "mean"
    """Rule by which repeats decide a row."""

    baseline: str = ""
    """Name of a variant, or an earlier result."""

    gates: Gates = field(default_factory=Gates)
    """Conditions that decide the verdict."""

    budget: ExperimentBudget = field(default_factory=ExperimentBudget)
    """Budget at which the experiment pauses."""

    keep: KeepRule = "all"
    """Which runs stay viewable."""

    mocks: JsonObject = field(default_factory=dict)
    """Mocked results of tools, by tool."""

    problems: tuple[Problem, ...] = ()
    """Problems, in source order."""

    @property
    def path(self) -> Path | None:
        """Path of the file."""
        return self.source.path

    @property
    def name(self) -> str:
        """Name for the user: the file's name without suffixes."""
        if self.path is None:
            return self.description or "experiment"
        return self.path.name.removesuffix(".yaml").removesuffix(".yml").removesuffix(".experiment")


# The identity of a cell: a hash of everything that affects its answer, and the repeat.


@dataclass(frozen=True, slots=True)
class SentCell:
    """The request of a cell, without its repeat."""

    body: JsonObject
    """Body of the first request, with model and options."""

    endpoint: str
    """Address of the request, without a key."""

    protocol: str
    """Protocol by which replies are read."""

    tools: tuple[JsonObject, ...] = ()
    """Definitions of the tools."""

    sources: str = ""
    """Hash of the files that run the tools, and of their mocks."""

    limits: tuple[float | None, ...] = ()
    """Limits of the run."""

    later: str = ""
    """Template and values of later steps, if they are rendered again."""

    rules: JsonObject = field(default_factory=dict)
    """Other rules of the run: whether tools that need approval are allowed."""

    asked_body: JsonObject = field(default_factory=dict)
    """Body including the options that the server is known to reject."""

    refused: tuple[RefusedOption, ...] = ()
    """The rejected options."""


def cell_identity(sent: SentCell, repeat: int) -> bytes:
    """Return the identity of one repeat, 32 bytes."""
    return next(iter(cell_identities(sent, (repeat,))))


def cell_identities(sent: SentCell, repeats: Iterable[int]) -> Iterator[bytes]:
    """Yield the identities of repeats; their common part is hashed once."""
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
