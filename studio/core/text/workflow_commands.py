"""Texts inside the commands of GitHub's workflow log (`::error file=…::message`).

Source: `escapeData` and `escapeProperty` of actions/toolkit. A command ends at its line.
"""


def command_text(text: str) -> str:
    """Return a message escaped for one line."""
    return _escaped(text, "%\r\n")


def command_property(text: str) -> str:
    """Return a property's value, with colons and commas escaped too."""
    return _escaped(text, "%\r\n:,")


def _escaped(text: str, characters: str) -> str:
    for character in characters:  # the percent sign first, since the escapes contain it
        text = text.replace(character, f"%{ord(character):02X}")
    return text
