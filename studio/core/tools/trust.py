"""Which folders may run code: the person's word, kept in the person's own data folder.

Until a folder is trusted, no Python tool, MCP command or `${env:}` of it is run or read. A file can
never grant itself trust: nothing in a prompt, nor beside it, is looked at. The examples that come
with the studio are trusted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import get_args

from studio.core.paths import user_paths
from studio.core.resource_files import resource_root
from studio.core.tools.registry import Approval

WHOLE_FOLDER = "*"
"""Stands for all tools of a folder that have no approval of their own."""


@dataclass(frozen=True)
class Trust:
    """What the person allowed."""

    folders: frozenset[Path] = frozenset()
    """Trusted folders, resolved; what is below is trusted too."""

    approvals: Mapping[str, Mapping[str, Approval]] = field(default_factory=dict)
    """Approval by folder (as text) and tool, where the person chose one."""

    def covers(self, path: Path) -> bool:
        """Whether a file or folder lies in a trusted folder, after links are followed."""
        place = _resolved(path)
        if _bundled() in (place, *place.parents):
            return True
        return any(folder in (place, *place.parents) for folder in self.folders)

    def approval(self, folder: Path, tool: str) -> Approval | None:
        """The approval that the person chose for a tool of a folder, or for all of the folder."""
        chosen = self.approvals.get(str(_resolved(folder)), {})
        return chosen.get(tool, chosen.get(WHOLE_FOLDER))

    def folder_approval(self, folder: Path) -> Approval | None:
        """The approval that the person chose for all tools of a folder."""
        return self.approvals.get(str(_resolved(folder)), {}).get(WHOLE_FOLDER)

    def trusted_as(self, path: Path) -> Path | None:
        """The folder by whose trust a path is trusted; None for the bundled examples, or none."""
        place = _resolved(path)
        return next((each for each in (place, *place.parents) if each in self.folders), None)

    def with_folder(self, folder: Path) -> Trust:
        """Trust one folder more."""
        return replace(self, folders=self.folders | {_resolved(folder)})

    def without_folder(self, folder: Path) -> Trust:
        """Trust it no more; folders below that were trusted themselves stay so."""
        return replace(self, folders=self.folders - {_resolved(folder)})

    def with_approval(self, folder: Path, tool: str, approval: Approval | None) -> Trust:
        """Remember an approval, or with None forget it."""
        key = str(_resolved(folder))
        tools = dict(self.approvals.get(key, {}))
        tools.pop(tool, None)
        if approval is not None:
            tools[tool] = approval
        return replace(self, approvals={**self.approvals, key: tools})


class TrustStore:
    """Keeps `Trust` in a file; read at every question, so that two windows agree."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_paths().data / "trust.json"

    @property
    def current(self) -> Trust:
        """What is allowed now; a file that cannot be read allows nothing."""
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return Trust()
        return _from_json(data)

    def is_trusted(self, path: Path) -> bool:
        """Whether a file or folder lies in a trusted folder."""
        return self.current.covers(path)

    def trust(self, folder: Path) -> None:
        """Remember that the person trusts a folder and what is below."""
        self._write(self.current.with_folder(folder))

    def forget(self, folder: Path) -> None:
        """Trust a folder no more."""
        self._write(self.current.without_folder(folder))

    def remember_approval(self, folder: Path, tool: str, approval: Approval | None) -> None:
        """Keep the person's choice for a tool of a folder."""
        self._write(self.current.with_approval(folder, tool, approval))

    def _write(self, trust: Trust) -> None:
        text = json.dumps(
            {
                "folders": sorted(str(folder) for folder in trust.folders),
                "approvals": {key: dict(tools) for key, tools in trust.approvals.items()},
            },
            ensure_ascii=False,
            indent=2,
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self._path.with_suffix(".new")
        fresh.write_text(text + "\n", encoding="utf-8")
        os.replace(fresh, self._path)  # noqa: PTH105 - atomic, also where the target exists


def _from_json(data: object) -> Trust:
    if not isinstance(data, dict):
        return Trust()
    folders = data.get("folders")
    approvals = data.get("approvals")
    return Trust(
        frozenset(Path(item) for item in folders if isinstance(item, str))
        if isinstance(folders, list)
        else frozenset(),
        {
            folder: {
                tool: mode
                for tool, mode in tools.items()
                if mode in get_args(Approval) and isinstance(tool, str)
            }
            for folder, tools in approvals.items()
            if isinstance(tools, dict)
        }
        if isinstance(approvals, dict)
        else {},
    )


def _bundled() -> Path:
    return resource_root().resolve() / "examples"


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.absolute()
