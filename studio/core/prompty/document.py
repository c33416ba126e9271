"""A parsed prompt file: its values with their spans, its messages and its tools."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from studio.core.prompty.evaluation import FAILURES
from studio.core.text.source import Problem, Severity, SourceText, Span
from studio.core.text.values import Json, JsonObject, KeyPath

# The description of a tool, for the model and the user.

ToolKind: TypeAlias = Literal["function", "mcp", "openapi", "custom"]
"""Kind of tool declaration."""


@dataclass(frozen=True, slots=True)
class ToolId:
    """The id of a tool: its source, and its name there. Two sources may use the same name."""

    source: str = ""
    """Key of the source that runs it ("mcp:weather"); empty if none does."""

    name: str = ""
    """Name at that source, which providers may reject."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as described to the model."""

    name: str
    """Name by which the model calls it; unique in a run."""

    description: str = ""
    """Description of the tool, for the model."""

    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of the arguments, always of an object, without bound parameters."""

    kind: ToolKind = "function"
    """Kind of the declaration."""

    source: str = "document"
    """Source of the tool, for the user: "document", "tools.py", "mcp: weather"."""

    strict: bool = False
    """Whether the provider is asked to enforce the schema."""

    bindings: Mapping[str, str] = field(default_factory=dict)
    """Name of the input whose value is inserted at the call, by parameter name."""

    has_effects: bool = False
    """Whether calling it has external effects; such calls are never repeated automatically."""

    reads_only: bool = False
    """Whether its author declares that it has no effects. A tool without a declaration is unknown,
    and needs approval the first time.
    """

    dynamic: bool = False
    """Whether an input's value is part of the declaration; such a tool needs approval."""

    options: JsonObject = field(default_factory=dict)
    """Settings from the document for the program that runs it; not sent to a model."""

    returns: JsonObject = field(default_factory=dict)
    """JSON schema of the result, if its source has one; else empty."""

    instructions: str = ""
    """Instructions of its server for all its tools, for the template's `server_instructions`."""

    span: Span | None = None
    """Span of the declaration in the document."""

    id: ToolId = ToolId()
    """Id of the tool; empty for a declaration that nothing runs."""


MOST_EXAMPLES = 8
"""Maximum number of tools with an example; more would dominate the prompt."""

_DEEPEST = 4
_BY_TYPE: JsonObject = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}


def example_actions(tools: Sequence[ToolSpec]) -> str:
    """Return one fenced JSON action for each tool; empty without tools."""
    if not tools:
        return ""
    blocks = ["## Examples of actions"]
    for tool in tools[:MOST_EXAMPLES]:
        action: Json = {"action": tool.name, "action_input": example_of(tool.parameters) or None}
        blocks.append(f"```json\n{json.dumps(action, ensure_ascii=False, indent=4)}\n```")
    return "\n".join(blocks)


def example_of(schema: Json, depth: int = 0) -> Json:
    """Return a value that fits a JSON schema: its example or default, else one of its type."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    listed: Json
    for key in ("examples", "enum"):
        listed = schema.get(key)
        if isinstance(listed, list) and listed:
            first: Json = listed[0]
            return first
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            given: Json = schema[key]
            return given
    for key in ("anyOf", "oneOf"):
        forms = schema.get(key)
        if isinstance(forms, list) and forms:
            return example_of(forms[0], depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    properties = schema.get("properties")
    if kind == "object" or isinstance(properties, Mapping):
        return _object(schema, properties, depth)
    if kind == "array":
        item = example_of(schema.get("items"), depth + 1)
        return [] if item is None else [item]
    return _BY_TYPE.get(kind, "text") if isinstance(kind, str) else "text"


def _object(schema: JsonObject, properties: Json, depth: int) -> Json:
    """Return the required properties; without any, the first property as an example."""
    if not isinstance(properties, Mapping):
        return {}
    required = schema.get("required")
    names = [name for name in properties if isinstance(required, list) and name in required]
    return {name: example_of(properties[name], depth + 1) for name in names or list(properties)[:1]}


Dialect: TypeAlias = Literal["prompty", "section", "legacy"]
"""Dialect of the file (docs/design/file-format.md)."""

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
"""Kinds of Prompty 2 §2.4; legacy `number` means `float`."""

TEXT_KINDS = ("string", "image", "file", "audio")
"""Kinds whose values are texts; values of other kinds are JSON."""


@dataclass(frozen=True, slots=True)
class InputDeclaration:
    """A declared input, or a property of one."""

    name: str
    """Name used by the template."""

    kind: str = "string"
    """Kind, an `InputKind`; any other word is kept as written and reported."""

    description: str = ""
    """Description for the user."""

    required: bool = False
    """Whether a value is required."""

    default: Json = None
    """Value if none is given (`has_default` distinguishes null from none)."""

    has_default: bool = False
    """Whether a default is declared."""

    sample: Json = None
    """Value for previews: `sample`, else `example`; never used in a run that exports or counts."""

    has_sample: bool = False
    """Whether a sample is declared."""

    enum: tuple[Json, ...] = ()
    """Allowed values; empty for any."""

    properties: tuple[InputDeclaration, ...] = ()
    """Properties of an object."""

    items: InputDeclaration | None = None
    """Declaration of an array's items."""

    variants: tuple[InputDeclaration, ...] = ()
    """Variants of a union, from `oneOf` or `anyOf`."""

    nullable: bool = False
    """Whether null is allowed."""

    span: Span | None = None
    """Span of the whole declaration."""

    name_span: Span | None = None
    """Span of the name, which F2 renames."""


@dataclass(frozen=True, slots=True)
class ModelDeclaration:
    """The `model:` block, with unresolved references."""

    id: str = ""
    """Model id."""

    provider: str = ""
    """Provider: `openai`, `azure`, `anthropic`, …; empty if missing."""

    api_type: str = "chat"
    """API: `chat`, `responses`, `embedding`, `image`."""

    connection: JsonObject = field(default_factory=dict)
    """The connection block as written."""

    options: JsonObject = field(default_factory=dict)
    """Sampling options under Prompty 2's names."""

    span: Span | None = None
    """Span of the block."""

    type: str = ""
    """Prompty 1's connection type as written; empty in Prompty 2."""

    @property
    def written(self) -> str:
        """The provider as written in the file."""
        return self.type or self.provider


@dataclass(frozen=True, slots=True)
class TemplateDeclaration:
    """The template language and the parser of the body."""

    format: TemplateFormat = "jinja2"
    """Template language."""

    parser: str = ""
    """Value of `template.parser.kind` as written; empty if missing."""

    strict: bool = True
    """Whether a role marker counts only if it is literal text of the template."""

    span: Span | None = None
    """Span of the block."""


@dataclass(frozen=True, slots=True)
class BodySection:
    """A section of the unrendered body, for outline, folding and highlighting."""

    role: str
    """Word of the marker (`system`, `tools`, `thread`, …); empty for text before the first."""

    marker: Span | None
    """Span of the marker line, without line break."""

    span: Span
    """Span of marker and content."""

    content: Span
    """Span of the content."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A use of a variable in a template expression."""

    name: str
    """Root name (`user` in `{{ user.name }}`)."""

    span: Span
    """Span of the root name."""

    expression: Span
    """Span of the whole `{{ … }}` or `{% … %}`."""

    certain: bool = True
    """False if the name may belong to the items of a mustache section instead of an input."""


EACH = "*"
"""In the path of a field: any item of a list."""

LOOP = "for loop"
"""Root of a field's path: `loop` inside a `for`."""


MOST_PARTS = 32
"""Maximum length of paths that checks follow; deeper templates are still rendered."""


@dataclass(frozen=True, slots=True)
class FieldUse:
    """A use of a field in a template: `sku` in `{{ item.sku }}`."""

    path: tuple[str, ...]
    """Path from the root name to the field, through loops: `("items", "*", "sku")`."""

    span: Span
    """Span of the field's name."""

    expression: Span
    """Span of the whole `{{ … }}` or `{% … %}`."""

    is_guarded: bool = False
    """Whether the template handles a missing field: a condition, `default`, `is defined`."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A name used in `${params:name}` (seed: "Replacement Constructs").

    An input with the same name is the same value.
    """

    name: str
    """Name, stripped."""

    kind: str = "string"
    """Kind of the declared input with that name; else the kind that its key needs."""

    uses: tuple[Span, ...] = ()
    """Spans of the whole references, in source order."""

    names: tuple[Span, ...] = ()
    """Spans of the names in them, which F2 renames."""


@dataclass(frozen=True, slots=True)
class FrontMatterEntry:
    """A front-matter key with its span: a node of the outline and of hover."""

    path: KeyPath
    """Keys from the root (`("inputs", "city", "kind")`); indices of list items."""

    key: Span
    """Span of the key (for a list item, its first character)."""

    value: Span
    """Span of the value as written; empty at the key's end for an empty value."""


@dataclass(frozen=True)
class PromptDocument:
    """The content of a prompt file. `studio.core.prompty.parse.parse` creates it for any text."""

    source: SourceText
    """The whole text."""

    dialect: Dialect = "section"
    """Dialect of the file."""

    dialect_reason: str = ""
    """Reason for the dialect, for the status bar."""

    front_matter: Span | None = None
    """Span of the YAML between the delimiters; None without front matter."""

    body: Span = field(default=Span(0, 0))
    """Span of the body."""

    data: JsonObject = field(default_factory=dict)
    """The front matter as plain values with references unresolved and unknown keys kept; empty if
    it is unreadable.
    """

    entries: tuple[FrontMatterEntry, ...] = ()
    """Every key with its span, in source order."""

    name: str = ""
    """Value of `name`."""

    description: str = ""
    """Value of `description`."""

    model: ModelDeclaration = field(default_factory=ModelDeclaration)
    """The `model` block."""

    inputs: tuple[InputDeclaration, ...] = ()
    """Declarations of `inputs`, in order."""

    outputs: tuple[InputDeclaration, ...] = ()
    """Declarations of `outputs`, in order."""

    tools: tuple[ToolSpec, ...] = ()
    """Readable tools of the front matter."""

    template: TemplateDeclaration = field(default_factory=TemplateDeclaration)
    """The `template` block."""

    metadata: JsonObject = field(default_factory=dict)
    """Value of `metadata`."""

    sections: tuple[BodySection, ...] = ()
    """Sections of the unrendered body."""

    variables: tuple[Variable, ...] = ()
    """Uses of variables that the template does not define itself, in source order."""

    fields: tuple[FieldUse, ...] = ()
    """Uses of fields of inputs and of a run's variables, in source order."""

    parameters: tuple[Parameter, ...] = ()
    """Names in `${params:…}`, in order of their first use, including declared inputs."""

    problems: tuple[Problem, ...] = ()
    """Problems, in source order."""

    is_experiment: bool = False
    """Whether the file is an experiment, whose entries and problems are stored here."""

    agent_file: str = ""
    """Kind of agent file (`AgentFileKind`); empty for a prompt."""

    @property
    def is_prompt(self) -> bool:
        """Whether it can be previewed and run."""
        is_other = self.is_tool_file or self.is_data_file or self.is_experiment
        return not (is_other or self.agent_file)

    @property
    def failure(self) -> Problem | None:
        """The problem of a text that is not read at all; None if it is read."""
        codes = (*FAILURES, "being-tried")
        return next((each for each in self.problems if each.code in codes), None)

    @property
    def is_data_file(self) -> bool:
        """Whether its suffix is that of a data file, as referenced by `${file:}`."""
        path = self.source.path
        is_data = path is not None and path.suffix.lower() in _DATA_SUFFIXES
        return is_data and self.front_matter is None

    @property
    def is_tool_file(self) -> bool:
        """Whether it is a Python file, whose functions are tools."""
        return self.source.path is not None and self.source.path.suffix == ".py"

    def input(self, name: str) -> InputDeclaration | None:
        """Return the declared input with that name; None if there is none."""
        return next((item for item in self.inputs if item.name == name), None)

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter with that name; None if there is none."""
        return next((item for item in self.parameters if item.name == name), None)

    def entry(self, *path: str | int) -> FrontMatterEntry | None:
        """Return the front-matter entry at a path of keys; None if there is none."""
        return next((item for item in self.entries if item.path == path), None)


ResolvedInputs: TypeAlias = JsonObject
"""Values by input name, including defaults."""


_DATA_SUFFIXES = frozenset((".csv", ".json", ".jsonl", ".toml", ".tsv", ".yaml", ".yml"))
"""Suffixes of files that are prompts only if they have front matter."""

_OF_READING = (
    "yaml-",
    "duplicate-key",
    "front-matter-",
    "file-too-large",
    "foreign-format",
    "being-tried",
    *FAILURES,
)
"""Prefixes of the codes of problems from the readers of YAML, front matter and files."""


def hides_text(problem: Problem) -> bool:
    """Return whether a part of the file was not read, so that its meaning is unknown."""
    return problem.severity is Severity.ERROR and problem.code.startswith(_OF_READING)


def first_unreadable(document: PromptDocument) -> Problem | None:
    """Return the first problem of an unread part; None for a file that was read completely."""
    return next(filter(hides_text, document.problems), None)


# Messages as values: the rendered template in segments, each with its origin.


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of rendered text with one origin."""

    kind: Literal["literal", "value", "rich"]
    """`literal`: the author's text. `value`: inserted by an expression. `rich`: a whole thread,
    image, file or audio input, with a placeholder as text.
    """

    text: str
    """The rendered text."""

    span: Span | None
    """Span of the template source: the literal text, or the whole `{{ … }}`."""

    input: str | None = None
    """For a value: root name of the input that it came from, if it has one."""

    value: Json = None
    """Value of a reference that is no text; `text` is its JSON."""


@dataclass(frozen=True)
class Rendering:
    """A rendered template: `text` joins the texts of the segments."""

    segments: tuple[Segment, ...]
    """Segments in order. Literal ones may be split anywhere; empty ones are omitted."""

    problems: tuple[Problem, ...] = ()
    """Problems of rendering (syntax, limits); the segments then contain the rendered part."""

    @cached_property
    def text(self) -> str:
        """The rendered text."""
        return "".join(segment.text for segment in self.segments)


Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Role of a message. The markers `function:` and `tool:` both mean `tool`."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """A text with its segments."""

    text: str
    """Text for the model."""

    segments: tuple[Segment, ...] = ()
    """Segments that make up `text`; empty if it comes from no template."""

    span: Span | None = None
    """Span in the source."""


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, file, recording or video, which is resolved when a request is built."""

    kind: Literal["image", "file", "audio", "video"]
    """Kind of media."""

    source: str
    """URL, data URI, or path as written (relative to the prompt's folder)."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Further attributes (`quality`, `detail`, `mediaType`, …)."""

    alt: str = ""
    """Alternative text; may be empty."""

    span: Span | None = None
    """Span in the source."""

    word: str = ""
    """The author's unknown word for its type (`type="hologram"`)."""

    input: str = ""
    """Input whose value it is; empty for media of the author or a thread."""


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call that the assistant requested."""

    id: str
    """Id, which the result repeats."""

    name: str
    """Name of the tool."""

    arguments: str
    """JSON text of the arguments, exactly as sent."""

    raw: JsonObject | None = None
    """The author's mapping if the call was written in the prompt (section dialect)."""

    span: Span | None = None
    """Span in the source."""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of a tool; the message's `tool_call_id` attribute names the call."""

    text: str
    """Observation for the model."""

    segments: tuple[Segment, ...] = ()
    """Segments of the text, as in `TextPart`."""

    span: Span | None = None
    """Span in the source."""


Part: TypeAlias = TextPart | MediaPart | ToolCallPart | ToolResultPart
"""All parts, a closed union: consumers use `match` and `assert_never`."""


@dataclass(frozen=True, slots=True)
class MessageOrigin:
    """The origin of a message."""

    source: Literal["template", "thread", "run", "implicit"]
    """`template`: a section of the body. `thread`: an item of the thread input. `run`: added by the
    agent loop. `implicit`: text without a marker before it.
    """

    span: Span | None = None
    """Span of the whole section in the source, including its marker."""

    marker: Span | None = None
    """Span of the role marker's line."""

    input: str = ""
    """Input with the thread, for an item of a thread."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    """Role of the message."""

    parts: tuple[Part, ...]
    """Content in order; empty for an empty section."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Further keys besides role and content (`name`, `tool_call_id`, any key of the author)."""

    origin: MessageOrigin = field(default=MessageOrigin("run"))
    """Origin of the message."""

    carried: tuple[JsonObject, ...] = ()
    """Data that the provider of a reply requires back: signed thinking, encrypted reasoning."""

    @property
    def text(self) -> str:
        """The joined texts of its text and result parts."""
        return "".join(
            part.text for part in self.parts if isinstance(part, TextPart | ToolResultPart)
        )


@dataclass(frozen=True, slots=True)
class HoistedTool:
    """A tool of the body's `tools:` section, with rendered values."""

    id: str
    """Id written by the author."""

    type: str
    """Type written by the author (`function`, `bing`, …)."""

    options: JsonObject
    """Options with rendered values."""

    span: Span | None = None
    """Span of its list item in the source."""

    dynamic_inputs: tuple[str, ...] = ()
    """Inputs whose values are part of it; such a tool needs approval."""

    reference: str = ""
    """Reference (`${file:…}`) that stands for the options and has no value here."""


@dataclass(frozen=True, slots=True)
class OpenThread:
    """A place for a thread that has no value yet: the program that runs the prompt provides it.

    The seed calls it a thread item in the messages collection ("Prompt section", "Thread").
    """

    index: int
    """Number of messages before it."""

    input: str
    """Input for the place."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Attributes of its marker."""

    span: Span | None = None
    """Span in the source."""


@dataclass(frozen=True, slots=True)
class PromptMessages:
    """The messages of one rendering."""

    messages: tuple[Message, ...]
    """Messages in order, with threads expanded."""

    tools: tuple[HoistedTool, ...] = ()
    """Tools of the body's `tools:` section."""

    problems: tuple[Problem, ...] = ()
    """Problems of reading, including injected markers."""

    threads: tuple[OpenThread, ...] = ()
    """Threads without a value, ordered by their places among the messages."""

    def items(self) -> Iterator[Message | OpenThread]:
        """Yield the messages with the open threads at their places."""
        waiting = list(self.threads)
        for index, message in enumerate(self.messages):
            while waiting and waiting[0].index <= index:
                yield waiting.pop(0)
            yield message
        yield from waiting


def named_messages(document: PromptDocument) -> Iterator[tuple[str, BodySection]]:
    """Yield the sections with a role, in order, each with its name."""
    counts: Counter[str] = Counter()
    for section in document.sections:
        if section.marker is not None and section.role in get_args(Role):
            counts[section.role] += 1
            yield f"{section.role} {counts[section.role]}", section
