"""The names by which models call tools: of what providers take, and each of one tool only."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from studio.core.prompty.tool_spec import ToolId

LONGEST_NAME = 64
"""Characters: OpenAI's and Anthropic's limit."""

_LONGEST_PREFIX = 24
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def model_names(
    groups: Iterable[Mapping[str, Iterable[str]]], taken: Iterable[str] = ()
) -> dict[ToolId, str]:
    """A name for each tool of several sources.

    A name that several sources of a group use, or that is taken already, gets the prefix of its
    source, each time: which of two servers answers `read_file` is then no question of their order.

    Args:
        groups: names by the key of their source; those of an earlier group keep theirs.
        taken: names that the document gives to tools that it declares.
    """
    found: dict[ToolId, str] = {}
    used = set(taken)
    for group in groups:
        safe = {
            ToolId(key, own): name
            for key, names in group.items()
            for own, name in safe_names(names).items()
        }
        count = Counter(safe.values())
        shared = {
            tool: prefixed_name(tool, name)
            for tool, name in safe.items()
            if count[name] > 1 or name in used
        }
        mimics = set(shared.values())  # no other tool can have such a name
        plain = {tool: name for tool, name in safe.items() if tool not in shared}
        found |= {tool: name for tool, name in plain.items() if name not in mimics}
        used.update(name for name in plain.values() if name not in mimics)
        others = {t: prefixed_name(t, name) for t, name in plain.items() if name in mimics}
        for tool, name in (shared | others).items():
            found[tool] = free_model_name(name, used)
            used.add(found[tool])
    return found


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """A name for each name, by the name as the source has it; no two are the same.

    Letters, digits, `_` and `-`, at most 64: names that are so stay as they are.
    """
    names = tuple(dict.fromkeys(names))
    found = {name: name for name in names if _safe(name) == name}
    taken = set(found.values())
    for name in names:
        if name not in found:
            found[name] = free_model_name(_safe(name), taken)
            taken.add(found[name])
    return found


def free_model_name(name: str, taken: set[str]) -> str:
    """Return the name, cut to its limit, with a number where it is taken."""
    free, count = name[:LONGEST_NAME], 2
    while free in taken:
        end = f"_{count}"
        free, count = name[: LONGEST_NAME - len(end)] + end, count + 1
    return free


def prefixed_name(tool: ToolId, name: str = "") -> str:
    """Return the name of a tool with its source's prefix ("weather__forecast").

    Args:
        tool: the tool.
        name: its name without one; its source's own by default.
    """
    kind, _, source = tool.source.partition(":")
    prefix = _safe(PurePath(source).stem if kind == "python" else source)[:_LONGEST_PREFIX]
    return f"{prefix}__{name or _safe(tool.name)}"


def _safe(name: str) -> str:
    if not _OTHER.search(name) and 0 < len(name) <= LONGEST_NAME:
        return name
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return _OTHER.sub("_", plain).strip("_")[:LONGEST_NAME] or "tool"
