"""The fixed parts of an exported script, as source: rendering, media, tools, its own options."""

from __future__ import annotations

import re

from studio.core.prompty.document import TemplateFormat

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


def imports(source: str) -> str:
    """The import lines that the rest of a script needs, in the usual order."""
    used = set(re.findall(r"[A-Za-z_]\w*", source))
    standard = [f"import {name}" for name in _STANDARD if name.partition(".")[0] in used]
    if "Path" in used:
        standard.append("from pathlib import Path")
    packages = [line for line in _PACKAGES if line.rpartition(" ")[2] in used]
    return "\n".join(standard) + "\n\n" + "\n".join(packages)


_JINJA = '''
def _plain(value):
    """How a value reads in a prompt: true, false, nothing for None, whole numbers without .0."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


ENVIRONMENT = SandboxedEnvironment(
    undefined=ChainableUndefined, keep_trailing_newline=True, finalize=_plain
)


def render(template, values):
    """A template with values in it; one that was not given reads as nothing, also in loops."""
    given = {key: item for key, item in values.items() if item is not None}
    return ENVIRONMENT.from_string(template).render(given).strip("\\r\\n")
'''

_MUSTACHE = '''
def render(template, values):
    """A template with values in it."""
    return chevron.render(template, values).strip("\\r\\n")
'''

_FSTRING = '''
FIELD = re.compile(
    r"\\{\\{|\\}\\}|\\{\\s*([^\\W\\d]\\w*)((?:\\.\\w+|\\[[^\\[\\]{}]*\\])*)\\s*(?:!([rsa]))?(?::([^{}]*))?\\}"
)


def render(template, values):
    """A template with values in it."""

    def put(found):
        if found[0] in ("{{", "}}"):
            return found[0][0]
        value = values.get(found[1])
        for step in re.findall(r"\\.(\\w+)|\\[([^\\[\\]]*)\\]", found[2]):
            key = step[0] or step[1]
            try:
                value = value[int(key)] if isinstance(value, list) else value.get(key)
            except (AttributeError, IndexError, ValueError):
                value = None
        if found[3]:
            value = {"r": repr, "s": str, "a": ascii}[found[3]](value)
        if value is None:
            return ""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, float) and value.is_integer() and not found[4]:
            value = int(value)
        return format(value, found[4] or "")

    return FIELD.sub(put, template).strip("\\r\\n")
'''

RENDERERS: dict[TemplateFormat, tuple[str, str]] = {
    "jinja2": (
        "jinja2",
        _JINJA,
    ),
    "mustache": ("chevron", _MUSTACHE),
    "fstring": ("", _FSTRING),
}
"""Package and source of `render`, by template language."""

FILL = '''
FIXED = ("role", "type", "id", "tool_call_id", "detail", "format")  # words of the API


def fill(value, values):
    """The same structure with its texts rendered."""
    if isinstance(value, str):
        return render(value, values)
    if isinstance(value, dict):
        return {key: item if key in FIXED else fill(item, values) for key, item in value.items()}
    return [fill(item, values) for item in value] if isinstance(value, list) else value
'''

FILL_PLAIN = '''
def fill(value, values):
    """The messages hold no templates."""
    return json.loads(json.dumps(value))
'''

_NAMES = """\
        if "name" in message:  # blanks and some signs are refused in it
            name = re.sub(r"[\\s<|\\\\/>]+", "_", str(message.pop("name"))).strip("_")[:64]
            message.update({"name": name} if name else {})
"""


def build(*, has_names: bool) -> str:
    """The function that makes the messages.

    Args:
        has_names: whether a message may name who speaks.
    """
    end = "    return messages\n"
    return _BUILD.replace(end, f"{_NAMES}{end}", 1) if has_names else _BUILD


_BUILD = '''
def build_messages(values):
    """The messages that the model gets first."""
    messages = []
    for item in MESSAGES:
        if "thread" in item:
            messages += values.get(item["thread"]) or []
        else:
            messages.append(fill(item, values))
    for message in messages:
        if isinstance(message.get("content"), list):
            message["content"] = [media(part) for part in message["content"] if holds(part)]
    return messages


def holds(part):
    """Whether a picture, file or recording was given; an input without a value is left out."""
    inner = part.get(part.get("type", ""))
    if not isinstance(inner, dict):
        return True
    return any(inner.get(key) for key in ("url", "data", "file_data"))


def media(part):
    """A part whose local file, named from this script's folder, is put in as data."""
    kind = part.get("type")
    if kind == "image_url":
        part["image_url"]["url"] = data_uri(part["image_url"]["url"])
    elif kind == "file" and "url" in part["file"]:
        name = Path(part["file"]["url"]).name
        part["file"] = {"filename": name, "file_data": data_uri(part["file"]["url"])}
    elif kind == "input_audio" and (FOLDER / part["input_audio"]["data"][:200]).is_file():
        file = FOLDER / part["input_audio"]["data"]
        part["input_audio"] = {
            "data": base64.b64encode(file.read_bytes()).decode(),
            "format": file.suffix.lstrip(".") or "wav",
        }
    return part


def data_uri(source):
    """The content of a local file as a data URI; an address or data as it is."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:", source):
        return source
    file = FOLDER / source
    kind = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
'''

LOAD = '''
def _load(name, function):
    """A function of a Python file beside this script."""
    module = sys.modules.get(f"_tools:{name}")
    if module is None:
        spec = importlib.util.spec_from_file_location(f"_tools:{name}", FOLDER / name)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str((FOLDER / name).parent))
        spec.loader.exec_module(module)
    return getattr(module, function)
'''

CALL = '''
def call_tool(name, arguments, values):
    """What a tool answers, as text; whatever goes wrong is told to the model."""
    if name not in FUNCTIONS:
        return f"Error: {name} is not a valid tool, try one of [{', '.join(FUNCTIONS)}]."
    try:
        given = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments or {}
        for parameter, source in BINDINGS.get(name, {}).items():
            given[parameter] = values.get(source)
        answer = validate_call(FUNCTIONS[name])(**given)
        if inspect.isawaitable(answer):
            answer = asyncio.run(_wait(answer))
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is told to the model
        return f"Error: {type(error).__name__}: {error}"
    return answer if isinstance(answer, str) else json.dumps(answer, default=str)


async def _wait(answer):
    return await answer
'''

ASK = '''
def ask(client, messages, show=None, **further):
    """The message that the model answers with; `show` gets its text as it comes."""
    asked = {"model": MODEL, "messages": messages, **OPTIONS, **further}
    if show is None:
        return client.chat.completions.create(**asked).choices[0].message
    text = ""
    calls = {}
    for chunk in client.chat.completions.create(stream=True, **asked):
        for delta in [choice.delta for choice in chunk.choices if choice.index == 0]:
            if delta.content:
                show(delta.content)
                text += delta.content
            for part in delta.tool_calls or []:
                call = calls.setdefault(part.index, {"id": "", "name": "", "arguments": ""})
                call["id"] = part.id or call["id"]
                if part.function:
                    call["name"] += part.function.name or ""
                    call["arguments"] += part.function.arguments or ""
    whole = [
        {
            "id": call["id"],
            "type": "function",
            "function": {"name": call["name"], "arguments": call["arguments"]},
        }
        for call in calls.values()
    ]
    return ChatCompletionMessage.model_validate(
        {"role": "assistant", "content": text or None, "tool_calls": whole or None}
    )


def make_client():
    """The client; the key comes from the environment."""
    return OpenAI(api_key=os.environ.get(KEY_VARIABLE) or "none", base_url=BASE_URL)
'''

MAIN = '''
def main():
    """Read the inputs from the command line, run, and print the answer."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, value in INPUTS.items():
        parser.add_argument(
            f"--{name}", dest=name, default=None, required=name in REQUIRED, metavar="VALUE",
            help=f"default: {value!r}"[:100].replace("%", "%%") if value is not None else "",
        )
    parser.add_argument(
        "--stream" if "stream" not in INPUTS else "--stream-answer", dest=" stream",
        action="store_true", help="show what the model writes as it comes",
    )
    given = {key: item for key, item in vars(parser.parse_args()).items() if item is not None}
    show = show_text if given.pop(" stream") else None
    values = {**INPUTS, **{name: read_value(name, text) for name, text in given.items()}}
    answer = run(values, show=show)
    print("" if show and SHOWN_IS_ANSWER else answer)


def show_text(text):
    """Write a part of a text at once."""
    print(text, end="", flush=True, file=sys.stdout if SHOWN_IS_ANSWER else sys.stderr)


def read_value(name, text):
    """A text input as it is, every other kind as JSON."""
    return text if name in TEXTS else json.loads(text)


if __name__ == "__main__":
    main()
'''
