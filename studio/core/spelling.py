"""Offline spelling check of a prompt's prose with Hunspell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from studio.core.prompty.document import PromptDocument
from studio.core.text.source import Span

BUNDLED = "en_US"
"""Language of the dictionary that comes with the library."""

SYSTEM_FOLDERS = (Path("/usr/share/hunspell"), Path("/usr/share/myspell/dicts"))
"""Folders of the system's dictionaries."""

_MOST = 500
_SUGGESTIONS = 5
_NO_PROSE = re.compile(
    r"^(?P<fence>[ ]{0,3}(`{3,}|~{3,})).*?(?:^[ ]{0,3}\2|\Z)"  # fenced code
    r"|`[^`\n]+`"
    # Each ends before the next of its kind begins; an unclosed one would be read to the end each
    # time.
    r"|\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}|\{#(?:(?!\{#).)*?#\}"
    r"|\$\{[^{}\n]*\}|(?<!\{)\{\w+\}(?!\})"
    r"|!\[[^\[\]\n]*\](?:\([^()\n]*\))?|\]\([^()\n]*\)"
    r"|\b[a-z]+://\S+|(?<!\S)[^\s@]+@\S+|<[^<>\n]+>",
    re.MULTILINE | re.DOTALL,
)
_WORD = re.compile(r"(?<![\w@/\\.#$&=+])[^\W\d_]+(?:['’][^\W\d_]+)*(?![\w/\\=(@]|\.\w)")


class Dictionary(Protocol):
    """The interface of a dictionary."""

    def spell(self, word: str) -> bool:
        """Return whether the word is correct."""

    def suggest(self, word: str) -> tuple[str, ...]:
        """Return possible corrections, most likely first."""


@dataclass(frozen=True, slots=True)
class Misspelled:
    """A word that is not in the dictionary."""

    span: Span
    """Span of the word in the text."""

    word: str
    """The word."""


def languages(folders: tuple[Path, ...] = SYSTEM_FOLDERS) -> tuple[str, ...]:
    """Return the available languages: the bundled one, then the system's."""
    found = {
        path.stem
        for folder in folders
        if folder.is_dir()
        for path in folder.glob("*.dic")
        if path.with_suffix(".aff").is_file()
    }
    return (BUNDLED, *sorted(found - {BUNDLED}))


@cache
def dictionary(language: str) -> Dictionary:
    """Load a language's dictionary; takes a third of a second, so call it from a worker.

    Raises:
        ValueError: there is no dictionary for the language.
    """
    from hunspell import Hunspell

    if language == BUNDLED:
        return Hunspell(BUNDLED)  # type: ignore[no-any-return]
    for folder in SYSTEM_FOLDERS:
        if (folder / f"{language}.dic").is_file():
            return Hunspell(language, hunspell_data_dir=str(folder))  # type: ignore[no-any-return]
    raise ValueError(f"there is no dictionary for {language!r}")


def misspelled(
    document: PromptDocument, words: Dictionary, own: frozenset[str] = frozenset()
) -> tuple[Misspelled, ...]:
    """Return the misspelled words of the body's prose, at most 500.

    Code, templates, addresses, file names and words with capitals or digits are not checked; the
    names of the prompt's own inputs and tools are accepted.
    """
    known = {word.lower() for word in own}
    known |= {each.name.lower() for each in document.inputs}
    known |= {each.name.lower() for each in document.tools}
    judged: dict[str, bool] = {}
    found: list[Misspelled] = []
    for span, word in prose_words(document):
        if word not in judged:
            judged[word] = word.lower() in known or _is_word(words, word)
        if not judged[word]:
            found.append(Misspelled(span, word))
            if len(found) >= _MOST:
                break
    return tuple(found)


def suggestions(word: str, words: Dictionary) -> tuple[str, ...]:
    """Return possible corrections, most likely first."""
    try:
        return tuple(words.suggest(_plain(word)))[:_SUGGESTIONS]
    except UnicodeEncodeError:
        return ()


def prose_words(document: PromptDocument) -> Iterator[tuple[Span, str]]:
    """Yield the words of the body's prose with their spans."""
    text = document.source.text
    for section in document.sections:
        marker = text[section.marker.start : section.marker.end] if section.marker else ""
        if section.role == "tools" or "tool_call" in marker.partition("tool_call_id")[0]:
            continue  # YAML
        start = section.content.start
        prose = _NO_PROSE.sub(lambda match: " " * len(match[0]), text[start : section.content.end])
        for match in _WORD.finditer(prose):
            word = match[0]
            if len(word) > 2 and (word.islower() or word.istitle() or word[1:].islower()):
                yield Span(start + match.start(), start + match.end()), word


def _is_word(words: Dictionary, word: str) -> bool:
    try:
        return words.spell(_plain(word))
    except UnicodeEncodeError:
        return True  # in another script than the dictionary's, so it cannot be checked


def _plain(word: str) -> str:
    return word.replace("’", "'")
