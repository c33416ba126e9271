"""A parsed prompt file: every value with the place it was written at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.source import SourceText, Span
from studio.core.text.values import Json, JsonObject

Dialect: TypeAlias = Literal["prompty", "section", "legacy"]
"""Rule set of the file (docs/design/file-format.md)."""

TemplateFormat: TypeAlias = Literal["jinja2", "mustache", "fstring"]
"""Template language of the body."""

InputKind: TypeAlias = Literal[
    "string",
    "integer",
    "float",
    "boolean",
    "array",
    "object",
    "union",
    "thread",
    "image",
    "file",
    "audio",
]
"""Kinds of Prompty 2 §2.4; legacy `number` reads as `float`."""

TEXT_KINDS = ("string", "image", "file", "audio")
"""Kinds whose values are texts; values of the others are JSON."""


@dataclass(frozen=True, slots=True)
class InputDeclaration:
    """One declared input, or a property of one."""

    name: str
    """Name as the template uses it."""

    kind: str = "string"
    """An `InputKind`; any other word is kept as written and reported."""

    description: str = ""
    """For people."""

    required: bool = False
    """Whether a run without a value is an error."""

    default: Json = None
    """Value used if none is given (`has_default` tells null from absent)."""

    has_default: bool = False
    """Whether a default is declared."""

    sample: Json = None
    """Value for previews: `sample`, else `example`; never used in a run that exports or counts."""

    has_sample: bool = False
    """Whether a sample is declared."""

    enum: tuple[Json, ...] = ()
    """The values allowed, where limited."""

    properties: tuple[InputDeclaration, ...] = ()
    """Properties of an object."""

    items: InputDeclaration | None = None
    """The item of an array."""

    variants: tuple[InputDeclaration, ...] = ()
    """The `oneOf` or `anyOf` of a union."""

    nullable: bool = False
    """Whether null is a value."""

    span: Span | None = None
    """The whole declaration."""

    name_span: Span | None = None
    """The name itself; F2 renames it."""


@dataclass(frozen=True, slots=True)
class ModelDeclaration:
    """The `model:` block, references unresolved."""

    id: str = ""
    """Model id."""

    provider: str = ""
    """Provider: `openai`, `azure`, `anthropic`, …; empty if absent."""

    api_type: str = "chat"
    """`chat`, `responses`, `embedding`, `image`."""

    connection: JsonObject = field(default_factory=dict)
    """The connection block as written."""

    options: JsonObject = field(default_factory=dict)
    """Sampling options in Prompty 2 names."""

    span: Span | None = None
    """The block."""

    type: str = ""
    """Prompty 1's connection type as the file has it; empty in Prompty 2."""

    @property
    def written(self) -> str:
        """Return the provider in the file's own word."""
        return self.type or self.provider


@dataclass(frozen=True, slots=True)
class TemplateDeclaration:
    """Which template language and which rule set the body follows."""

    format: TemplateFormat = "jinja2"
    """Template language."""

    parser: str = ""
    """Value of `template.parser.kind` as written; empty if absent."""

    strict: bool = True
    """True: a role marker counts only where it is literal template text."""

    span: Span | None = None
    """The block."""


@dataclass(frozen=True, slots=True)
class BodySection:
    """A section of the body before rendering, for the outline, folding and highlighting."""

    role: str
    """The word of the marker (`system`, `tools`, `thread`, …); empty for text before the first."""

    marker: Span | None
    """The marker line without its line end."""

    span: Span
    """Marker and content."""

    content: Span
    """Content only."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A use of a variable in a template expression."""

    name: str
    """Root name (`user` in `{{ user.name }}`)."""

    span: Span
    """The root name itself."""

    expression: Span
    """The whole `{{ … }}` or `{% … %}`."""

    certain: bool = True
    """False where the name may belong to the items of a mustache section instead of an input."""


EACH = "*"
"""In the path of a field: each item of a list."""

LOOP = "for loop"
"""In the path of a field, as its root: `loop` inside a `for`."""


MOST_PARTS = 32
"""Parts of a path that checks follow; a template may go deeper and is rendered all the same."""


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A field that a template reads of a value: `sku` in `{{ item.sku }}`."""

    path: tuple[str, ...]
    """From the root name to the field, through loops: `("items", "*", "sku")`."""

    span: Span
    """The field's name as it is written."""

    expression: Span
    """The whole `{{ … }}` or `{% … %}`."""

    is_guarded: bool = False
    """Whether the template says what happens without it: a condition, `default`, `is defined`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name that `${params:name}` takes (seed: "Replacement Constructs").

    An input of the same name is the same value.
    """

    name: str
    """The name, without blanks around it."""

    kind: str = "string"
    """Kind of the declared input of that name; else what the key wants whose value it is."""

    uses: tuple[Span, ...] = ()
    """The whole references, in source order."""

    names: tuple[Span, ...] = ()
    """The name inside each of them; F2 renames it."""


@dataclass(frozen=True, slots=True)
class FrontMatterEntry:
    """A front-matter key with its place: a node of the outline and of hover."""

    path: tuple[str | int, ...]
    """Keys from the root (`("inputs", "city", "kind")`); list items by index."""

    key: Span
    """The key itself (for a list item, its first character)."""

    value: Span
    """The value as written; empty at the key's end for an empty value."""


@dataclass(frozen=True)
class PromptDocument:
    """Everything a prompt file says. Made by `studio.core.prompty.parse.parse`, for any text."""

    source: SourceText
    """The text, whole."""

    dialect: Dialect = "section"
    """Rule set."""

    dialect_reason: str = ""
    """Reason why this one, for the status bar."""

    front_matter: Span | None = None
    """The YAML between the delimiters; None where there is none."""

    body: Span = field(default=Span(0, 0))
    """The body."""

    data: JsonObject = field(default_factory=dict)
    """The front matter as plain values, unresolved, unknown keys kept; empty when unreadable."""

    entries: tuple[FrontMatterEntry, ...] = ()
    """Every key with its place, in source order."""

    name: str = ""
    """`name`."""

    description: str = ""
    """`description`."""

    model: ModelDeclaration = field(default_factory=ModelDeclaration)
    """`model`."""

    inputs: tuple[InputDeclaration, ...] = ()
    """`inputs`, in order."""

    outputs: tuple[InputDeclaration, ...] = ()
    """`outputs`, in order."""

    tools: tuple[ToolSpec, ...] = ()
    """Front-matter tools that could be read."""

    template: TemplateDeclaration = field(default_factory=TemplateDeclaration)
    """`template`."""

    metadata: JsonObject = field(default_factory=dict)
    """`metadata`."""

    sections: tuple[BodySection, ...] = ()
    """The body's sections before rendering."""

    variables: tuple[Variable, ...] = ()
    """Every use of a variable that the template itself does not define, in source order."""

    fields: tuple[FieldUse, ...] = ()
    """Every use of a field of an input, or of what a run supplies, in source order."""

    parameters: tuple[Parameter, ...] = ()
    """Every name that a `${params:…}` takes, in order of the first use; declared inputs among
    them."""

    problems: tuple[Problem, ...] = ()
    """Problems, in source order."""

    is_experiment: bool = False
    """Whether the file is an experiment, whose entries and problems are here."""

    agent_file: str = ""
    """Which file of coding agents it is (`AgentFileKind`); empty for a prompt."""

    @property
    def is_prompt(self) -> bool:
        """Whether it can be previewed and run."""
        is_other = self.is_tool_file or self.is_data_file or self.is_experiment
        return not (is_other or self.agent_file)

    @property
    def is_data_file(self) -> bool:
        """Whether it is a file of values, as `${file:}` names them, by its ending."""
        path = self.source.path
        is_data = path is not None and path.suffix.lower() in _DATA_SUFFIXES
        return is_data and self.front_matter is None

    @property
    def is_tool_file(self) -> bool:
        """Whether it is not a prompt but a Python file, whose functions are tools."""
        return self.source.path is not None and self.source.path.suffix == ".py"

    def input(self, name: str) -> InputDeclaration | None:
        """The declared input of that name."""
        return next((item for item in self.inputs if item.name == name), None)

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((item for item in self.parameters if item.name == name), None)

    def entry(self, *path: str | int) -> FrontMatterEntry | None:
        """The front-matter entry at a path of keys."""
        return next((item for item in self.entries if item.path == path), None)


ResolvedInputs: TypeAlias = Mapping[str, Json]
"""Values by input name, defaults filled in."""


_DATA_SUFFIXES = frozenset((".csv", ".json", ".jsonl", ".toml", ".tsv", ".yaml", ".yml"))
"""Endings of files that are prompts only if they have front matter."""

_OF_READING = ("yaml-", "duplicate-key", "front-matter-", "file-too-large", "foreign-format")
"""Beginnings of the codes of problems that the readers of YAML, front matter and files report."""


def hides_text(problem: Problem) -> bool:
    """Return whether a part of the file was not read, so that its author's meaning is unknown."""
    return problem.severity is Severity.ERROR and problem.code.startswith(_OF_READING)


def first_unreadable(document: PromptDocument) -> Problem | None:
    """Return the first problem that hides a part of a file; None for a file that was read whole."""
    return next(filter(hides_text, document.problems), None)
