"""What in a tool's name and description a stranger may have put there for the model, or to hide.

These are marks for the user, no defence: a description can mislead in any words.
"""

from __future__ import annotations

import json
import re

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.invisible import has_invisible

_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
    r"\b(?:previous|prior|above|earlier|other|all|system)\b"
    r"|\b(?:do not|don't|never)\b.{0,30}\b(?:tell|mention|inform|show|reveal)\b.{0,30}\buser\b"
    r"|\byou (?:must|should) (?:(?:always|now|first|also) (?:call|use|pass|send|read|include)"
    r"|call|use (?:this|the) tool)\b"
    r"|(?:^|[.!\n] *)you are (?:now )?an?\b"
    r"|\b(?:pass|send|include|attach)\b.{0,40}"
    r"\b(?:api[ _-]?key|password|secret|credential|token)s?\b"
    r"|\bbefore (?:using|calling) (?:this|any)(?: other)? tool\b",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = re.compile(
    r"</?(?:a|b|i|p|br|div|span|img|script|style|svg|iframe|object|embed|form|input|link|meta|base"
    r"|system|important|instructions?|user|assistant|tool)(?:\s[^<>]*)?/?>"
    r"|<!--|!\[[^\]]*\]\([^)]*\)",
    re.IGNORECASE,
)
"""Pages' and prompts' own tags, and pictures; a placeholder such as `<owner>` is none, and links
are honest (GitHub's API has a thousand)."""


def suspicions(spec: ToolSpec) -> tuple[str, ...]:
    """What the user should look at in a tool's texts, a sentence each.

    Args:
        spec: the tool; its name, its description, and all texts of its schema are looked at.
    """
    schema = json.dumps(spec.parameters, ensure_ascii=False, default=str)
    texts = (spec.name, spec.description, schema)
    found = []
    if any(has_invisible(text) for text in texts):
        found.append("It has characters that are not seen; they are shown as ⟨U+…⟩.")
    if any(_ADDRESSED.search(text) for text in texts):
        found.append("Its words address the model, not the user.")
    if any(_MARKUP.search(text) for text in texts):
        found.append("It has markup in it, which is shown as text.")
    return tuple(found)
