"""Write a prompt file from the messages, tools and settings of another format.

Texts are either literal, so nothing in them may be read as a template or a marker, or templates in
the file's language. The file is read again, and differences are reported.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from studio.core.prompty.document import (
    MediaPart,
    Message,
    PromptMessages,
    TemplateFormat,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.edit.edits import write_scalar
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS, SAME_OPTIONS
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import find_references
from studio.core.prompty.shapes import messages_to_json
from studio.core.prompty.templates import find_variables
from studio.core.prompty.threads import read_thread, thread_calls
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.prompty.yaml.tree import NoReference
from studio.core.text.amounts import counted
from studio.core.text.naming import free_name
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, JsonObject

_MARKER = re.compile(
    r"(?im)^(?P<before>[ \t]*#?[ \t]*)(?P<role>system|user|assistant|developer|tool|function|tools"
    r"|thread)(?P<rest>[ \t]*(?:\[[^\n]*)?:[ \t\r]*$)"
)
_TOKEN = re.compile(r"!(?=\[[^\]\n]*\]\()|!(?=\[thread\])")
_REFERENCE = re.compile(r"\$(?=\{(?:env|file|params):)", re.IGNORECASE)
_BRACES = re.compile(r"\{\{|\{%|\{#")
_VARIABLE = re.compile(r"\{\{\s*(?P<name>\w+)\s*\}\}|\{(?P<single>\w+)\}")
_ROLES = ("system", "developer", "user", "assistant")


class LiteralText(TextPart):
    """Literal text among texts that are templates."""


@dataclass(slots=True)
class Composition:
    """A prompt file being built."""

    front: JsonDict = field(default_factory=dict)
    """Front matter, in order, without inputs, tools and template."""

    inputs: dict[str, JsonObject] = field(default_factory=dict)
    """Declared inputs by name."""

    tools: list[JsonObject] = field(default_factory=list)
    """Tools as Prompty 2 declares them."""

    messages: list[Message | str] = field(default_factory=list)
    """Messages in order; a string is the name of a thread input."""

    format: TemplateFormat = "jinja2"
    """The template language of the file."""

    parser: Literal["prompty", "section"] = "prompty"
    """Reader of the file's body."""

    is_template: bool = False
    """Whether the texts are templates; otherwise every character is literal."""

    notes: list[str] = field(default_factory=list)
    """Notes on what is not carried over, or in another form."""

    references: set[str] = field(default_factory=set)
    """References (`${env:NAME}`) that exist in the other format; any other one in the front matter
    stays text, which is never resolved.
    """

    comments: list[str] = field(default_factory=list)
    """Comments of the original file, kept at the top."""

    def add_thread(self, name: str, **declared: Json) -> None:
        """Add the messages of a thread input with that name."""
        self.inputs[name] = {"kind": "thread", **declared}
        self.messages.append(name)


def compose(work: Composition) -> str:
    """Return the file's text; read it again and add differences to the notes.

    A template that cannot be read in the file's language becomes literal text.
    """
    text = write_document(work)
    if not work.is_template:
        return text
    fault = next((p for p in parse(text).problems if p.code in _NO_TEMPLATE), None)
    if fault is None or fault.severity is not Severity.ERROR:
        return text
    work.notes.append(f"The template is kept unchanged, since it is invalid: {fault.message}")
    work.is_template = False
    if work.format == "mustache":
        work.format = "jinja2"
    return write_document(work)


_NO_TEMPLATE = ("template-syntax", "template-unsupported", "unknown-filter", "unknown-test")


def write_document(work: Composition) -> str:
    """Return the file's text, with templates as they are."""
    _runs_to_threads(work)
    body = "\n".join(_section(work, item) for item in work.messages)
    front = [f"# {line}".rstrip() for line in work.comments]
    data: JsonDict = dict(work.front)
    data |= {"inputs": work.inputs} if work.inputs else {}
    data |= {"tools": work.tools} if work.tools else {}
    data["template"] = {"format": {"kind": work.format}, "parser": {"kind": work.parser}}
    front += write_yaml(text_only(data, work.references))
    text = "\n".join(["---", *front, "---", body.rstrip("\n"), ""])
    _check(work, text)
    return text


def text_only(value: Json, references: AbstractSet[str] = frozenset()) -> Json:
    """Return a value whose texts are literal, except for the given references."""
    if isinstance(value, Mapping):
        return {key: text_only(item, references) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [text_only(item, references) for item in value]
    if not isinstance(value, str):
        return value
    found = {value[each.span.start : each.span.end] for each in find_references(value)}
    return value if found <= references else NoReference(value)


def literal(text: str, form: TemplateFormat) -> str:
    """Return a template that renders to exactly this text, without markers or media."""
    if form == "fstring":
        return text.replace("{", "{{").replace("}", "}}")
    if form == "mustache":
        return text.replace("{{", "{{=<% %>=}}{{<%={{ }}=%>")
    text = _BRACES.sub(lambda found: f'{{{{ "{found[0]}" }}}}', text)
    text = _without_markers(text)
    text = _TOKEN.sub('{{ "!" }}', text)
    return _REFERENCE.sub('{{ "$" }}', text)


def placeholder(name: str, form: TemplateFormat) -> str:
    """Return the template expression for the unchanged value of an input."""
    match form:
        case "fstring":
            return f"{{{name}}}"
        case "mustache":
            return f"{{{{{{{name}}}}}}}"
        case "jinja2":
            return f"{{{{ {name} }}}}"


def with_quoted_markers(text: str) -> str:
    """Return a text with lines that look like role markers quoted (`> user:`).

    For template languages that cannot write a marker as a value.
    """
    return _MARKER.sub(lambda found: f"> {found[0]}", text)


def _section(work: Composition, item: Message | str) -> str:
    if isinstance(item, str):
        return f"{_use(work, item)}\n"
    texts = []
    for part in item.parts:
        if isinstance(part, MediaPart):
            texts.append(_use(work, _media_input(work, part)))
        elif isinstance(part, TextPart):
            texts.append(
                _template(part.text, work) if work.is_template else literal(part.text, work.format)
            )
    return "\n".join([_marker(work, item), "\n".join(texts), ""])


def _template(text: str, work: Composition) -> str:
    """Return a template's text in which a line that looks like a role marker stays text."""
    if work.format != "jinja2":
        if _MARKER.search(text):
            work.notes.append("A line of a message looks like a role marker and is now one.")
        return text
    text = _without_markers(text)
    return _REFERENCE.sub('{{ "$" }}', text) if work.parser == "section" else text


def _without_markers(text: str) -> str:
    return _MARKER.sub(
        lambda found: f'{found["before"]}{{{{ "{found["role"]}" }}}}{found["rest"]}', text
    )


def _marker(work: Composition, message: Message) -> str:
    pairs = []
    for key, value in message.attributes.items():
        if re.fullmatch(r"\w+", key) and isinstance(value, str | int | float | bool):
            words = f'"{value}"' if isinstance(value, str) else write_scalar(value)
            if not (isinstance(value, str) and ('"' in value or "\n" in value)):
                pairs.append(f"{key}={words}")
                continue
        work.notes.append(f"{message.role}: the attribute {key} is not possible in a role marker.")
    return f"{message.role}[{', '.join(pairs)}]:" if pairs else f"{message.role}:"


def _media_input(work: Composition, part: MediaPart) -> str:
    """Declare an input for an image, file or recording, and return the expression for it."""
    kind = part.kind if part.kind in ("image", "file", "audio") else "file"
    alone = _VARIABLE.fullmatch(part.source.strip()) if work.is_template else None
    if alone is not None:
        own = alone["name"] or alone["single"]
        work.inputs[own] = {**work.inputs.get(own, {}), "kind": kind}
        return own
    if work.is_template and "{" in part.source:
        work.notes.append(
            f"The {kind} {part.source[:80]!r} is the value of an input: variables in it are not"
            " filled in."
        )
    declared: JsonDict = {"kind": kind, "default": part.source}
    name = free_name(kind, work.inputs.__contains__, "_{}")
    work.inputs[name] = declared
    return name


def _use(work: Composition, name: str) -> str:
    return f"{{{name}}}" if work.format == "fstring" else f"{{{{{name}}}}}"


def _runs_to_threads(work: Composition) -> None:
    """Turn tool calls, results and mixed messages into default values of thread inputs."""
    done: list[Message | str] = []
    run: list[Message] = []

    def end_run() -> None:
        if not run:
            return
        number, name = 1, "tool_messages"
        while name in work.inputs:
            number += 1
            name = f"tool_messages_{number}"
        work.inputs[name] = {
            "kind": "thread",
            "description": "Calls and results that belong to the prompt.",
            "default": [thread_item(message) for message in run],
        }
        done.append(name)
        if work.is_template and any(_holds_braces(message) for message in run):
            work.notes.append(
                f"{name}: messages with calls, results or marked media are in a thread, where "
                "variables are not rendered."
            )
        run.clear()

    for item in work.messages:
        if isinstance(item, Message) and not fits_section(item):
            run.append(item)
            continue
        end_run()
        done.append(item)
    end_run()
    work.messages = done


def _holds_braces(message: Message) -> bool:
    texts = [
        part.text
        for part in message.parts
        if isinstance(part, TextPart) and not isinstance(part, LiteralText)
    ]
    texts += [part.source for part in message.parts if isinstance(part, MediaPart)]
    return any("{" in text for text in texts)


def fits_section(message: Message) -> bool:
    """Return whether a message can be part of the body; others become items of a thread."""
    if message.role not in _ROLES:
        return False
    if any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts):
        return False
    if any(isinstance(part, MediaPart) and part.attributes for part in message.parts):
        return False  # an input only stores the image's place
    # Two adjacent texts would be read as one.
    texts = [isinstance(part, TextPart) for part in message.parts]
    return not any(one and other for one, other in pairwise(texts))


def thread_item(message: Message) -> JsonDict:
    """Return a message as an item of a thread, in chat completions' form."""
    found: JsonDict = {"role": message.role, **message.attributes}
    blocks: list[Json] = []
    for part in message.parts:
        if isinstance(part, TextPart | ToolResultPart):
            blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, MediaPart):
            blocks.append({"kind": part.kind, "value": part.source, **part.attributes})
    plain = len(blocks) == 1 and all(not isinstance(part, MediaPart) for part in message.parts)
    found["content"] = (
        "".join(part.text for part in message.parts if isinstance(part, TextPart | ToolResultPart))
        if plain or not blocks
        else blocks
    )
    return found | thread_calls(message)


def _check(work: Composition, text: str) -> None:
    """Read the file again and report messages that differ."""
    if work.is_template or any(isinstance(item, str) for item in work.messages):
        return
    again = messages_to_json(prepare(parse(text), {}).messages, "section")
    wanted = messages_to_json(
        PromptMessages(tuple(item for item in work.messages if isinstance(item, Message))),
        "section",
    )
    for index, (one, other) in enumerate(zip(wanted, again, strict=False)):
        if json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
            role = one.get("role") if isinstance(one, Mapping) else ""
            work.notes.append(
                f"Message {index + 1} ({role}) reads a little differently: line ends at its ends "
                "are not preserved."
            )
    if len(wanted) != len(again):
        work.notes.append(f"{counted(len(again), 'message')} instead of {len(wanted)}.")


def read_items(items: Sequence[Json]) -> Iterator[Message]:
    """Yield the messages of a list in chat completions' form."""
    for each in read_thread(list(items), {}, None) or ():
        yield Message(each.role, each.parts, each.attributes)


OPTION_WORDS = {
    **LEGACY_OPTIONS,
    **{name: name for name in (*SAME_OPTIONS, *LEGACY_OPTIONS.values())},
    "max_output_tokens": "maxOutputTokens",
    "maxTokens": "maxOutputTokens",
    "num_predict": "maxOutputTokens",
    "reasoning_effort": "reasoningEffort",
}
"""Other programs' names of model options, with Prompty 2's names."""


def literal_message(item: JsonObject) -> Message:
    """Return a literal message, for use among messages that are templates."""
    (made,) = read_items([item])
    parts = (LiteralText(each.text) if isinstance(each, TextPart) else each for each in made.parts)
    return Message(made.role, tuple(parts), made.attributes)


def set_model(work: Composition, model: Json, config: JsonObject) -> None:
    """Set the model and the known options of a configuration."""
    options: JsonDict = {}
    for word, name in OPTION_WORDS.items():
        value = config.get(word)
        if value is not None:
            is_one = name == "stopSequences" and isinstance(value, str)
            options[name] = [value] if is_one else value
    found: JsonDict = {"id": model} if isinstance(model, str) else {}
    found |= {"options": options} if options else {}
    if found:
        work.front["model"] = found


def declare_variables(
    work: Composition, values: JsonObject, key: Literal["default", "sample"]
) -> None:
    """Declare an input for each variable of the messages, with its value if there is one.

    Args:
        work: the file being built.
        values: values by name; defaults are declared even if no message uses them.
        key: whether a value is a default or a sample.
    """
    parts = [part for item in work.messages if isinstance(item, Message) for part in item.parts]
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    texts += [part.source for part in parts if isinstance(part, MediaPart)]
    found = find_variables("\n".join(texts), work.format) if work.is_template else ((), ())
    work.notes += (f"Check the template: {problem.message}" for problem in found[1])
    names = [variable.name for variable in found[0]]
    for name in dict.fromkeys((*names, *(values if key == "default" else ()))):
        if name not in work.inputs:
            value = values.get(name)
            given = {"kind": kind_of_value(value), key: value} if value is not None else {}
            work.inputs[name] = given or {"kind": "string"}


def declare_string(default: Json = None) -> JsonObject:
    """Return the declaration of a text input."""
    return {"kind": "string"} if default is None else {"kind": "string", "default": default}
