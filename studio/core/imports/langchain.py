"""Import LangChain's prompts in JSON: from `dumps`, older `_type` files, and hub sequences.

Source: langchain-core's `load` (`lc: 1` constructors) and `prompts.loading` (`_type`).
"""

import ast
import json
from collections.abc import Callable, Iterator, Mapping

from studio.core.imports.compose import (
    Composition,
    LiteralText,
    compose,
    declare_variables,
    fits_section,
    literal,
    literal_message,
    read_items,
    set_model,
)
from studio.core.imports.imported import Imported, ImportFailure, implied
from studio.core.prompty.document import MediaPart, Message, Part, Role, TemplateFormat, TextPart
from studio.core.prompty.front.declarations import function_tool
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.values import (
    Json,
    JsonDict,
    JsonObject,
    list_of,
    object_of,
    parse_json,
    reason_of,
)

_FORMATS: dict[str, TemplateFormat] = {
    "f-string": "fstring",
    "jinja2": "jinja2",
    "mustache": "mustache",
}
_ROLES: dict[str, Role] = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "ToolMessage": "tool",
    "system": "system",
    "human": "user",
    "user": "user",
    "ai": "assistant",
    "assistant": "assistant",
    "tool": "tool",
}


def is_langchain(data: Json) -> bool:
    """Return whether JSON is a LangChain prompt."""
    if not isinstance(data, Mapping):
        return False
    return data.get("lc") == 1 or _kind_of(data) in ("prompt", "chat", "few_shot")


def _kind_of(data: JsonObject) -> str:
    """Return the `_type` of an older file; "prompt" if it is missing, as for `load_prompt`."""
    kind = data.get("_type")
    variables = data.get("input_variables")
    if kind is None and isinstance(variables, list) and all(isinstance(v, str) for v in variables):
        kind = "prompt" if "template" in data or "template_path" in data else None
    return kind if isinstance(kind, str) else ""


def import_langchain(data: Json, read: Callable[[str], str] | None = None) -> Imported:
    """Import a LangChain prompt as a prompt file.

    Args:
        data: The prompt.
        read: Reads a file beside it, for examples; raises `ImportFailure` if it cannot.

    Raises:
        ImportFailure: there is no prompt in it.
    """
    work = Composition(is_template=True)
    prompt = _find_prompt(data, work)
    if prompt is None:
        raise ImportFailure("There is no prompt template in it.")
    name, kwargs = prompt
    formats: list[str] = []
    if name in ("ChatPromptTemplate", "StructuredPrompt"):
        for item in list_of(kwargs.get("messages")):
            _add(item, work, formats)
        if name == "StructuredPrompt":
            work.notes.append("The schema of the answer is not carried; declare outputs.")
    elif name == "FewShotPromptTemplate":
        _few_shot(_with_examples(kwargs, read, work), work, formats)
    elif (template := _template(kwargs, read)) is not None:
        formats.append(_format_of(kwargs))
        work.messages.append(Message("user", (TextPart(template),)))
    else:
        raise ImportFailure(
            f"A prompt of the class {name!r} cannot be read: it contains no template."
        )
    if not work.messages:
        raise ImportFailure("There are no messages in it.")
    _settle_format(work, formats)
    declare_variables(work, object_of(kwargs.get("partial_variables")), "default")
    return Imported(compose(work), "LangChain prompt", tuple(work.notes))


def _template(kwargs: JsonObject, read: Callable[[str], str] | None) -> str | None:
    """Return the template of a prompt, from the prompt itself or a file beside it."""
    path = kwargs.get("template_path")
    if isinstance(path, str) and read is not None:
        return read(path)
    template = kwargs.get("template")
    return template if isinstance(template, str) else None


def _find_prompt(data: Json, work: Composition) -> tuple[str, JsonObject] | None:
    """Find the class name and arguments of the prompt, alone or as a sequence's first step."""
    if not isinstance(data, Mapping):
        return None
    if data.get("lc") != 1:
        implied(data, "input_variables", "input_types", "validate_template")
        kind = _kind_of(data)
        names = {
            "prompt": "PromptTemplate",
            "chat": "ChatPromptTemplate",
            "few_shot": "FewShotPromptTemplate",
        }
        return (names[kind], data) if kind in names else None
    name, kwargs = _constructor(data)
    if data.get("type") == "not_implemented":
        raise ImportFailure(
            f"LangChain wrote only the name of this {name}, not what is in it: it has no JSON form."
            " Export its text or its messages."
        )
    if name == "RunnableSequence":
        found = _find_prompt(kwargs.get("first"), work)
        for step in (*list_of(kwargs.get("middle")), kwargs.get("last")):
            _model(step, work)
        return found
    return (name, kwargs) if name.endswith(("PromptTemplate", "Prompt")) else None


def _model(step: Json, work: Composition) -> None:
    """Set the model of a sequence, with the tools bound to it."""
    name, kwargs = _constructor(step)
    if name == "RunnableBinding":
        bound = kwargs.get("kwargs")
        tools = bound.get("tools") if isinstance(bound, Mapping) else None
        work.tools += [function_tool(item) for item in list_of(tools) if isinstance(item, Mapping)]
        _model(kwargs.get("bound"), work)
    elif name.startswith("Chat"):
        set_model(work, kwargs.get("model", kwargs.get("model_name")), kwargs)
    elif name:
        work.notes.append(f"The step {name} of the sequence is not part of a prompt.")


def _add(item: Json, work: Composition, formats: list[str]) -> None:
    """Add a message, placeholder or template of a chat prompt."""
    if isinstance(item, list) and len(item) == 2:  # ["system", "…"]
        item = {"role": item[0], "content": item[1]}
    if isinstance(item, Mapping) and _add_plain(item, work, formats):
        return
    name, kwargs = _constructor(item)
    if name == "MessagesPlaceholder":
        needed: JsonObject = {} if kwargs.get("optional") is True else {"required": True}
        work.add_thread(str(kwargs.get("variable_name", "thread")), **needed)
        return
    role = _ROLES.get(name.removesuffix("PromptTemplate").removesuffix("Chunk"))
    if name == "ChatMessagePromptTemplate":
        word = str(kwargs.get("role", "user"))
        role = _ROLES.get(word.lower(), "user")
        if word.lower() not in _ROLES:
            work.notes.append(f"The role {word!r} is not a role of a prompt file; user is used.")
    if name.endswith("PromptTemplate") and role is not None:
        prompts = kwargs.get("prompt")
        parts: list[Part] = []
        for each in prompts if isinstance(prompts, list) else [prompts]:
            part = _part(each, formats)
            if part is None:
                work.notes.append(f"A part of a {role} message cannot be read; it is left out.")
            else:
                parts.append(part)
        work.messages.append(Message(role, tuple(parts)))
        return
    if name == "" and isinstance(item, Mapping):
        work.messages += read_items([item])
        return
    if role is None:
        work.notes.append(f"A message of the class {name!r} is left out.")
        return
    _static(role, kwargs, work)


def _add_plain(item: JsonObject, work: Composition, formats: list[str]) -> bool:
    """Add a message of a `_type` file (`{type: system, prompt: …}`); return whether it is one."""
    part = _part(item["prompt"], formats) if "prompt" in item and "type" in item else None
    if part is None:
        return False
    work.messages.append(Message(_ROLES.get(str(item["type"]), "user"), (part,)))
    return True


def _static(role: Role, kwargs: JsonObject, work: Composition) -> None:
    """Add a message that is not a template: every character is literal."""
    item: JsonDict = {"role": role, "content": kwargs.get("content", "")}
    if isinstance(kwargs.get("name"), str):
        item["name"] = kwargs["name"]
    if isinstance(kwargs.get("tool_call_id"), str):
        item["tool_call_id"] = kwargs["tool_call_id"]
    calls = [
        {"id": call.get("id", ""), "name": call.get("name", ""), "arguments": call.get("args", {})}
        for call in list_of(kwargs.get("tool_calls"))
        if isinstance(call, Mapping)
    ]
    if calls:
        item["tool_calls"] = calls
    work.messages.append(literal_message(item))


def _part(item: Json, formats: list[str]) -> Part | None:
    if isinstance(item, str):
        return TextPart(item)
    name, kwargs = _constructor(item)
    formats.append(_format_of(kwargs))
    template = kwargs.get("template")
    if name == "DictPromptTemplate" and isinstance(template, Mapping):
        text = template.get("text")  # a block with further keys, such as cache_control
        return TextPart(text) if isinstance(text, str) else None
    if name == "ImagePromptTemplate" and isinstance(template, Mapping):
        extra = {key: value for key, value in template.items() if key != "url"}
        return MediaPart("image", str(template.get("url", "")), extra)
    return TextPart(template) if isinstance(template, str) else None


def _with_examples(
    kwargs: JsonObject, read: Callable[[str], str] | None, work: Composition
) -> JsonObject:
    """Return the arguments with a file of examples replaced by its content."""
    path = kwargs.get("examples")
    if not isinstance(path, str):
        return kwargs
    try:
        if read is None:
            raise ImportFailure("there is no folder to search.")
        text = read(path)
        found = parse_json(text) if path.endswith(".json") else read_yaml(text).value
    except (ImportFailure, ValueError) as failure:
        work.notes.append(
            f"examples: those of the file {path!r} are left out: {reason_of(failure)}"
        )
        return kwargs
    return {**kwargs, "examples": found}


def _few_shot(kwargs: JsonObject, work: Composition, formats: list[str]) -> None:
    """Join the prefix, the rendered examples and the suffix into one text."""
    from studio.core.prompty.templates import render_template

    _, example = _constructor(kwargs.get("example_prompt"))
    form = template_format(_format_of(example))
    texts = [str(kwargs.get("prefix") or "")]
    for values in list_of(kwargs.get("examples")):
        if isinstance(values, Mapping):
            rendering = render_template(str(example.get("template", "")), values, format=form)
            texts.append(literal("".join(segment.text for segment in rendering.segments), form))
    texts.append(str(kwargs.get("suffix") or ""))
    formats.append(_format_of(kwargs))
    separator = str(kwargs.get("example_separator", "\n\n"))
    work.messages.append(Message("user", (TextPart(separator.join(t for t in texts if t)),)))


def _settle_format(work: Composition, formats: list[str]) -> None:
    """Choose one template language for the file, and escape literal messages for it."""
    used = list(dict.fromkeys(formats)) or ["f-string"]
    work.format = template_format(used[0])
    if len(used) > 1:
        work.notes.append(f"The messages use {' and '.join(used)}; the file is {used[0]}.")
    settle_literals(work)


def settle_literals(work: Composition) -> None:
    """Escape the literal texts of the messages for the file's template language."""
    done: list[Message | str] = []
    for item in work.messages:
        if isinstance(item, str):
            done.append(item)
            continue
        if not fits_section(item):  # it becomes part of a thread, which is no template
            done.append(item)
            continue
        parts = tuple(
            TextPart(literal(part.text, work.format)) if isinstance(part, LiteralText) else part
            for part in item.parts
        )
        done.append(Message(item.role, parts, item.attributes))
    work.messages = done


def _constructor(data: Json) -> tuple[str, JsonObject]:
    """Return class name and arguments of an `lc: 1` object; for others the mapping itself."""
    if not isinstance(data, Mapping):
        return "", {}
    if data.get("lc") != 1:
        return str({"prompt": "PromptTemplate"}.get(str(data.get("_type")), "")), data
    names, kwargs = data.get("id"), data.get("kwargs")
    implied(data, "name", "graph")
    implied(kwargs, "input_variables", "input_types", "validate_template")
    name = str(names[-1]) if isinstance(names, list) and names else ""
    return name, kwargs if isinstance(kwargs, Mapping) else {}


def template_format(word: str) -> TemplateFormat:
    """Return the template language of a LangChain prompt.

    Raises:
        ImportFailure: LangChain has no such language.
    """
    if word not in _FORMATS:
        raise ImportFailure(
            f"template_format: {word!r} is not a format of LangChain ({', '.join(_FORMATS)}); if "
            "this is a prompt of another program, export its messages and import those."
        )
    return _FORMATS[word]


def _format_of(kwargs: JsonObject) -> str:
    word = str(kwargs.get("template_format") or "f-string")
    template_format(word)
    return word


# Reads the messages of an exported LangChain script from its literals, without running it.

PLACEHOLDER = "placeholder"
"""Role of a row that stands for a conversation; its content is the variable's name."""

CLASSES = {
    "system": "SystemMessage",
    "developer": "SystemMessage",
    "user": "HumanMessage",
    "assistant": "AIMessage",
    "tool": "ToolMessage",
}
"""LangChain's message class by role."""


def read_rows(text: str) -> Iterator[tuple[str, Json, JsonObject]]:
    """Yield role, content and further keys of each message; a row with keys is not a template.

    Raises:
        SyntaxError: the text is no Python.
        ValueError: a message is not a literal, or its class is unknown.
    """
    for node in ast.parse(text).body:
        if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
            continue
        if node.targets[0].id != "MESSAGES" or not isinstance(node.value, ast.List):
            continue
        for item in node.value.elts:
            if isinstance(item, ast.Tuple):
                role, content = ast.literal_eval(item)
                yield {"human": "user", "ai": "assistant"}.get(role, role), content, {}
            elif isinstance(item, ast.Call) and isinstance(item.func, ast.Name):
                yield _read_call(item.func.id, item)


def _read_call(name: str, item: ast.Call) -> tuple[str, Json, JsonObject]:
    if name == "MessagesPlaceholder":
        return PLACEHOLDER, ast.literal_eval(item.args[0]), {}
    found = {keyword.arg: ast.literal_eval(keyword.value) for keyword in item.keywords}
    role = next((role for role, each in CLASSES.items() if each == name), "")
    if not role:
        raise ValueError(f"{name} is not a message class")
    if "additional_kwargs" in found:
        role = "developer"
    further: JsonDict = {key: found[key] for key in ("name", "tool_call_id") if key in found}
    if "tool_calls" in found:
        further["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in found["tool_calls"]
        ]
    return role, found.get("content", ""), further or {"static": True}
