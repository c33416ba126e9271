"""Collect the window's words for translation, and compile the translations.

    python packaging/translations.py          collect, compile
    python packaging/translations.py --check  only say what is missing; exit code 1 if anything is

The words are found by reading the source as Python does: `self.tr("…")` belongs to its class,
`QCoreApplication.translate("Context", "…")`, the application layer's `translate("Context", "…")`
and `QT_TRANSLATE_NOOP("Context", "…")` name theirs,
`_tr("…")` and `marked("…")` are a module's short forms, and some tables are translated where they
are shown. Qt's own `lupdate` is not used for this: it gives `self.tr` the wrong context after a
`translate` in the same class (6.11), and then the translation is never found. The `.ts` files are
Qt's, for Qt Linguist.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "i18n"
LANGUAGES = ("de",)
TABLES = {
    "base/actions.py": "Actions",
    "base/menus.py": "Actions",
    "editing/words.py": "CompletionWords",
    "models/connections.py": "Presets",
    "models/choice.py": "Choices",
}
_IN_CALLS = {"ActionSpec": (1, 4), "Preset": (1, 3), "_choice": (2,)}
"""Which arguments are words, by what is called in those tables."""
"""Files whose tables are translated where they are shown, with their context."""


@dataclass(frozen=True, order=True)
class Word:
    """One text to translate."""

    context: str
    source: str


class _Collector(ast.NodeVisitor):
    def __init__(self) -> None:
        self.found: list[Word] = []
        self._classes: list[str] = []
        self._short = ""  # context of a module's `_tr`

    def visit_Assign(self, node: ast.Assign) -> None:
        call = node.value
        if getattr(node.targets[0], "id", "") == "_tr" and isinstance(call, ast.Call):
            self._short = _text(call.args[1]) or ""
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_Call(self, node: ast.Call) -> None:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        texts = [_text(each) for each in node.args]
        if name == "tr" and texts and texts[0] is not None and self._classes:
            self.found.append(Word(self._classes[-1], texts[0]))
        elif name in {"_tr", "marked"} and texts and texts[0] is not None:
            self.found.append(Word(self._short, texts[0]))
        elif name in {"translate", "QT_TRANSLATE_NOOP"} and len(texts) > 1 and all(texts[:2]):
            self.found.append(Word(str(texts[0]), str(texts[1])))
        self.generic_visit(node)


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _table(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _table_words(path: Path, tree: ast.Module) -> Iterator[Word]:
    context = TABLES[_table(path)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            places = _IN_CALLS.get(getattr(node.func, "id", ""), ())
            values = [node.args[at] for at in places if at < len(node.args)]
            if places:
                values += [each.value for each in node.keywords if each.arg in {"text", "tip"}]
            yield from (Word(context, text) for each in values if (text := _text(each)))
        elif path.name == "menus.py":
            if isinstance(node, ast.Constant) and str(node.value).startswith("&"):
                yield Word(context, str(node.value))
        elif isinstance(node, ast.Dict) and path.name == "words.py":
            yield from (Word(context, text) for each in node.values if (text := _text(each)))


def collect(root: Path = ROOT / "studio") -> list[Word]:
    """Every text of the window, by context, each once."""
    found: dict[Word, None] = {}
    for path in sorted(root.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        collector = _Collector()
        collector.visit(tree)
        if _table(path) in TABLES:
            collector.found += _table_words(path, tree)
        found.update(dict.fromkeys(collector.found))
    return sorted(found)


def read(path: Path) -> dict[Word, str]:
    """The translations of a `.ts` file; unfinished ones are left out."""
    if not path.exists():
        return {}
    done = {}
    for context in ET.parse(path).getroot().iter("context"):
        name = context.findtext("name") or ""
        for message in context.iter("message"):
            translation = message.find("translation")
            if translation is not None and translation.get("type") != "unfinished":
                done[Word(name, message.findtext("source") or "")] = translation.text or ""
    return done


def write(path: Path, language: str, words: list[Word], done: dict[Word, str]) -> None:
    """Write a `.ts` file; what has no translation yet stands there as unfinished."""
    root = ET.Element("TS", version="2.1", language=language, sourcelanguage="en")
    contexts: dict[str, ET.Element] = {}
    for word in words:
        if word.context not in contexts:
            contexts[word.context] = ET.SubElement(root, "context")
            ET.SubElement(contexts[word.context], "name").text = word.context
        message = ET.SubElement(contexts[word.context], "message")
        ET.SubElement(message, "source").text = word.source
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
            print(f"{language}: {word.context}: {word.source!r}")
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
