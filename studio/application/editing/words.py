"""Words that completion offers and that no document declares."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

ROLES: Mapping[str, str] = MappingProxyType(
    {
        "system": "Instructions for the model",
        "developer": "Instructions, as newer models call them",
        "user": "What the user says",
        "assistant": "What the model said",
        "tool": "What a tool answered (section dialect)",
        "tools": "Tools of this prompt, as YAML (section dialect)",
        "thread": "The conversation so far (section dialect)",
    }
)

SECTION_ROLES = frozenset({"tool", "tools", "thread"})
"""Roles that only the section dialect knows; elsewhere they are text."""

ATTRIBUTES: Mapping[str, str] = MappingProxyType(
    {
        "name": "Name of who speaks",
        "type": "tool_call: the section holds a call as YAML",
        "tool_call_id": "The call that this answers",
        "key": "Any key is kept and travels with the message",
    }
)

MEDIA: Mapping[str, str] = MappingProxyType(
    {
        "thread": "The conversation so far",
        "image": "A picture, by path or address",
        "file": "A file",
        "pdf": "A PDF file",
        "document": "A file",
        "audio": "A recording",
        "recording": "A recording",
        "video": "A film",
    }
)

REFERENCES: Mapping[str, str] = MappingProxyType(
    {
        "env:": "An environment variable: ${env:NAME} or ${env:NAME:default}",
        "file:": "The content of a file beside the prompt",
        "params:": "A parameter of the run (section dialect)",
    }
)

FILTERS: Mapping[str, str] = MappingProxyType(
    {
        "join": "The items as one text: join(', ')",
        "default": "Another value where it is undefined: default('none')",
        "tojson": "As JSON",
        "length": "How many",
        "trim": "Without blanks at the ends",
        "upper": "In capitals",
        "lower": "In small letters",
        "title": "With Capital Initials",
        "capitalize": "First letter in capitals",
        "replace": "replace('old', 'new')",
        "first": "The first item",
        "last": "The last item",
        "sort": "Sorted",
        "unique": "Each item once",
        "reverse": "Backwards",
        "list": "As a list",
        "map": "map(attribute='name')",
        "select": "The items that pass a test",
        "selectattr": "selectattr('key', 'equalto', value)",
        "reject": "The items that fail a test",
        "items": "Pairs of key and value",
        "dictsort": "Pairs, sorted by key",
        "indent": "Indent the lines: indent(2)",
        "truncate": "Cut at a length: truncate(80)",
        "wordcount": "How many words",
        "round": "round(2)",
        "int": "As a whole number",
        "float": "As a number",
        "string": "As text",
        "escape": "With HTML's special characters replaced",
        "sum": "The sum",
        "min": "The smallest",
        "max": "The largest",
        "batch": "In groups: batch(3)",
        "groupby": "groupby('key')",
        "striptags": "Without HTML tags",
        "urlencode": "For an address",
    }
)

TESTS: Mapping[str, str] = MappingProxyType(
    {
        "defined": "It has a value",
        "undefined": "It has none",
        "none": "It is null",
        "string": "It is text",
        "number": "It is a number",
        "mapping": "It is an object",
        "sequence": "It is a list or text",
        "iterable": "It can be looped over",
        "equalto": "equalto(value)",
        "in": "in(list)",
        "even": "An even number",
        "odd": "An odd number",
        "divisibleby": "divisibleby(3)",
    }
)

STATEMENTS: Mapping[str, str] = MappingProxyType(
    {
        "if": "if … %}…{% endif",
        "elif": "Another condition",
        "else": "Otherwise",
        "endif": "Ends if",
        "for": "for item in list %}…{% endfor",
        "endfor": "Ends for",
        "set": "set name = value",
        "macro": "macro name(arguments)",
        "endmacro": "Ends macro",
        "raw": "Text with no template in it",
        "endraw": "Ends raw",
    }
)

RESERVED: Mapping[str, str] = MappingProxyType(
    {
        "question": "What the agent is asked",
        "input": "The same as question",
        "history": "The steps so far: thought, action, arguments, observation",
        "tools": "The tools: name, description, arguments",
        "tool_names": "The tools' names",
        "examples": "Examples of actions",
        "chat_history": "The conversation so far, as text",
        "agent_scratchpad": "The actions so far, as text",
        "thread": "The conversation so far",
    }
)
"""Names that a run supplies (docs/design/file-format.md)."""

ITEM_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "history": {
            "thought": "Why",
            "action": "Which tool",
            "arguments": "With what, as an object",
            "observation": "What it answered",
        },
        "tools": {
            "name": "Its name",
            "description": "What it does",
            "arguments": "Its parameters: name, type, description, required",
        },
        "arguments": {
            "name": "Its name",
            "type": "Its type",
            "description": "What it is",
            "required": "Whether it must be given",
        },
    }
)
"""Fields of the items of reserved lists."""

LOOP_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "index": "The number of the item, from 1.",
        "index0": "The number of the item, from 0.",
        "first": "Whether it is the first item.",
        "last": "Whether it is the last item.",
        "length": "How many items there are.",
        "revindex": "How many items are left, this one counted.",
        "revindex0": "How many items are left behind this one.",
        "previtem": "The item before this one.",
        "nextitem": "The item behind this one.",
        "depth": "How deep a recursive loop is, from 1.",
        "depth0": "How deep a recursive loop is, from 0.",
        "cycle": "One of its values after the other: loop.cycle('odd', 'even').",
        "changed": "Whether a value is another than in the last turn: loop.changed(item.day).",
    }
)
"""What `loop` tells inside of a Jinja `for`."""
