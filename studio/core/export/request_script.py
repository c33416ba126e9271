"""Programs that send a request's body: a curl command, a Python script.

Both read the key from the environment when they run; neither contains it.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.core.models.batches.open_batches import unstreamed
from studio.core.prompty.reference_values import find_references
from studio.core.text.values import Json, JsonObject
from studio.core.wire.request import Provider

# Plain values as readable Python source.

_WIDTH = 88


def python_literal(value: Json, indent: int = 0) -> str:
    """Return a value as a Python literal; long ones and long texts over several lines."""
    flat = _flat(value)
    if len(flat) + indent <= _WIDTH and "\\n" not in flat:
        return flat
    inner = " " * (indent + 4)
    outer = " " * indent
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, Mapping) and value:
        rows = [
            f"{inner}{_flat(str(key))}: {python_literal(item, indent + 4)},"
            for key, item in value.items()
        ]
        return "\n".join(["{", *rows, f"{outer}}}"])
    if isinstance(value, list | tuple) and value:
        rows = [f"{inner}{python_literal(item, indent + 4)}," for item in value]
        return "\n".join(["[", *rows, f"{outer}]"])
    return flat


def python_expression(value: Json) -> str:
    """Return a value as Python source that looks up `${env:NAME}` when it runs."""
    variables: dict[str, str] = {}

    def marked(item: Json) -> Json:
        if isinstance(item, Mapping):
            return {key: marked(inner) for key, inner in item.items()}
        if isinstance(item, list):
            return [marked(inner) for inner in item]
        look_up = _with_variables(item) if isinstance(item, str) else ""
        if not look_up:
            return item
        mark = f"\0{len(variables)}\0"
        variables[_flat(mark)] = look_up
        return mark

    text = python_literal(marked(value))
    for mark, look_up in variables.items():
        text = text.replace(mark, look_up)
    return text


def environment_variable(name: str, default: str | None) -> str:
    """Return the expression that looks up an environment variable; an unset one is empty."""
    return f"os.environ.get({_flat(name)}, {_flat(default or '')})"


def _with_variables(text: str) -> str:
    """Return the expression for a text with references; empty if it has none."""
    parts: list[str] = []
    at = 0
    text = text.strip() if any(find_references(text)) else text
    for found in find_references(text):
        if found.protocol != "env":
            continue
        rest = text[found.span.end :]
        before = text[at : found.span.start]
        trimmed = '.rstrip("/")' if rest.startswith("/") else ""
        parts += [_flat(before)] if before else []
        parts.append(environment_variable(found.argument, found.default) + trimmed)
        at = found.span.end
    if not parts:
        return ""
    return " + ".join([*parts, *([_flat(text[at:])] if text[at:] else [])])


def _text(value: str, indent: int) -> str:
    """Return a long text as adjacent strings in parentheses, one per line, with visible escapes."""
    lines = value.splitlines(keepends=True) if "\n" in value else [value]
    if len(lines) == 1:
        return _flat(value)
    inner = " " * (indent + 4)
    return "\n".join(["(", *(f"{inner}{_flat(line)}" for line in lines), f"{' ' * indent})"])


def _flat(value: Json) -> str:
    if isinstance(value, str):
        # JSON's escapes are also Python's; unprintable characters stay escaped.
        written = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else _escape(char) for char in written)
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_flat(str(key))}: {_flat(item)}" for key, item in value.items())
        return f"{{{inside}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_flat(item) for item in value)}]"
    return repr(value)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


_END = "END_OF_BODY"
_BEARER = ("Authorization: Bearer $OPENAI_API_KEY",)
_KNOWN = frozenset(
    """
    model messages input instructions prompt tools response_format text reasoning temperature
    top_p max_completion_tokens max_output_tokens frequency_penalty presence_penalty seed stop
    parallel_tool_calls reasoning_effort
""".split()
)
"""Arguments of the openai package; others go into `extra_body`."""


@dataclass(frozen=True, slots=True)
class ApiEndpoint:
    """The address of a kind of request, and the openai package's method for it."""

    path: str
    """Path after the API's address."""

    address: str = "https://api.openai.com/v1"
    """The provider's default address."""

    headers: tuple[str, ...] = _BEARER
    """Headers of the request including its key, for a shell."""

    call: str = ""
    """Method of openai's client; empty if the package does not support this API."""

    reply: str = ""
    """Expression for the part of the reply to print."""

    whole: JsonObject = field(default_factory=dict)
    """Keys of the body for an unstreamed reply, if omitting `stream` is not enough."""

    variable: str = "ANTHROPIC_BASE_URL"
    """Variable for another address, if the package does not support this API."""


_ENDPOINTS: Mapping[str, ApiEndpoint] = {
    "openai-chat": ApiEndpoint(
        "/chat/completions", call="chat.completions.create", reply="reply.choices[0].message"
    ),
    "openai-responses": ApiEndpoint(
        "/responses", call="responses.create", reply="reply.output_text"
    ),
    "anthropic": ApiEndpoint(
        "/messages",
        "https://api.anthropic.com/v1",
        ("x-api-key: $ANTHROPIC_API_KEY", "anthropic-version: 2023-06-01"),
        reply='["content"]',
    ),
    "ollama": ApiEndpoint(
        "/api/chat",
        "http://localhost:11434",
        (),
        reply='["message"]["content"]',
        whole={"stream": False},
        variable="OLLAMA_HOST",
    ),
    "gemini": ApiEndpoint(
        "/models/{model}:generateContent",
        "https://generativelanguage.googleapis.com/v1beta",
        ("x-goog-api-key: $GEMINI_API_KEY",),
        reply='["candidates"][0]["content"]',
        variable="GOOGLE_GEMINI_BASE_URL",
    ),
    "embedding": ApiEndpoint(
        "/embeddings", call="embeddings.create", reply="reply.data[0].embedding"
    ),
    "image": ApiEndpoint("/images/generations", call="images.generate", reply="reply.data[0]"),
}


def endpoint_of(provider: Provider, api: str = "chat") -> ApiEndpoint:
    """Return the address of a request; only OpenAI creates embeddings and images."""
    return _ENDPOINTS[api if api in ("embedding", "image") else provider]


def curl_command(
    body: JsonObject, endpoint: ApiEndpoint, base_url: str = "", in_shell: str = ""
) -> str:
    """Write a shell command that sends a body and prints the whole reply, unstreamed.

    The body is a here-document, so nothing in it needs quoting.

    Args:
        body: body of the request.
        endpoint: address of the request.
        base_url: address of the API; empty for the provider's default.
        in_shell: the whole address in shell syntax, if a part comes from the environment.
    """
    address = in_shell or shlex.quote((base_url or endpoint.address).rstrip("/") + endpoint.path)
    lines = [
        f"curl --silent --show-error {address} \\",
        *(f'  --header "{header}" \\' for header in endpoint.headers),
        "  --header 'Content-Type: application/json' \\",
        f"  --data @- <<'{_END}'",
        json_text({**unstreamed(body), **endpoint.whole}).rstrip("\n"),
        _END,
    ]
    return "\n".join(lines) + "\n"


def body_of(text: str) -> JsonObject:
    """Return the body in a written request, command or line."""
    if f"<<'{_END}'\n" in text:
        text = text.partition(f"<<'{_END}'\n")[2].rpartition(f"\n{_END}")[0]
    data: Json = json.loads(text)
    return data if isinstance(data, Mapping) else {}


def python_script(body: JsonObject, endpoint: ApiEndpoint, base_url: str = "") -> str:
    """Return a script that sends a body and prints the reply.

    Args:
        body: body of the request.
        endpoint: address of the request.
        base_url: address of the API; empty for the provider's default.
    """
    body = unstreamed(body)
    if not endpoint.call:
        return _plain_script(body, endpoint, base_url)
    address = f"base_url={base_url!r}" if base_url else ""
    lines = [f"    {key}={python_literal(body[key], 4)}," for key in body if key in _KNOWN]
    further = {key: value for key, value in body.items() if key not in _KNOWN}
    if further:
        lines.append(f"    extra_body={python_literal(further, 4)},")
    return "\n".join(
        [
            "import openai",
            "",
            f"client = openai.OpenAI({address})  # the key: OPENAI_API_KEY",
            f"reply = client.{endpoint.call}(",
            *lines,
            ")",
            f"print({endpoint.reply})",
            "",
        ]
    )


def _plain_script(body: JsonObject, endpoint: ApiEndpoint, base_url: str) -> str:
    """Return a script that sends the request with Python alone, without packages."""
    # Without the version in its path, as Anthropic's own clients write the address.
    address, path = (base_url or endpoint.address).rstrip("/"), endpoint.path
    if endpoint.path == "/messages":
        address, path = address.removesuffix("/v1"), "/v1/messages"
    headers = [each.split(": ", 1) for each in endpoint.headers]
    return "\n".join(
        [
            "import json",
            "import os",
            "import urllib.request",
            "",
            f'address = os.environ.get("{endpoint.variable}", {address!r})',
            f"body = {python_literal({**body, **endpoint.whole})}",
            "request = urllib.request.Request(",
            f'    address.rstrip("/") + "{path}",',
            "    data=json.dumps(body).encode(),",
            "    headers={",
            '        "content-type": "application/json",',
            *(f'        "{name}": {_header_value(value)},' for name, value in headers),
            "    },",
            ")",
            "with urllib.request.urlopen(request) as reply:",
            f"    print(json.load(reply){endpoint.reply})",
            "",
        ]
    )


def _header_value(value: str) -> str:
    """Return a shell header as Python source: an environment variable, or a text."""
    return f'os.environ["{value[1:]}"]' if value.startswith("$") else f'"{value}"'


def json_text(value: Json) -> str:
    """Return JSON for reading, with a final line break."""
    return sendable(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def sendable(text: str) -> str:
    """Return JSON with characters escaped that UTF-8 cannot encode."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
