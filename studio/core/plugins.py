"""Plug-ins of other packages: objects named by entry points (docs/extending.md).

A plug-in runs in the studio's process, with the rights of the user who installed it. Each of its
errors is reported with its package and affects only the plug-in.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from studio.core.text.files import read_bounded

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Group: TypeAlias = Literal["exporters", "importers", "connections", "tool_sources", "checks"]
"""Kind of plug-in. The entry points' group is `prompt_studio.` and this word."""

GROUPS: tuple[Group, ...] = get_args(Group)
"""All groups."""

SWITCH = "PROMPT_STUDIO_PLUGINS"
"""Environment variable; `off` disables all plug-ins. `--safe` sets it."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A loaded entry point."""

    group: Group
    """Kind of plug-in."""

    name: str
    """The entry point's name."""

    package: str
    """Package and version: "studio-yaml 1.2"."""

    value: object = None
    """Loaded object; None if loading failed."""

    error: str = ""
    """Reason why it cannot be used; empty if it can."""


def installed(group: Group) -> tuple[Plugin, ...]:
    """Return the usable plug-ins of a group, in the order of their names."""
    return tuple(plugin for plugin in all_plugins(group) if not plugin.error)


def all_plugins(group: Group) -> tuple[Plugin, ...]:
    """Return the plug-ins of a group, including faulty ones; none if plug-ins are disabled."""
    return () if os.environ.get(SWITCH) == "off" else _load_group(group)


def failed() -> tuple[Plugin, ...]:
    """Return the faulty plug-ins of all groups."""
    return tuple(each for group in GROUPS for each in all_plugins(group) if each.error)


def fault(plugin: Plugin, error: Exception) -> str:
    """Return one sentence about which plug-in failed, and how."""
    what = str(error) or "without a word"
    return f"The plug-in {plugin.name!r} of {plugin.package} failed: {type(error).__name__}: {what}"


@cache
def _load_group(group: Group) -> tuple[Plugin, ...]:
    if not _any_named():
        return ()
    # Importing it takes longer than most commands.
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=f"prompt_studio.{group}"), key=lambda each: each.name)
    return tuple(_load(group, each) for each in found)


@cache
def _any_named() -> bool:
    """Return whether an installed package has a plug-in of any group."""
    for place in map(Path, sys.path):
        if place.is_file():  # Python itself looks into an archive of packages
            return True
        for name in ("*.dist-info", "*.egg-info", "EGG-INFO"):
            for found in place.glob(f"{name}/entry_points.txt"):
                if b"prompt_studio." in read_bounded(found):
                    return True
    return False


def _load(group: Group, point: EntryPoint) -> Plugin:
    package = f"{point.dist.name} {point.dist.version}" if point.dist else "an unknown package"
    plugin = Plugin(group, point.name, package)
    try:
        value = point.load()
    except Exception as error:  # noqa: BLE001 - anything may happen while foreign code is imported
        return Plugin(group, point.name, package, error=fault(plugin, error))
    lacking = [name for name in _WANTED[group] if not hasattr(value, name)]
    if not callable(value) and group == "checks":
        lacking.append("__call__")
    if lacking:
        words = ", ".join(lacking)
        return Plugin(
            group,
            point.name,
            package,
            error=f"The plug-in {point.name!r} of {package} has no {words} (docs/extending.md).",
        )
    return Plugin(group, point.name, package, value)


_WANTED: dict[Group, tuple[str, ...]] = {
    "exporters": ("name", "label", "group", "suffix", "needs_values", "about", "make"),
    "importers": ("name", "suffixes", "accepts", "read"),
    "connections": ("id", "title", "connection"),
    "tool_sources": ("kind", "open"),
    "checks": (),
}
"""Required attributes of a group's objects; the protocols of each interface document them."""
