"""What is to be exported, and where it is offered to go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from studio.core.export.target import ExportTarget
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ExportSubject:
    """What is to be exported."""

    document: PromptDocument
    """The text as it is in the editor, parsed."""

    title: str
    """The name of its tab."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values of now."""

    sets: Mapping[str, JsonObject] = field(default_factory=dict)
    """The saved input sets."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; None for those of the document."""

    base_url: str = ""
    """Address of the connection."""

    model: str = ""
    """Model id of the connection, where the prompt names none."""

    trusted: bool = True
    """Whether the prompt's folder is trusted, so that its references may be read."""

    @property
    def folder(self) -> Path:
        """The folder of the prompt; the user's own where it has no file yet."""
        path = self.document.source.path
        return path.parent if path is not None else Path.home()

    def path_for(self, target: ExportTarget) -> Path:
        """A file beside the prompt that is not the prompt's own."""
        own = self.document.source.path
        stem = Path(self.title).stem or "prompt"
        path = self.folder / f"{stem}{target.suffix}"
        if path == own or (target.suffix == ".prompty" and own is None):
            return self.folder / f"{stem}.export{target.suffix}"
        return path
