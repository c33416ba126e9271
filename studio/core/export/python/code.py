"""The fixed parts of an exported script, as source: rendering, media, tools, its own options."""

from __future__ import annotations

import re

from studio.core.models.base import ProtocolName
from studio.core.paths import resource_text
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


def script_part(name: str) -> str:
    """Return a fixed part of an exported script, with an empty line before it."""
    return "\n" + resource_text("export", "python", f"{name}.py.txt")


def imports(source: str) -> str:
    """The import lines that the rest of a script needs, in the usual order."""
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
"""Package and source of `render`, by template language."""

FILL = script_part("fill")

FILL_PLAIN = script_part("fill_plain")

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


_BUILD = script_part("build")

LOAD = script_part("load")

CALL = script_part("call")

ASK = script_part("ask")

MAIN = script_part("main")


# The loops of an exported script, as source: how it asks until there is an answer.

PLAIN_RUN = script_part("plain_run")

NATIVE_RUN = script_part("native_run")

READ_OBJECT = script_part("read_object")

SUPPLY = script_part("supply")

REACT_RUN = script_part("react_run")

JSON_RUN = script_part("json_run")

RUNS: dict[ProtocolName, tuple[str, ...]] = {
    "native": (NATIVE_RUN,),
    "react": (SUPPLY, REACT_RUN, READ_OBJECT),
    "json_action": (SUPPLY, JSON_RUN, READ_OBJECT),
}
"""Parts of each protocol's loop."""
