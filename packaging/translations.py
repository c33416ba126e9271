"""Collect the window's words for translation, and compile the translations.

    python packaging/translations.py          collect, compile
    python packaging/translations.py --check  only say what is missing; exit code 1 if anything is

The texts are found by reading the source as Python does: `tr("…")` and `marked("…")` of the
application layer's `words.py`, and some tables that are translated where they are shown. All have
one context; a second argument of `tr` tells the meanings of one word apart. The `.ts` files are
Qt's, for Qt Linguist.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "i18n"
LANGUAGES = ("de",)
CONTEXT = "Studio"
TABLES = ("models/choice.py",)
"""Files whose tables are translated where they are shown."""

ROWS = (
    "resources/words/completion.txt",
    "resources/words/snippets.toml",
    "resources/words/tour.txt",
    "resources/words/actions.txt",
    "resources/words/presets.toml",
    "resources/words/forms.toml",
    "resources/words/menus.toml",
    "resources/words/protocols.toml",
)
"""Bundled tables of words, each with a text that is translated."""

_IN_CALLS = {"_choice": (2,)}
"""Which arguments are texts, by what is called in those tables."""


@dataclass(frozen=True, order=True)
class Word:
    """One text to translate."""

    source: str
    """The English text."""

    meaning: str = ""
    """What tells it from the same text elsewhere."""


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _called_words(tree: ast.Module) -> Iterator[Word]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"tr", "marked"}:
            texts = [text for each in node.args if (text := _text(each)) is not None]
            if texts and texts[0]:
                yield Word(*texts)


def _table(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _table_words(tree: ast.Module) -> Iterator[Word]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            places = _IN_CALLS.get(getattr(node.func, "id", ""), ())
            values = [node.args[at] for at in places if at < len(node.args)]
            yield from (Word(text) for each in values if (text := _text(each)))


def _row_words(path: Path) -> Iterator[Word]:
    """Yield the texts of a bundled table: the second column of its rows, of actions the fifth too.

    Of a table in TOML: each `help`, `title` and `hint`; of the forms also what names a field.
    """
    if path.name == "menus.toml":
        yield from map(Word, tomllib.loads(path.read_text(encoding="utf-8"))["bar"])
        return
    if path.suffix == ".toml":
        keys = ["help", "title", "hint"]
        if path.name == "forms.toml":
            keys += ["label", "name", "about", "unit"]
        for rows in tomllib.loads(path.read_text(encoding="utf-8")).values():
            for row in rows:
                texts = [*(row.get(key, "") for key in keys), *row.get("choices", {}).values()]
                yield from (Word(text) for text in texts if text)
        return
    places = (1, 4) if path.name == "actions.txt" else (1,)
    for line in path.read_text(encoding="utf-8").splitlines():
        columns = [] if line.startswith("#") else re.split(" {2,}", line)
        found = (columns[at] for at in places if at < len(columns))
        yield from (Word(text) for text in found if text != "-")


def collect(root: Path = ROOT) -> list[Word]:
    """Return every text of the window once, of the program and of its bundled tables."""
    found: set[Word] = set()
    for path in sorted((root / "studio").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(_called_words(tree))
        if _table(path) in TABLES:
            found.update(_table_words(tree))
    for part in ROWS:
        if (root / part).exists():
            found.update(_row_words(root / part))
    return sorted(found)


def read(path: Path) -> dict[Word, str]:
    """Return the translations of a `.ts` file; unfinished ones are left out."""
    if not path.exists():
        return {}
    done = {}
    for message in ET.parse(path).getroot().iter("message"):
        translation = message.find("translation")
        if translation is not None and translation.get("type") != "unfinished":
            word = Word(message.findtext("source") or "", message.findtext("comment") or "")
            done[word] = translation.text or ""
    return done


def write(path: Path, language: str, words: list[Word], done: dict[Word, str]) -> None:
    """Write a `.ts` file; a text that has no translation yet is marked as unfinished."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    context = ET.SubElement(root, "context")
    ET.SubElement(context, "name").text = CONTEXT
    for word in words:
        message = ET.SubElement(context, "message")
        ET.SubElement(message, "source").text = word.source
        if word.meaning:
            ET.SubElement(message, "comment").text = word.meaning
        translation = ET.SubElement(message, "translation")
        if done.get(word):
            translation.text = done[word]
        else:
            translation.set("type", "unfinished")
    ET.indent(root, "  ")
    text = ET.tostring(root, encoding="unicode")
    head = '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}{text}\n", encoding="utf-8")


def main() -> int:
    """Collect and compile; returns 1 where something is not translated."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    only_check = parser.parse_args().check
    words = collect()
    missing = 0
    for language in LANGUAGES:
        path = FOLDER / f"prompt_studio_{language}.ts"
        done = read(path)
        left = [word for word in words if not done.get(word)]
        missing += len(left)
        for word in left:
            print(f"{language}: {word.source!r}")
        print(f"{language}: {len(words) - len(left)} of {len(words)} texts translated")
        if not only_check:
            write(path, language, words, done)
            tool = Path(sys.executable).parent / "pyside6-lrelease"
            subprocess.run(
                [str(tool), "-silent", str(path), "-qm", str(path.with_suffix(".qm"))], check=True
            )
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
