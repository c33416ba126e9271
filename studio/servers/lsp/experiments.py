"""Names of an experiment file in the protocol: its files, and inputs that other files hold too."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from studio.application.editing.experiment.names import (
    FileEdits,
    declaration_of,
    file_at,
    rename_from,
    value_name_at,
)
from studio.servers.lsp.open_text import OpenText
from studio.servers.lsp.positions import Positions


def definition_at(reading: OpenText, offset: int) -> types.Location | None:
    """The file that is named at a place, or where a prompt declares the input of a value."""
    path = reading.document.source.path
    file = file_at(reading.document, offset)
    if file is not None and path is not None:
        start = types.Position(0, 0)
        return types.Location((path.parent / file).as_uri(), types.Range(start, start))
    found = value_name_at(reading.document, offset)
    declared = declaration_of(reading.document, found[0]) if found is not None else None
    if declared is None or declared[0].source.path is None:
        return None
    prompt, span = declared
    assert prompt.source.path is not None
    positions = Positions(prompt.source, reading.encoding)
    return types.Location(prompt.source.path.as_uri(), positions.range(span))


def renamable_at(reading: OpenText, offset: int) -> types.PrepareRenamePlaceholder | None:
    """The value of a row at a place, which can be renamed with the prompt's input."""
    found = value_name_at(reading.document, offset)
    if found is None or declaration_of(reading.document, found[0]) is None:
        return None
    return types.PrepareRenamePlaceholder(reading.positions.range(found[1].key), found[0])


def rename_at(reading: OpenText, offset: int, new: str) -> types.WorkspaceEdit | None:
    """Edits that rename the value at a place in the experiment, its rows and its prompts.

    Raises:
        ValueError: the new name is none, or is taken; the text says which.
    """
    found = value_name_at(reading.document, offset)
    if found is None:
        return None
    changes = rename_from(reading.document, found[0], new)
    return with_files(reading, types.WorkspaceEdit(changes={}), changes)


def with_files(
    reading: OpenText, edit: types.WorkspaceEdit, others: Iterable[FileEdits]
) -> types.WorkspaceEdit:
    """An edit with those of other files beside it."""
    changes = {**(edit.changes or {})}
    for each in others:
        is_own = each.path == reading.document.source.path
        uri = reading.uri if is_own else each.path.as_uri()
        changes.setdefault(uri, Positions(each.source, reading.encoding).edits(each.edits))
    return types.WorkspaceEdit(changes=changes)
