"""Return one tool in the form of each protocol: native function, ReAct list, JSON-action line.

The loop's protocols use these pure functions for the prompt's variables, the tools view for
display.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from studio.core.prompty.document import ModelDeclaration, ToolSpec
from studio.core.text.values import Json, JsonObject, text_of
from studio.core.wire.chat import function_definition
from studio.core.wire.draft import TOOL_NAME, TOOL_NOT_SENT
from studio.core.wire.request import Provider, to_request


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A form in which a tool is sent to a model."""

    title: str
    """Name of the protocol, for the user."""

    text: str
    """Text exactly as sent."""

    language: str
    """`json` or `markdown`, for coloring."""

    remark: str = ""
    """Remark on a different or missing form; empty for none."""


def tool_items(specs: Iterable[ToolSpec]) -> list[Json]:
    """Return the template variable `tools` (ReAct): name, description, arguments, schema."""
    return [
        {
            "name": spec.name,
            "description": _one_line(spec.description),
            "arguments": argument_items(spec.parameters),
            "parameters": spec.parameters,
        }
        for spec in specs
    ]


def required_names(schema: JsonObject) -> tuple[str, ...]:
    """Return the names of the required properties."""
    required = schema.get("required")
    if not isinstance(required, Sequence) or isinstance(required, str):
        return ()
    return tuple(name for name in required if isinstance(name, str))


def argument_items(schema: JsonObject) -> list[JsonObject]:
    """Return a schema's arguments in order: name, type, description, required."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = required_names(schema)
    return [
        {
            "name": name,
            "type": type_words(part if isinstance(part, Mapping) else {}),
            "description": _one_line(_text(part, "description")),
            "required": name in required,
        }
        for name, part in properties.items()
    ]


def tools_text(specs: Iterable[ToolSpec], *, quoted: bool = True) -> str:
    """Return the tools as lines of text, for templates that cannot loop.

    With quoted names this is the placeholder `{tools}` of a JSON-action prompt.
    """
    return "\n".join(_line(spec, f'"{spec.name}"' if quoted else spec.name) for spec in specs)


def json_action_line(spec: ToolSpec) -> str:
    """Return one line of `{tools}`: quoted name, description, input."""
    return tools_text([spec])


def react_lines(spec: ToolSpec) -> str:
    """Return the tool as in the list of the published ReAct prompt."""
    head = f"- **{spec.name}**: {_one_line(spec.description)}".rstrip()
    rows = [
        f'  - {"Required" if item["required"] else "Optional"}: `"{item["name"]}"`'
        f" ({item['type']}): {item['description']}".rstrip(": ")
        for item in argument_items(spec.parameters)
    ]
    return "\n".join([head, *rows])


def native_function(spec: ToolSpec) -> JsonObject:
    """Return the tool for the `tools` list of OpenAI chat completions (Prompty 2 §7.1.3)."""
    return {"type": "function", "function": function_definition(spec)}


_PROVIDERS: tuple[tuple[Provider, str], ...] = (
    ("openai-chat", "OpenAI chat completions, and servers like it"),
    ("openai-responses", "OpenAI responses"),
    ("anthropic", "Anthropic messages"),
)
_NAMELESS = ModelDeclaration(id="model")


def tool_forms(spec: ToolSpec) -> tuple[ToolForm, ...]:
    """Return all forms of a tool, for the tools view: by provider, then by text protocol."""
    return (
        *(_provider_form(spec, provider, title) for provider, title in _PROVIDERS),
        ToolForm("ReAct list line", react_lines(spec), "markdown"),
        ToolForm("JSON action line", json_action_line(spec), "markdown"),
    )


def _provider_form(spec: ToolSpec, provider: Provider, title: str) -> ToolForm:
    """Return the tool as cut from a whole request, so that it equals the sent form."""
    request = to_request((), (spec,), _NAMELESS, provider=provider)
    sent = request.body.get("tools")
    text = _json(sent[0]) if isinstance(sent, list | tuple) and sent else ""
    names = (TOOL_NAME, TOOL_NOT_SENT)
    remarks = [problem.message for problem in request.problems if problem.code in names]
    return ToolForm(title, text, "json", " ".join(remarks))


def type_words(schema: JsonObject) -> str:
    """Return a schema's type in a few words: "string", "array of integer", "one of "a", "b""."""
    choices = schema.get("enum")
    if isinstance(choices, Sequence) and not isinstance(choices, str):
        return "one of " + ", ".join(json.dumps(item, ensure_ascii=False) for item in choices)
    if "const" in schema:
        return json.dumps(schema["const"], ensure_ascii=False)
    for key in ("anyOf", "oneOf"):
        options = schema.get(key)
        if isinstance(options, Sequence) and not isinstance(options, str):
            words = [type_words(item) for item in options if isinstance(item, Mapping)]
            return " or ".join(dict.fromkeys(words))
    kind = schema.get("type")
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        return " or ".join(str(item) for item in kind)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        items = schema["items"]
        return f"array of {type_words(items)}" if isinstance(items, Mapping) else "array"
    return str(kind) if kind else "any"


def _line(spec: ToolSpec, name: str) -> str:
    line = f"- {name}: {_one_line(spec.description)}".rstrip()
    takes = ", ".join(
        f'"{item["name"]}" ({item["type"]}{"" if item["required"] else ", optional"})'
        + (f": {item['description']}" if item["description"] else "")
        for item in argument_items(spec.parameters)
    )
    return f"{line} Input: {takes}" if takes else line


def _text(part: Json, key: str) -> str:
    return text_of(part.get(key) if isinstance(part, Mapping) else None)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
