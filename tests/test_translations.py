"""The window's words: each passes through Qt, and German has all of them."""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication, QDialogButtonBox

from studio.core.paths import user_paths
from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import build_services, install_language, language_for
from studio.ui.dialogs.settings.dialog import SettingsDialog

ROOT = Path(__file__).resolve().parent.parent
SETTERS = {
    "setText",
    "setToolTip",
    "setPlaceholderText",
    "setAccessibleName",
    "setAccessibleDescription",
    "setWindowTitle",
    "setTitle",
    "setInformativeText",
    "setStatusTip",
    "setSpecialValueText",
    "setTabText",
    "addTab",
    "addAction",
    "addMenu",
    "addSection",
    "addButton",
    "addRow",
    "setLabelText",
    "setSuffix",
    "setPrefix",
    "QLabel",
    "QPushButton",
    "QCheckBox",
    "QRadioButton",
    "QGroupBox",
    "QMenu",
    "Notice",
    "Offer",
    "EmptyState",
    "getText",
    "getOpenFileName",
    "getSaveFileName",
    "question",
}
NOT_WORDS = re.compile(
    r"Prompt Studio|JSON|((Ctrl|Shift|Alt)\+)+\S+|Esc|F\d+|[a-z]+(-[a-z0-9]+)*|\*\.\w+"
)


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """`packaging/translations.py`, which is in no package."""
    spec = importlib.util.spec_from_file_location(
        "translations", ROOT / "packaging" / "translations.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def words(tool: ModuleType) -> list[Any]:
    """Every text of the window."""
    found: list[Any] = tool.collect()
    return found


def unwrapped(path: Path) -> Iterator[str]:
    """The texts that a setter gets as they stand in the source."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        if getattr(node.func, "attr", getattr(node.func, "id", "")) not in SETTERS:
            continue
        for value in node.args:
            branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            for each in branches:
                text = ""
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    text = each.value
                elif isinstance(each, ast.JoinedStr):
                    text = "".join(
                        str(part.value) for part in each.values if isinstance(part, ast.Constant)
                    )
                is_markup = "<" in text or "{" in text
                is_word = re.search(r"[A-Za-z]{3}", text) and not NOT_WORDS.fullmatch(text.strip())
                if is_word and not is_markup:
                    yield f"{path.relative_to(ROOT)}:{node.lineno} {text!r}"


def test_every_word_of_the_window_passes_through_qt() -> None:
    found = [
        each for path in sorted((ROOT / "studio" / "ui").rglob("*.py")) for each in unwrapped(path)
    ]
    assert found == []


def test_words_are_found_in_all_forms(tool: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "studio").mkdir()
    (tmp_path / "studio" / "a.py").write_text(
        "T = {'a': marked('One ' 'two')}\n"
        "class Pane(QWidget):\n"
        "    def f(self):\n"
        "        return tr('Three {x}').format(x=tr('Run', 'verb') + tr(self.name))\n",
        encoding="utf-8",
    )
    table = tmp_path / tool.ROWS[0]
    table.parent.mkdir(parents=True)
    table.write_text("# No  text\n[roles]\nuser  What is said\n", encoding="utf-8")
    found = {(word.source, word.meaning) for word in tool.collect(tmp_path)}
    assert found == {("One two", ""), ("Three {x}", ""), ("Run", "verb"), ("What is said", "")}


def test_qt_is_not_asked_for_words_past_the_one_function() -> None:
    """Hold the one context: a text that is asked for by a class has no translation."""
    others = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "studio").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(r"\.tr\(|QCoreApplication\.translate\(|QT_TRANSLATE_NOOP", line)
    ]
    assert others == []


def test_words_of_tables_are_found(words: list[Any]) -> None:
    found = {word.source for word in words}
    assert {"Needs an API key from platform.openai.com.", "the default", "Save"} <= found


def test_german_has_every_word_with_the_same_places(tool: ModuleType, words: list[Any]) -> None:
    done = tool.read(tool.FOLDER / "prompt_studio_de.ts")
    missing = [repr(word.source) for word in words if not done.get(word)]
    assert missing == [], "run `make i18n`, and translate what is unfinished"
    fields = re.compile(r"\{\w*(?:![rs])?(?::[^{}]*)?\}")
    odd = [
        word.source
        for word in words
        if sorted(fields.findall(word.source)) != sorted(fields.findall(done[word]))
        and "${env:" not in word.source
    ]
    assert odd == []


def test_the_compiled_translation_is_the_text_one(tool: ModuleType, qapp: QApplication) -> None:
    translator = QTranslator()
    assert translator.load(str(tool.FOLDER / "prompt_studio_de.qm"))
    done = tool.read(tool.FOLDER / "prompt_studio_de.ts")
    old = [
        word.source
        for word, german in done.items()
        if german and translator.translate(tool.CONTEXT, word.source, word.meaning) != german
    ]
    assert old == [], "run `make i18n`"


def test_a_language_that_there_is_none_of_is_english(monkeypatch: pytest.MonkeyPatch) -> None:
    assert language_for("de") == "de"
    assert language_for("xx") == language_for("")
    assert language_for("") in {"en", "de"}


@pytest.fixture
def german(qapp: QApplication) -> Iterator[None]:
    before = QLocale()
    translators = install_language(qapp, "de")
    assert translators
    yield
    for each in translators:
        QCoreApplication.removeTranslator(each)
    QLocale.setDefault(before)


@pytest.mark.qt_log_ignore("does not support propagateSizeHints")
def test_the_window_speaks_german(german: None, qapp: QApplication) -> None:
    window = MainWindow(build_services(user_paths()))
    window.show()
    titles = [action.text() for action in window.menus.actions()]
    assert titles[:2] == ["&Datei", "&Bearbeiten"]
    assert titles[-1] == "&Hilfe"
    assert window.actions_by_id["file.save"].text() == "Speichern"
    assert window.actions_by_id["run.start"].toolTip().startswith("Den Prompt ausführen")
    assert window.docks["problems"].windowTitle() == "Probleme"
    window.commands.settings()
    (dialog,) = window.findChildren(SettingsDialog)
    assert dialog.windowTitle() == "Einstellungen"
    assert dialog.looks.form.widgets["theme"].itemText(0) == "Wie das System"
    (buttons,) = dialog.findChildren(QDialogButtonBox)
    assert buttons.button(QDialogButtonBox.StandardButton.Close).text().replace("&", "") in {
        "Schließen"
    }
    dialog.close()
    window.close()
    window.deleteLater()
