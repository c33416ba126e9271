"""A Python file with a LangChain `ChatPromptTemplate`.

It is Python instead of the JSON of `dumps`: the JSON names classes of one version and needs
`loads`, which LangChain calls unsafe for untrusted files; ten lines of Python are easy to review.

Also the file's model: its class, and the arguments that produce the studio's request.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.core.agent.protocols.loops import choose_protocol
from studio.core.export.chat_template import (
    THREAD,
    ChatTemplate,
    chat_items,
    chat_messages,
    chat_template,
    fill_items,
    filled_items,
    used_inputs,
)
from studio.core.export.format_strings import as_format_strings
from studio.core.export.prompt_files import Render, check_bounds, langchain_renderer, utf8_problem
from studio.core.export.request_script import endpoint_of, python_expression, python_literal
from studio.core.export.sent import (
    SentRequest,
    compare_rounds,
    key_variable,
    lost,
    model_losses,
    named_connection,
    openai_connection,
    request_of,
    sent_by_studio,
    with_model,
)
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, result
from studio.core.export.unresolved import settled_for_code, unlisted_tools
from studio.core.imports.compose import literal
from studio.core.imports.langchain import CLASSES, PLACEHOLDER, read_rows
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.prompty.document import Message, TemplateFormat
from studio.core.prompty.templates import find_variables
from studio.core.prompty.threads import read_thread
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    object_of,
    objects_of,
    parse_json,
    texts_in,
)
from studio.core.wire.chat import function_definition
from studio.core.wire.draft import is_sendable

_OPENAI = (
    "temperature",
    "top_p",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "stop",
    "reasoning_effort",
)
_ANTHROPIC = ("temperature", "top_p", "top_k", "max_tokens", "stop_sequences")
_OF_THE_PROMPT = ("model", "messages", "input", "system", "instructions", "tools")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The model settings of a LangChain file."""

    connection: Connection
    """Connection of its requests, with references as written."""

    arguments: JsonObject
    """Arguments of the model class."""

    @property
    def is_anthropic(self) -> bool:
        """Whether the class is the one for Anthropic's API."""
        return self.connection.kind == "anthropic"

    @property
    def package(self) -> str:
        """Package that contains the class."""
        return "langchain-anthropic" if self.is_anthropic else "langchain-openai"

    def lines(self, *, has_tools: bool) -> Iterator[str]:
        """Yield the lines of the file that create the model."""
        name = "ChatAnthropic" if self.is_anthropic else "ChatOpenAI"
        tools = ".bind_tools(TOOLS)" if has_tools else ""
        yield f"OPTIONS = {python_expression(self.arguments)}"
        yield ""
        yield ""
        yield "def make_model():"
        yield '    """Return the model, with its tools; the key is in the environment."""'
        yield f"    from {self.package.replace('-', '_')} import {name}"
        yield ""
        yield f"    return {name}(**OPTIONS){tools}"

    def request(self, source: ExportSource, messages: Sequence[Message]) -> SentRequest:
        """Return the request that the class builds from messages."""
        provider = provider_at(self.connection)
        usual = request_of(source, provider, messages).body
        own = {key: usual[key] for key in _OF_THE_PROMPT if key in usual}
        if provider == "openai-responses":  # sends system messages as the others do
            own.pop("instructions", None)
            own["input"] = list(chat_messages(messages)[0])
        options = {key: self.arguments[key] for key in self.arguments if key in usual}
        further = object_of(self.arguments.get("extra_body", self.arguments.get("model_kwargs")))
        address = address_of(self.connection).rstrip("/") + endpoint_of(provider).path
        expected = sent_by_studio(source)
        headers = dict(expected.headers)
        if self.is_anthropic:  # Anthropic's package sends its own API version
            headers["anthropic-version"] = "that of the package anthropic"
        body: JsonObject = {**own, **options, **further}
        if not self.is_anthropic:
            body = _for_reasoning(body)
        return replace(expected, address=address, body=body, headers=headers)


def _for_reasoning(body: JsonObject) -> JsonObject:
    """Return a body as langchain-openai changes it for reasoning models (base.py, 1.7)."""
    model = str(body.get("model", "")).lower()
    if model.startswith("o1"):
        body = {"temperature": 1, **body}
    elif model.startswith("gpt-5") and "chat" not in model:
        is_sent = body.get("reasoning_effort") == "none" or body.get("temperature") == 1
        body = {key: body[key] for key in body if key != "temperature" or is_sent}
    if re.match(r"o\d", model):
        messages = [
            {**item, "role": "developer"} if item.get("role") == "system" else item
            for item in objects_of(body.get("messages"))
        ]
        body = {**body, "messages": messages}
    return body


def model_settings(source: ExportSource) -> ModelSettings:
    """Return the class and arguments for the prompt's model."""
    connection = named_connection(source)
    if provider_at(connection) in ("ollama", "gemini"):
        connection = openai_connection(connection)
    provider = provider_at(connection)
    is_anthropic = provider == "anthropic"
    body = request_of(source, provider).body
    known = _ANTHROPIC if is_anthropic else _OPENAI
    made: JsonDict = {"model": body.get("model", "")}
    if provider == "openai-responses":
        made["use_responses_api"] = True
    if connection.base_url:
        address = address_of(connection).rstrip("/")
        made["base_url"] = address.removesuffix("/v1") if is_anthropic else address
    key = key_variable(connection)
    if key != ("ANTHROPIC_API_KEY" if is_anthropic else "OPENAI_API_KEY"):
        made["api_key"] = f"${{env:{key}}}"
    made |= {key: body[key] for key in known if key in body}
    left: JsonObject = {
        key: value
        for key, value in body.items()
        if key not in (*_OF_THE_PROMPT, *known, "stream", "stream_options")
    }
    if left:
        made["model_kwargs" if is_anthropic else "extra_body"] = dict(left)
    return ModelSettings(connection, made)


def langchain_round_trips(
    source: ExportSource,
    text: str,
    form: TemplateFormat,
    partial: JsonObject,
    model: ModelSettings,
) -> tuple[RoundTrip, ...]:
    """Read the messages from the file, and build LangChain's request with them.

    Args:
        source: The prompt.
        text: The file.
        form: Template language of the messages.
        partial: Values set in the file.
        model: Model settings of the file.
    """
    rows = tuple(read_rows(text))
    render = langchain_renderer(form)

    def read(each: ExportSource) -> SentRequest:
        check_bounds(each.prepared)
        values = {**partial, **each.prepared.inputs}
        return model.request(
            each, [item for row in rows for item in _rendered(row, render, values)]
        )

    return compare_rounds(source, read, program="LangChain")


def _rendered(
    row: tuple[str, Json, JsonObject], render: Render, values: JsonObject
) -> tuple[Message, ...]:
    role, content, further = row
    if role == PLACEHOLDER:
        return read_thread(values.get(str(content)), {}, None) or ()
    item: JsonObject = {"role": role, "content": content, **further}
    if further or (content and isinstance(content, str) and role == "tool"):
        return read_thread([item], {}, None) or ()
    return fill_items([item], render, values)


_FORMATS: dict[TemplateFormat, str] = {
    "jinja2": "jinja2",
    "mustache": "mustache",
    "fstring": "f-string",
}
_ROLES = {"system": "system", "user": "human", "assistant": "ai"}
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def langchain_prompt(source: ExportSource) -> ExportResult:
    """Return the file, verified by reading its templates again and rendering them."""
    losses = tuple(model_losses(source))
    source = with_model(source)
    template = as_format_strings(chat_template(source))
    made = _LangChain(source, template)
    text = made.text()
    problems = list(source.document.problems)
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*problems, fault))
    round_trips = langchain_round_trips(source, text, made.format, made.defaults(), made.model)
    losses = (*losses, *template.losses, *made.losses, *unlisted_tools(source))
    return result(text, problems, losses, round_trips, judge="langchain-core")


class _LangChain:
    """The messages in LangChain's form, and their losses."""

    def __init__(self, source: ExportSource, template: ChatTemplate) -> None:
        self.source = source
        self.document, fixed = settled_for_code(source)
        self.losses: list[str] = [*fixed]
        self.model = model_settings(source)
        self.format: TemplateFormat = template.format if not template.is_plain else "fstring"
        self.is_plain = template.is_plain
        items, problems = chat_items(template)
        self.losses += lost(problems)
        self.items = [self._without_template_name(item) for item in items]
        self.rows = [self._row(item) for item in self.items]
        self.tools = [tool for tool in source.sent_tools if is_sendable(tool)]
        self.losses += (
            f"{tool.name}: a tool of kind {tool.kind} names a service; it is left out."
            for tool in source.sent_tools
            if not is_sendable(tool)
        )
        self.losses += self._settings_lost()

    def text(self) -> str:
        """Return the source of the file."""
        document = self.document
        path = document.source.path
        name = document.name or (path.stem if path else "Prompt")
        classes = sorted({row.split("(")[0] for row in self.rows if row[0].isupper()})
        placeholder = "MessagesPlaceholder" in classes
        messages = [each for each in classes if each != "MessagesPlaceholder"]
        names = ["ChatPromptTemplate", *(["MessagesPlaceholder"] if placeholder else [])]
        defaults = self.defaults()
        partial = f".partial(**{python_expression(defaults)})" if defaults else ""
        form = python_literal(_FORMATS[self.format])
        lines = [
            f'"""{_safe(name)}: a prompt for LangChain, made by Prompt Studio.',
            "",
            f"It needs: pip install {self._packages()}.",
            "Then: prompt.invoke({…}), or (prompt | make_model()).invoke({…}).",
            '"""',
            "",
            *([f"from langchain_core.messages import {', '.join(messages)}"] if messages else []),
            f"from langchain_core.prompts import {', '.join(names)}",
            "",
            "MESSAGES = [",
            *(f"    {row}," for row in self.rows),
            "]",
            "",
            f"prompt = ChatPromptTemplate(MESSAGES, template_format={form}){partial}",
        ]
        if self.tools:
            tools: list[Json] = [
                {"type": "function", "function": function_definition(tool)} for tool in self.tools
            ]
            lines += ["", f"TOOLS = {python_literal(tools)}"]
        lines += ["", *self.model.lines(has_tools=bool(self.tools))]
        if any("os.environ" in line for line in lines[lines.index("]") :]):
            lines[6:6] = ["import os", ""]
        return "\n".join(lines) + "\n"

    def _packages(self) -> str:
        """Return the packages to install with pip."""
        needs = ["jinja2"] if self.format == "jinja2" else []
        return " ".join(["langchain-core", self.model.package, *needs])

    def defaults(self) -> JsonDict:
        """Return the defaults of inputs, so that only inputs without one must be given."""
        used = used_inputs(self.document)
        threads = {item.name for item in self.document.inputs if item.kind == "thread"}
        return {
            name: "" if value is None else value
            for name, value in used.items()
            if name not in threads
            and name in self._variables()
            and (value is not None or not self._is_required(name))
        }

    def _variables(self) -> set[str]:
        texts = "\n".join(texts_in(self.items)) if not self.is_plain else ""
        return {variable.name for variable in find_variables(texts, self.format)[0]}

    def _is_required(self, name: str) -> bool:
        declared = self.document.input(name)
        if declared is None:
            return self.document.parameter(name) is not None
        return declared.required or declared.has_sample

    def _row(self, item: JsonObject) -> str:
        """Return one entry of the list of messages."""
        if THREAD in item:
            return f"MessagesPlaceholder({python_literal(item[THREAD])}, optional=True)"
        role = str(item.get("role"))
        extra = [key for key in item if key not in ("role", "content")]
        if role in _ROLES and not extra:
            content = python_literal(self._trimmed(self._content(item.get("content"))), 8)
            return f"({python_literal(_ROLES[role])}, {content})"
        return self._message(role, item)

    def _without_template_name(self, item: JsonObject) -> JsonObject:
        name = item.get("name")
        if not isinstance(name, str) or "{" not in name:
            return item
        self.losses.append(f"LangChain does not render names of messages: {name!r} is left out.")
        return {key: value for key, value in item.items() if key != "name"}

    def _trimmed(self, content: Json) -> Json:
        """Strip line breaks at a message's ends, also around Jinja2 statements."""
        is_jinja = self.format == "jinja2" and not self.is_plain and isinstance(content, str)
        if not is_jinja or not isinstance(content, str):
            return content
        if not (content.startswith("{%") or content.endswith("%}")):
            return content
        return f'{{% filter trim("\\r\\n") %}}{content}{{% endfilter %}}'

    def _content(self, content: Json) -> Json:
        if isinstance(content, str):
            return literal(content, "fstring") if self.is_plain else content
        blocks: list[Json] = []
        for block in content if isinstance(content, list) else []:
            kind = block.get("type") if isinstance(block, Mapping) else ""
            self.losses += _local_files(block)
            if kind not in ("text", "image_url"):
                if self.format == "jinja2" and not self.is_plain:
                    self.losses.append(
                        f"A part of type {kind!r} is not possible in a Jinja2 template of "
                        "LangChain; it is left out."
                    )
                    continue
                self.losses.append(
                    f"A part of type {kind!r} stays as chat completions write it; LangChain "
                    "renders only texts and images."
                )
            blocks.append(_braces(block) if self.is_plain else block)
        return blocks

    def _message(self, role: str, item: JsonObject) -> str:
        """Return a message object, which LangChain does not render."""
        name = CLASSES.get(role, "HumanMessage")
        texts = [] if self.is_plain else [*texts_in([item])]
        if texts and not any(find_variables(text, self.format)[0] for text in texts):
            item = object_of(filled_items([item], langchain_renderer(self.format), {})[0])
        elif texts:
            self.losses.append(
                f"A {role} message with attributes, calls or results is no LangChain template: "
                "its expressions stay as text."
            )
        arguments = [f"content={python_literal(item.get('content') or '', 8)}"]
        if role == "developer":
            arguments.append("additional_kwargs={'__openai_role__': 'developer'}")
        for key, value in item.items():
            if key == "tool_calls":
                arguments.append(f"tool_calls={python_literal(_calls(value), 8)}")
            elif key == "tool_call_id" or (key == "name" and isinstance(value, str)):
                arguments.append(f"{key}={value!r}")
            elif key not in ("role", "content"):
                self.losses.append(
                    f"The attribute {key} of a {role} message is not possible there."
                )
        if role == "tool" and "tool_call_id" not in item:
            arguments.append("tool_call_id=''")
        return f"{name}({', '.join(arguments)})"

    def _settings_lost(self) -> Iterator[str]:
        document = self.document
        defaults = self.defaults()
        for item in document.inputs:
            if item.kind in ("image", "file", "audio") and item.name in defaults:
                yield from _local_file(item.kind, defaults[item.name])
        if choose_protocol(document).protocol != "native":
            yield (
                "The loop is not included: the file contains the prompt, which needs the history "
                "and tools of each step as values."
            )


def _calls(value: Json) -> list[Json]:
    """Return tool calls with arguments as objects."""
    made: list[Json] = []
    for call in value if isinstance(value, list) else []:
        inner = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(inner, Mapping) or not isinstance(call, Mapping):
            continue
        try:
            arguments = parse_json(str(inner.get("arguments") or "{}"))
        except ValueError:
            arguments = {"_raw": inner.get("arguments")}
        made.append({"id": call.get("id"), "name": inner.get("name"), "args": arguments})
    return made


def _braces(value: Json) -> Json:
    if isinstance(value, str):
        return literal(value, "fstring")
    if isinstance(value, Mapping):
        return {key: item if key == "type" else _braces(item) for key, item in value.items()}
    return value


def _local_files(block: Json) -> Iterator[str]:
    """Yield the images that are local files: LangChain sends their paths instead of the content."""
    inner = block.get("image_url") if isinstance(block, Mapping) else None
    yield from _local_file("image", inner.get("url") if isinstance(inner, Mapping) else None)


def _local_file(kind: str, url: Json) -> Iterator[str]:
    if isinstance(url, str) and url and "{" not in url and _ADDRESS.match(url) is None:
        yield f"The {kind} {url!r} is only named: LangChain does not read files."


def _safe(text: str) -> str:
    return " ".join(text.replace("\\", " ").replace('"', "'").split())
