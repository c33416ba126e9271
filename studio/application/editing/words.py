"""Words for completion that no document declares."""

from studio.core.paths import resource_table

_WORDS = resource_table("words", "completion.txt")

ROLES = _WORDS["roles"]
ATTRIBUTES = _WORDS["attributes"]
MEDIA = _WORDS["media"]
REFERENCES = _WORDS["references"]
FILTERS = _WORDS["filters"]
TESTS = _WORDS["tests"]
STATEMENTS = _WORDS["statements"]

SECTION_ROLES = frozenset({"tool", "tools", "thread"})
"""Roles of the section dialect only; elsewhere they are text."""

RESERVED = _WORDS["reserved"]
"""Variables of a run (docs/design/file-format.md)."""

ITEM_FIELDS = {
    name.removeprefix("item_fields."): rows
    for name, rows in _WORDS.items()
    if name.startswith("item_fields.")
}
"""Fields of the items of reserved lists."""

LOOP_FIELDS = _WORDS["loop_fields"]
"""Attributes of `loop` in a Jinja `for`."""
