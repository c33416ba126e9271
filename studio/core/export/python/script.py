"""A Python script that runs the prompt: messages, model, tools and the loop, one file.

It uses chat completions through the openai package, which every server known to the studio
supports; anything beyond that is reported as a loss.

Also the prompt's settings as expressions: stop sequences, tools.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from studio.core.agent.loop.setup import first_step_values
from studio.core.agent.protocols.loops import choose_protocol, reading_style
from studio.core.export.chat_template import (
    THREAD,
    ChatTemplate,
    chat_items,
    chat_template,
    fill_items,
    used_inputs,
)
from studio.core.export.format_strings import as_format_strings
from studio.core.export.prompt_files import check_bounds, script_renderer, utf8_problem
from studio.core.export.python.tools import PythonTools, python_tools, stub, stub_name
from studio.core.export.request_script import python_expression, python_literal
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
from studio.core.models.base import PROTOCOLS, ProtocolName
from studio.core.models.connections import address_of
from studio.core.paths import resource_text
from studio.core.prompty.document import TEXT_KINDS, TemplateFormat, ToolSpec
from studio.core.prompty.inputs import value_kind
from studio.core.prompty.loop_format import agent_settings
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of
from studio.core.wire.chat import function_definition
from studio.core.wire.draft import is_sendable
from studio.core.wire.request import to_request

# The fixed source parts of an exported script: rendering, media, tools, options.

_STANDARD = tuple(
    """
    argparse asyncio base64 importlib.util inspect json mimetypes os re sys
""".split()
)
_PACKAGES = (
    "import chevron",
    "from jinja2 import ChainableUndefined",
    "from jinja2.sandbox import SandboxedEnvironment",
    "from openai import OpenAI",
    "from openai.types.chat import ChatCompletionMessage",
    "from pydantic import validate_call",
)


def script_part(name: str) -> str:
    """Return a fixed part of an exported script, after an empty line."""
    return "\n" + resource_text("export", "python", f"{name}.py.txt")


def import_lines(source: str) -> str:
    """Return the import lines that the rest of a script needs, in the usual order."""
    used = set(re.findall(r"[A-Za-z_]\w*", source))
    standard = [f"import {name}" for name in _STANDARD if name.partition(".")[0] in used]
    if "Path" in used:
        standard.append("from pathlib import Path")
    packages = [line for line in _PACKAGES if line.rpartition(" ")[2] in used]
    return "\n".join(standard) + "\n\n" + "\n".join(packages)


_JINJA = script_part("jinja")

_MUSTACHE = script_part("mustache")

_FSTRING = script_part("fstring")

RENDERERS: dict[TemplateFormat, tuple[str, str]] = {
    "jinja2": (
        "jinja2",
        _JINJA,
    ),
    "mustache": ("chevron", _MUSTACHE),
    "fstring": ("", _FSTRING),
}
"""Package and source of the function `render`, by template language."""

FILL = script_part("fill")

FILL_PLAIN = script_part("fill_plain")

_NAMES = """\
        if "name" in message:  # blanks and some signs are refused in it
            name = re.sub(r"[\\s<|\\\\/>]+", "_", str(message.pop("name"))).strip("_")[:64]
            message.update({"name": name} if name else {})
"""


def build_source(*, has_names: bool) -> str:
    """Return the source of the function that builds the messages.

    Args:
        has_names: whether a message can have a `name`.
    """
    end = "    return messages\n"
    return _BUILD.replace(end, f"{_NAMES}{end}", 1) if has_names else _BUILD


_BUILD = script_part("build")

LOAD = script_part("load")

CALL = script_part("call")

ASK = script_part("ask")

MAIN = script_part("main")


# The loops of an exported script, as source: model calls until there is an answer.


def chat_tool(tool: ToolSpec) -> JsonObject:
    """Return a tool in chat completions' form."""
    return {"type": "function", "function": function_definition(tool)}


def stops(source: ExportSource, protocol: ProtocolName) -> tuple[str, ...]:
    """Return the stop sequences: the prompt's own, otherwise the protocol's default."""
    own = agent_settings(source.document).get("stop")
    given = own if isinstance(own, list) else [own] if own else PROTOCOLS[protocol].stops
    return tuple(item for item in given if isinstance(item, str))


def quoted(text: str) -> str:
    """Return a text as a Python literal."""
    return python_literal(text)


def script_round_trips(script: _Script, text: str) -> tuple[RoundTrip, ...]:
    """Read messages, options and tools from the script, and build its first request."""
    found = _constants(text)
    render = script_renderer(script.form) if script.form else None
    options = dict(object_of(found.get("OPTIONS")))
    options |= object_of(options.pop("extra_body", None))
    if script.protocol == "native" and found.get("TOOLS"):
        options["tools"] = found["TOOLS"]
    address = f"{address_of(script.connection).rstrip('/')}/chat/completions"

    def read(each: ExportSource) -> SentRequest:
        check_bounds(each.prepared)
        messages = list_of(found.get("MESSAGES"))
        got = fill_items(messages, render, each.prepared.inputs, drops=True)
        expected = sent_by_studio(each)
        own = request_of(each, "openai-chat", got).body  # with the files that it reads
        sent = {  # a parameter without a value is listed separately
            key: expected.body.get(key) if "${params:" in str(value) else value
            for key, value in options.items()
        }
        body = {"model": own["model"], "messages": own["messages"], **sent}
        return replace(expected, address=address, body=body)

    return compare_rounds(script.source, read, program="the script")


def _constants(text: str) -> JsonDict:
    """Return the literals that a script assigns at its top level."""
    found: JsonDict = {}
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(node, ast.AnnAssign):
            target = node.target
        if isinstance(target, ast.Name) and value is not None:
            try:
                found[target.id] = ast.literal_eval(value)
            except ValueError:
                continue
    return found


_SDK_OPTIONS = frozenset(
    """
    frequency_penalty logit_bias logprobs max_completion_tokens max_tokens metadata modalities n
    parallel_tool_calls presence_penalty reasoning_effort response_format seed service_tier stop
    store temperature tool_choice top_logprobs top_p user verbosity
""".split()
)
"""Options with an SDK argument; others go into `extra_body`."""

_TAKEN = frozenset(
    """
    QUESTION AROUND supplied MODEL OPTIONS MESSAGES TOOLS FUNCTIONS BINDINGS INPUTS REQUIRED TEXTS
    FOLDER MOST_CALLS SUPPLIED FINAL_WORDS HISTORY_IS_LIST KEY_VARIABLE BASE_URL ENVIRONMENT FIELD
    FIXED render fill build_messages media data_uri holds call_tool ask make_client run fenced
    only_argument read_object main read_value _plain _load _wait SHOWN_IS_ANSWER show_text
""".split()
)
_SENTINEL = "\x00question\x00"
_LOOP_NAMES = ("history", "agent_scratchpad", "tools", "tool_names", "examples", "chat_history")


def python_script(source: ExportSource) -> ExportResult:
    """Return the script, verified by reading its messages and tools again."""
    document = source.document
    problems: list[Problem] = list(document.problems)
    if document.model.api_type in ("embedding", "image"):
        message = f"A script supports chats only; this prompt uses {document.model.api_type}."
        problems.append(_problem("export-not-a-chat", message))
    script = _Script(source)
    text = script.text()
    fault = utf8_problem(text)
    if fault is not None:
        return result(text, (*problems, fault))
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        problems.append(_problem("export-no-python", f"The script cannot be read: {error}."))
        return result(text, problems)
    problems += (
        Problem("export-remark", Severity.HINT, remark, Span(0, 0))
        for remark in script.tools.remarks
    )
    return result(text, problems, script.losses(), script_round_trips(script, text))


class _Script:
    """The parts of one script."""

    def __init__(self, source: ExportSource) -> None:
        self.model_losses = tuple(model_losses(source))
        self.source = source = with_model(source)
        self.connection = openai_connection(named_connection(source))
        self.document, self.fixed = settled_for_code(source)
        self.template: ChatTemplate = as_format_strings(chat_template(source))
        self.protocol = choose_protocol(self.document).protocol
        self.specs = tuple(tool for tool in source.all_tools if is_sendable(tool))
        self.tools: PythonTools = python_tools(self.document, self.specs, _TAKEN)
        self.items, self.item_problems = chat_items(self.template)
        self.request = to_request(
            (),
            (),
            replace(self.document.model, api_type="chat"),
            provider="openai-chat",
            outputs=self.document.outputs,
            stop=stops(source, self.protocol),
        )

    @property
    def form(self) -> TemplateFormat | None:
        """Template language; None if there is nothing to render."""
        return None if self.template.is_plain else self.template.format

    def _has_names(self) -> bool:
        """Return whether a message can have a name; messages of a conversation can."""
        return any("name" in item or THREAD in item for item in self.items)

    def losses(self) -> Iterator[str]:
        """Yield what the script does not carry, or does differently."""
        yield from self.model_losses
        yield from self.template.losses
        yield from self.fixed
        yield from lost((*self.item_problems, *self.request.problems))
        yield from unlisted_tools(self.source)
        for tool in self.source.all_tools:
            if not is_sendable(tool):
                yield f"{tool.name}: a tool of kind {tool.kind} names a service; it is left out."
        for tool in self.tools.stubs:
            where = "" if tool.source == "document" else f" (it comes from {tool.source})"
            yield (
                f"{tool.name}: no Python function runs it{where}; the script contains a "
                "placeholder that returns an error."
            )
        if self.template.is_plain and self.protocol != "native":
            yield "The template cannot be rendered at each step: the model gets no earlier steps."

    def text(self) -> str:
        """Return the source of the script."""
        form = self.form
        _, renderer = RENDERERS[form] if form else ("", "")
        loops = bool(self.specs) or self.protocol != "native"
        names = PROTOCOLS[self.protocol].script if loops else ("plain_run",)
        parts = [
            self._settings(),
            *(part.strip() for part in self.tools.blocks),
            *([LOAD.strip()] if self.tools.loaded else []),
            *(stub(tool) for tool in self.tools.stubs),
            self._functions() if loops else "",
            renderer.strip(),
            (FILL if form else FILL_PLAIN).strip(),
            build_source(has_names=self._has_names()).strip(),
            CALL.strip() if loops else "",
            ASK.strip(),
            *(script_part(name).strip() for name in names),
            MAIN.strip(),
        ]
        body = "\n\n\n".join(part for part in parts if part) + "\n"
        return f"{self._head()}\n\n{import_lines(body)}\n\n{body}"

    def _head(self) -> str:
        document = self.document
        path = document.source.path
        name = document.name or (path.stem if path else "Prompt")
        words = (
            " ".join(f"{name}: {document.description}".split()) if document.description else name
        )
        packages = " ".join(
            part for part in ("openai", RENDERERS[self.form][0] if self.form else "") if part
        )
        lines = [
            _safe(words),
            "",
            f"Made by Prompt Studio{f' from {_safe(path.name)}' if path else ''}. It needs: pip "
            f"install {packages}",
            f"The key is read from {key_variable(self.connection)}; OPENAI_BASE_URL names another"
            " server.",
        ]
        body = "\n".join(lines)
        # Files of tools have their own imports.
        hush = "# ruff: noqa: F811, I001\n\n" if self.tools.blocks else ""
        return f'#!/usr/bin/env python3\n"""{body}\n"""\n\n{hush}from __future__ import annotations'

    def _settings(self) -> str:
        document = self.document
        body = {
            key: value
            for key, value in self.request.body.items()
            if key not in ("model", "messages", "tools", "stream")
        }
        options = {key: value for key, value in body.items() if key in _SDK_OPTIONS}
        further = {key: value for key, value in body.items() if key not in _SDK_OPTIONS}
        if further:
            options["extra_body"] = further
        inputs = self._inputs()
        loop = self.protocol != "native"
        wanted = {item.name for item in document.inputs if item.required}
        wanted |= {p.name for p in document.parameters if document.input(p.name) is None}
        required = [name for name, value in inputs.items() if name in wanted and value is None]
        texts = [
            name
            for name, value in inputs.items()
            if value_kind(document, name) in TEXT_KINDS
            and (document.input(name) or value is None or isinstance(value, str))
        ]
        lines = [
            "FOLDER = Path(__file__).resolve().parent",
            f"MODEL = {python_expression(document.model.id or self.source.model)}",
            f"BASE_URL = {self._base_url()}",
            f"KEY_VARIABLE = {quoted(key_variable(self.connection))}",
            "# Whether what the model writes is the answer, and no step on the way to it.",
            f"SHOWN_IS_ANSWER = {not loop}",
            _assigned("OPTIONS", options),
            _assigned("INPUTS", inputs),
            _assigned("REQUIRED", required),
            "# Inputs whose values are texts; others are JSON.",
            _assigned("TEXTS", texts),
            f"MESSAGES = {python_literal(list(self.items))}",
        ]
        if self.specs or loop:
            limit = agent_settings(document).get("max_iterations")
            count = limit if isinstance(limit, int) and not isinstance(limit, bool) else 10
            lines.append(f"MOST_CALLS = {count}")
            lines.append(_assigned("TOOLS", list(map(chat_tool, self.specs))))
        if loop:
            lines += self._loop_settings()
        return "\n".join(lines)

    def _loop_settings(self) -> Iterator[str]:
        # Values that depend on the question are computed when the script runs.
        name = next((each for each in ("question", "input") if each in self._inputs()), "question")
        supplied = first_step_values(self.document, {name: _SENTINEL}, self.specs)
        own = {item.name for item in self.document.inputs}
        kept: JsonDict = {
            key: value
            for key, value in supplied.items()
            if key not in own and key not in ("question", "input", "history", "agent_scratchpad")
        }
        around: JsonDict = {
            key: list(value.split(_SENTINEL, 1))
            for key, value in kept.items()
            if isinstance(value, str) and _SENTINEL in value
        }
        yield _assigned("SUPPLIED", {k: v for k, v in kept.items() if k not in around})
        yield f"QUESTION = {quoted(name)}"
        yield "# Texts around the question that the template finds under these names."
        yield _assigned("AROUND", around)
        if self.protocol == "react":
            yield f"HISTORY_IS_LIST = {'history' in reading_style(self.document).looped}"
        else:
            words = agent_settings(self.document).get("final_words")
            listed = words if isinstance(words, list) else [words] if words else []
            bare = [re.sub(r"[\W_]", "", str(word)).lower() for word in listed]
            yield f"FINAL_WORDS = {python_literal(['finalanswer', 'noaction', *bare])}"

    def _functions(self) -> str:
        functions = {**self.tools.functions, **{t.name: stub_name(t) for t in self.tools.stubs}}
        ordered = [tool.name for tool in self.specs if tool.name in functions]
        rows = "".join(f"    {quoted(name)}: {functions[name]},\n" for name in ordered)
        bindings = {tool.name: dict(tool.bindings) for tool in self.specs if tool.bindings}
        table = f"FUNCTIONS = {{\n{rows}}}" if rows else "FUNCTIONS: dict = {}"
        return f"{table}\n{_assigned('BINDINGS', bindings)}"

    def _inputs(self) -> JsonDict:
        """Return the defaults with the current values; samples are not used."""
        prepared = self.source.prepared
        loop = _LOOP_NAMES if self.protocol != "native" else ()
        found = used_inputs(self.document, tuple(loop))
        for name in found:
            if name in prepared.inputs and name not in prepared.samples:
                found[name] = prepared.inputs[name]
        return found

    def _base_url(self) -> str:
        address = address_of(self.connection).rstrip("/") if self.connection.base_url else None
        return f'os.environ.get("OPENAI_BASE_URL") or {python_expression(address)}'


def _assigned(name: str, value: Json) -> str:
    """Return the assignment of a constant; an empty one gets a type for type checkers."""
    kind = ""
    if value in ({}, []):
        kind = ": dict" if isinstance(value, Mapping) else ": list"
    return f"{name}{kind} = {python_expression(value)}"


def _safe(text: str) -> str:
    return re.sub(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029]', " ", text)


def _problem(code_: str, message: str) -> Problem:
    return Problem(code_, Severity.ERROR, message, Span(0, 0))
