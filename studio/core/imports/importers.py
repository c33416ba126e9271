"""Every format that is told by what stands in its JSON or YAML, the studio's own and plug-ins'."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import cast

from studio.core.imports.agentschema import import_agent_schema, is_agent_schema
from studio.core.imports.hosted import (
    import_chatgpt,
    import_langfuse,
    import_stored,
    is_chatgpt,
    is_langfuse,
    is_stored,
)
from studio.core.imports.imported import Imported, Importer, ImportFailure, ImportSource
from studio.core.imports.langchain import import_langchain, is_langchain
from studio.core.imports.promptfoo import import_promptfoo, is_promptfoo
from studio.core.imports.record import with_unread_keys
from studio.core.imports.request_json import import_request, is_request
from studio.core.plugins import Plugin, fault, installed
from studio.core.prompty.yaml.reader import write_yaml
from studio.core.text.files_beside import files_matching
from studio.core.text.values import Json

_MOST_FILES = 1000
_DATA = (".json", ".jsonl", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class DataFormat:
    """A format that is known by its data."""

    name: str
    """For people."""

    is_one: Callable[[Json], bool]
    """Whether data is of this format."""

    make: Callable[[ImportSource, int], Imported]
    """Makes the prompt file."""

    suffixes: tuple[str, ...] = _DATA
    """Endings of its files."""

    reads_text: bool = False
    """Whether `make` reads the text and not the data, and names unread keys by itself."""

    def accepts(self, source: ImportSource) -> bool:
        """Whether the file is of this format."""
        return self.is_one(source.data)

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Make the prompt file."""
        if self.reads_text:
            return self.make(source, choose)
        return with_unread_keys(
            source.data, lambda data: self.make(replace(source, data=data), choose)
        )


IMPORTERS: tuple[Importer, ...] = (
    DataFormat("Langfuse prompt", is_langfuse, lambda source, _: import_langfuse(source.data)),
    DataFormat("OpenAI stored prompt", is_stored, lambda source, _: import_stored(source.data)),
    DataFormat(
        "ChatGPT conversations", is_chatgpt, lambda source, n: import_chatgpt(source.data, n)
    ),
    DataFormat(
        "promptfoo configuration",
        is_promptfoo,
        lambda source, choose: import_promptfoo(
            source.text, source.read_beside, choose, partial(_beside, source)
        ),
        reads_text=True,
    ),
    DataFormat(
        "LangChain prompt",
        is_langchain,
        lambda source, _: import_langchain(source.data, source.read_beside),
    ),
    DataFormat("request body", is_request, lambda source, _: import_request(source.data)),
    DataFormat(
        "AgentSchema agent",
        is_agent_schema,
        lambda source, _: _agent_schema(source),
        reads_text=True,  # as edits of the text, in which every key stays
    ),
)
"""The studio's own; no two accept the same data."""


def _beside(source: ImportSource, pattern: str) -> tuple[str, ...]:
    """The files in the folder of a source, or below it, that a pattern means."""
    if source.path is None or ".." in PurePath(pattern).parts or PurePath(pattern).is_absolute():
        return ()
    folder = source.path.parent.resolve()
    try:
        paths = files_matching(folder, pattern, lambda each: each.resolve().is_relative_to(folder))
    except (ValueError, OSError):  # a text with stars in it, and no pattern
        return ()
    return tuple(path.relative_to(folder).as_posix() for path in paths[:_MOST_FILES])


def _agent_schema(source: ImportSource) -> Imported:
    # JSON is YAML but for its tabs: it is written anew, in lines that edits can take apart.
    is_json = source.text.lstrip().startswith("{")
    text = "\n".join(write_yaml(source.data)) + "\n" if is_json else source.text
    return import_agent_schema(text)


def find_importer(source: ImportSource) -> Importer | None:
    """Who reads a file: a plug-in that knows it, else one of the studio's own."""
    for plugin in installed("importers"):
        door = PluginImporter(plugin)
        if door.accepts(source):
            return door
    return next((each for each in IMPORTERS if each.accepts(source)), None)


def importer_suffixes() -> tuple[str, ...]:
    """Endings of the files that importers read, the studio's own and plug-ins', each once."""
    added = (PluginImporter(plugin) for plugin in installed("importers"))
    return tuple(dict.fromkeys(ending for each in (*IMPORTERS, *added) for ending in each.suffixes))


@dataclass(frozen=True, slots=True)
class PluginImporter:
    """The format of a plug-in; whatever it raises ends that one import and is named."""

    plugin: Plugin
    """Holds an `Importer`."""

    @property
    def inner(self) -> Importer:
        """The plug-in's own object."""
        return cast("Importer", self.plugin.value)

    @property
    def name(self) -> str:
        """The format."""
        return str(self.inner.name)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of its files."""
        return tuple(str(each).lower() for each in self.inner.suffixes)

    def accepts(self, source: ImportSource) -> bool:
        """Whether the file is of this format; files of other endings are not shown to it."""
        suffix = source.path.suffix.lower() if source.path is not None else ""
        if suffix and suffix not in self.suffixes:
            return False
        try:
            return bool(self.inner.accepts(source))
        except Exception as error:
            raise ImportFailure(fault(self.plugin, error)) from error

    def read(self, source: ImportSource, choose: int) -> Imported:
        """Make the prompt file."""
        try:
            made = self.inner.read(source, choose)
            if not isinstance(made, Imported):
                raise TypeError(f"read() gave {type(made).__name__}, no Imported")
        except ImportFailure:
            raise
        except Exception as error:
            raise ImportFailure(fault(self.plugin, error)) from error
        return made
