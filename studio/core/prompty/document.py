"""A parsed prompt file: its values with their places, its messages and its tools."""

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
"""Kind of a tool's declaration."""


@dataclass(frozen=True, slots=True)
class ToolId:
    """Which tool this is: its source, and its name there. Two sources may use the same name."""

    source: str = ""
    """Key of the source that runs it ("mcp:weather"); empty where nothing does."""

    name: str = ""
    """Its name at that source, which providers may refuse."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is informed of it."""

    name: str
    """The name by which the model calls it; unique in a run."""

    description: str = ""
    """Description of the tool, for the model."""

    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of the arguments, always an object schema, bound parameters left out."""

    kind: ToolKind = "function"
    """Kind of the declaration."""

    source: str = "document"
    """Source of the tool, for people: "document", "tools.py", "mcp: weather"."""

    strict: bool = False
    """Whether the provider is asked to enforce the schema."""

    bindings: Mapping[str, str] = field(default_factory=dict)
    """Parameter name → name of the input whose value is put in at the call."""

    has_effects: bool = False
    """Whether calling it changes something outside; such calls are never repeated unasked."""

    reads_only: bool = False
    """Whether its author declares that calling it changes nothing. A tool without a declaration
    is unknown, and asks the first time."""

    dynamic: bool = False
    """Whether an input's value went into the declaration; such a tool asks for approval."""

    options: JsonObject = field(default_factory=dict)
    """Settings for the program that runs it, as in the document; not sent to a model."""

    returns: JsonObject = field(default_factory=dict)
    """JSON schema of the answer, where its source says one; empty otherwise."""

    instructions: str = ""
    """Instructions of its server for all its tools, for `server_instructions` of a template."""

    span: Span | None = None
    """Place of the declaration in the document."""

    id: ToolId = ToolId()
    """Which tool of which source it is; empty for a declaration that nothing runs."""


MOST_EXAMPLES = 8
"""Tools that get an example; more would crowd out the prompt."""

_DEEPEST = 4
_BY_TYPE: JsonObject = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}


def example_actions(tools: Sequence[ToolSpec]) -> str:
    """Return one fenced JSON action for each tool; empty where there are none."""
    if not tools:
        return ""
    blocks = ["## Examples of actions"]
    for tool in tools[:MOST_EXAMPLES]:
        action: Json = {"action": tool.name, "action_input": example_of(tool.parameters) or None}
        blocks.append(f"```json\n{json.dumps(action, ensure_ascii=False, indent=4)}\n```")
    return "\n".join(blocks)


def example_of(schema: Json, depth: int = 0) -> Json:
    """Return a value that fits a JSON schema: its own example or default, else one of its type."""
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
    """Return the required properties; where none is, the first one, so that the form is seen."""
    if not isinstance(properties, Mapping):
        return {}
    required = schema.get("required")
    names = [name for name in properties if isinstance(required, list) and name in required]
    return {name: example_of(properties[name], depth + 1) for name in names or list(properties)[:1]}


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

    path: KeyPath
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
        """Return the declared input of that name."""
        return next((item for item in self.inputs if item.name == name), None)

    def parameter(self, name: str) -> Parameter | None:
        """Return the parameter of that name."""
        return next((item for item in self.parameters if item.name == name), None)

    def entry(self, *path: str | int) -> FrontMatterEntry | None:
        """Return the front-matter entry at a path of keys."""
        return next((item for item in self.entries if item.path == path), None)


ResolvedInputs: TypeAlias = JsonObject
"""Values by input name, defaults filled in."""


_DATA_SUFFIXES = frozenset((".csv", ".json", ".jsonl", ".toml", ".tsv", ".yaml", ".yml"))
"""Endings of files that are prompts only if they have front matter."""

_OF_READING = (
    "yaml-",
    "duplicate-key",
    "front-matter-",
    "file-too-large",
    "foreign-format",
    "being-tried",
    *FAILURES,
)
"""Beginnings of the codes of problems that the readers of YAML, front matter and files report."""


def hides_text(problem: Problem) -> bool:
    """Return whether a part of the file was not read, so that its author's meaning is unknown."""
    return problem.severity is Severity.ERROR and problem.code.startswith(_OF_READING)


def first_unreadable(document: PromptDocument) -> Problem | None:
    """Return the first problem that hides a part of a file; None for a file that was read whole."""
    return next(filter(hides_text, document.problems), None)


# Messages as values: what a template rendered to, piece by piece, each with where it came from.


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of rendered text with one origin."""

    kind: Literal["literal", "value", "rich"]
    """`literal`: the author's own text. `value`: put in by an expression. `rich`: a whole thread,
    image, file or audio input, whose text here is only a placeholder."""

    text: str
    """The rendered text."""

    span: Span | None
    """The template source that made it: the literal text itself, or the whole `{{ … }}`."""

    input: str | None = None
    """For a value: the root name of the input that it came from, where one can be named."""

    value: Json = None
    """Value of a reference if it is no text; `text` is then its JSON."""


@dataclass(frozen=True)
class Rendering:
    """A rendered template: `text` is the segments' texts joined."""

    segments: tuple[Segment, ...]
    """In order. Literal segments may be split anywhere; empty ones are left out."""

    problems: tuple[Problem, ...] = ()
    """Problems of rendering (syntax, bounds); segments then hold the rendered part."""

    @cached_property
    def text(self) -> str:
        """The rendered text."""
        return "".join(segment.text for segment in self.segments)


Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Role of a message. The markers `function:` and `tool:` both give `tool`."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text, with the segments it is made of."""

    text: str
    """As the model gets it."""

    segments: tuple[Segment, ...] = ()
    """The pieces, whose texts joined are `text`; empty where the text has no template."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, file, recording or video, by reference until a request is made."""

    kind: Literal["image", "file", "audio", "video"]
    """Kind of the medium."""

    source: str
    """URL, data URI, or a path as the author wrote it (relative to the prompt's folder)."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Any further attributes (`quality`, `detail`, `mediaType`, …)."""

    alt: str = ""
    """Alternative text, where the brackets held some."""

    span: Span | None = None
    """Place in the source."""

    word: str = ""
    """Unknown word of the author for its type (`type="hologram"`)."""

    input: str = ""
    """The input whose value it is; empty for the author's own, or a thread's."""


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call that the assistant asked for."""

    id: str
    """Identifier that the result answers to."""

    name: str
    """The tool."""

    arguments: str
    """The arguments, as JSON text exactly as they will be sent."""

    raw: JsonObject | None = None
    """The author's own mapping, where the call was written in the prompt (section dialect)."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of a tool; the message's `tool_call_id` attribute names the call."""

    text: str
    """The observation, as the model gets it."""

    segments: tuple[Segment, ...] = ()
    """The pieces of it, as in `TextPart`."""

    span: Span | None = None
    """Place in the source."""


Part: TypeAlias = TextPart | MediaPart | ToolCallPart | ToolResultPart
"""Closed: consumers `match` and `assert_never`."""


@dataclass(frozen=True, slots=True)
class MessageOrigin:
    """The origin of a message."""

    source: Literal["template", "thread", "run", "implicit"]
    """`template`: a section of the body. `thread`: an item of the thread input. `run`: put in by
    the agent loop. `implicit`: text with no marker before it."""

    span: Span | None = None
    """The whole section in the source, marker included."""

    marker: Span | None = None
    """The role marker line itself."""

    input: str = ""
    """Input that holds the thread, for an item of a thread."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    """Role of the message."""

    parts: tuple[Part, ...]
    """Content in order; empty for an empty section."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Everything beside role and content (`name`, `tool_call_id`, any author's key)."""

    origin: MessageOrigin = field(default=MessageOrigin("run"))
    """Origin of the message."""

    carried: tuple[JsonObject, ...] = ()
    """Data that the provider of a reply wants back with it: signed thinking, encrypted
    reasoning."""

    @property
    def text(self) -> str:
        """The texts of all its text and result parts, joined."""
        return "".join(
            part.text for part in self.parts if isinstance(part, TextPart | ToolResultPart)
        )


@dataclass(frozen=True, slots=True)
class HoistedTool:
    """A tool of the body's `tools:` section, after its values were rendered."""

    id: str
    """The author's identifier."""

    type: str
    """The author's type (`function`, `bing`, …)."""

    options: JsonObject
    """Options with their values rendered."""

    span: Span | None = None
    """Place of its list item in the source."""

    dynamic_inputs: tuple[str, ...] = ()
    """Inputs whose values went into it; such a tool asks for approval."""

    reference: str = ""
    """The options where they are one reference (`${file:…}`) that has no value here."""


@dataclass(frozen=True, slots=True)
class OpenThread:
    """A place of a conversation that no value fills yet: the program that runs the prompt does.

    The seed calls it a thread item in the messages collection ("Prompt section", "Thread").
    """

    index: int
    """Messages before it."""

    input: str
    """Input that fills the place."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Attributes of its marker."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class PromptMessages:
    """The messages of one rendering."""

    messages: tuple[Message, ...]
    """In order, threads expanded."""

    tools: tuple[HoistedTool, ...] = ()
    """Tools of the body's `tools:` section."""

    problems: tuple[Problem, ...] = ()
    """Problems of reading, injected markers among them."""

    threads: tuple[OpenThread, ...] = ()
    """Conversations without a value, in order of their places among the messages."""

    def items(self) -> Iterator[Message | OpenThread]:
        """Return the messages with the open threads at their places."""
        waiting = list(self.threads)
        for index, message in enumerate(self.messages):
            while waiting and waiting[0].index <= index:
                yield waiting.pop(0)
            yield message
        yield from waiting


def named_messages(document: PromptDocument) -> Iterator[tuple[str, BodySection]]:
    """Yield the sections with a role of their own, in order, each with its name."""
    counts: Counter[str] = Counter()
    for section in document.sections:
        if section.marker is not None and section.role in get_args(Role):
            counts[section.role] += 1
            yield f"{section.role} {counts[section.role]}", section
