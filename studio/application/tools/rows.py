"""Rows of the tools table as values: the cells of each tool."""

import time

from studio.application.words import marked, tr
from studio.core.text.invisible import reveal
from studio.core.tools.registry import ToolEntry

COLUMNS = (
    (marked("Tool"), marked("Selected: the model gets the tool")),
    (marked("State"), marked("What happens when the tool is called")),
    (marked("Source"), marked("Where the tool is from")),
    (marked("Method"), marked("HTTP method of an operation")),
    (marked("Path"), marked("Path of an operation")),
    (marked("Declared"), marked("Where the prompt declares the tool")),
    (marked("Approval"), marked("When you are asked before a call")),
    (marked("Effects"), marked("Whether a call has side effects")),
    (marked("Last used"), marked("When the tool was last called, and how often")),
)
"""Title and tooltip of each column."""


STATE_WORDS = {
    "declared": marked("not bound"),
    "bound": marked("ready"),
    "mocked": marked("mocked"),
}
"""Display names of the states: the effect of calling the tool."""


APPROVAL_WORDS = {
    "always": marked("always ask"),
    "once": marked("ask once"),
    "allow": marked("allowed"),
}
"""Display names of the approvals."""


def column_head(column: int) -> str:
    """Return a column's title."""
    return tr(COLUMNS[column][0])


def column_tip(column: int) -> str:
    """Return the tooltip of a column."""
    return tr(COLUMNS[column][1])


def cell_text(entry: ToolEntry, column: int) -> str:
    """Return the text of a cell."""
    match column:
        case 0:
            return reveal(entry.name, lines=False)
        case 1:
            return tr(STATE_WORDS[entry.state])
        case 2:
            return entry.source
        case 3:
            return reveal(entry.method, lines=False)
        case 4:
            return reveal(entry.route, lines=False)
        case 5:
            return _declared(entry)
        case 6:
            return _approval(entry)
        case 7:
            return tr(effects_word(entry))
        case _:
            return _used(entry)


def sort_key(entry: ToolEntry, column: int) -> tuple[float, str]:
    """Return the sort key of a column: the newest use first, texts alphabetically."""
    if column == len(COLUMNS) - 1:
        return (-(entry.last_used or 0.0), "")
    return (0.0, cell_text(entry, column).casefold())


def effects_word(entry: ToolEntry) -> str:
    """Return the label for a tool's declared side effects."""
    if entry.spec.has_effects:
        return marked("has effects")
    return "" if entry.spec.reads_only or not entry.id.source else marked("unknown")


def _approval(entry: ToolEntry) -> str:
    words = tr(APPROVAL_WORDS[entry.asks])
    if entry.change is None or entry.mock is not None:
        return words
    why = tr("changed") if entry.change.before is not None else tr("new")
    return f"{words} ({why})"


def cell_tip(entry: ToolEntry) -> str:
    """Return the tooltip of a cell."""
    words = entry.problem or entry.spec.description or entry.name
    words = "\n".join((*entry.marks, words))
    if entry.id.name == entry.name:
        return words
    own = tr("{source} calls it {name!r}.").format(source=entry.source, name=entry.id.name)
    return f"{own}\n{words}"


def _declared(entry: ToolEntry) -> str:
    """Return the place of the declaration: the front matter, the section of tools, the source."""
    if not entry.declared:
        kind = "" if entry.further else entry.id.source.partition(":")[0]
        return {"mcp": tr("its server"), "openapi": tr("its service")}.get(kind, "")
    return tr("front matter") if entry.spec.source == "document" else entry.spec.source


def _used(entry: ToolEntry) -> str:
    ago = _ago(entry.last_used)
    return f"{ago}, {entry.calls} calls" if entry.calls > 1 else ago


def _ago(when: float | None) -> str:
    if when is None:
        return ""
    seconds = max(0, int(time.time() - when))
    if seconds < 60:
        return tr("just now")
    if seconds < 3600:
        return tr("{number} min ago").format(number=seconds // 60)
    return time.strftime("%H:%M", time.localtime(when))
