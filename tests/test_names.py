"""Names: one public type name has one meaning, asks are `request_…`, given-up words stay away."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OF_THE_LIBRARY = {"Path"}
"""Names of types that every reader knows from elsewhere."""

GIVEN_UP = {
    "AskPerson",
    "AskedCall",
    "AskedModel",
    "CalmCollector",
    "Care",
    "ConnectionDesk",
    "Course",
    "FirstPlace",
    "JsonSpot",
    "KeptEdits",
    "Mood",
    "Retelling",
    "RunDesk",
    "RunWorld",
    "Said",
    "Sketch",
    "ToolsDesk",
    "Trail",
    "call_told",
    "gist",
    "known_same",
    "mood_of",
    "said_by",
    "said_newly",
    "sketched_step",
    "spot_at",
}
"""Names that a reader who knows the field would ask about; docs/glossary.md has better ones."""

NO_VERBS = set(
    """
    A After All Always An And Another Any As At Before Behind Below Beside Both By Each Either Every
    Everything Few For From Her His How If In Inside Into It Its Many More Most Neither Never No
    None Nothing Now Of On Once One Only Or Other Our Out Over Several Since So Some Somebody
    Something Such That The Their Then There These They This Those Three To Two Under Until Whether
    Which While Whole With Without

    Approvals Arguments Assertions Attributes Backgrounds Bars Batches Boxes Bytes Calls Cards
    Cells Changes Characters Class Columns Ctrl Defaults Edits Entries Esc Fields Figures Files
    First Front Functions Headers Identifiers Inputs Items JSON Keys Labels Last Left Line Lines
    Literal Markers Media Messages Names Nodes Notes Number Options Parameters Paths Pictures
    Pieces Pixels Places Plain Problems Prompts Prompty References Results Role Room Root Rows
    Runs Seconds Secrets Sections Servers Someone Space Statements Status Steps Tab Text Texts
    Threads Times Tokens Tool Tools Unknown Uses Values Variables Variants Verdict Ways When Where
    Words
    """.split()
)
"""First words of a docstring that does not say what its function does."""


@cache
def trees() -> dict[str, ast.Module]:
    """The product's modules by path."""
    return {
        path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "studio").rglob("*.py"))
    }


def types_of(tree: ast.Module) -> Iterator[str]:
    """The public types that a module defines: classes, and aliases in either spelling."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias":
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.Attribute):
            yield from (ast.unparse(each) for each in node.targets)


def is_type_name(name: str) -> bool:
    return re.fullmatch(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*", name) is not None


def test_types_are_found_in_every_spelling() -> None:
    text = "class A1a: ...\nBee: TypeAlias = int\nCee = tuple[int, ...]\nDee = x.Y\n_no = a.b\n"
    found = [name for name in types_of(ast.parse(text)) if is_type_name(name)]
    assert found == ["A1a", "Bee", "Cee", "Dee"]


def test_a_public_type_name_has_one_meaning() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for path, tree in trees().items():
        for name in types_of(tree):
            if is_type_name(name):
                homes[name].append(path)
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert not twice
    assert not OF_THE_LIBRARY & homes.keys()


def test_signals_that_ask_are_requests() -> None:
    wrong = [
        f"{path}: {target.id}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("Signal(")
        for target in node.targets
        if isinstance(target, ast.Name)
        and re.search(r"(^|_)(asked|requested|wanted)$", target.id) is not None
    ]
    assert not wrong


def test_no_name_that_was_given_up_comes_back() -> None:
    found = [
        f"{path}: {name}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        for name in (
            getattr(node, "id", None),
            getattr(node, "attr", None),
            getattr(node, "name", None),
        )
        if isinstance(name, str) and name in GIVEN_UP
    ]
    assert not found


def test_pause_points_are_no_literals() -> None:
    codes = {f"P{each}" for each in "123456X"}
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        if not path.endswith("/step.py")
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes
    ]
    assert not found


def test_the_formatter_is_switched_off_nowhere() -> None:
    """Find no mark that keeps lines from the formatter: it hides how long the code is."""
    mark = re.compile(r"#\s*fmt:\s*(skip|off)")
    files = [
        path
        for folder in ("studio", "tests", "packaging")
        for path in (ROOT / folder).rglob("*.py")
    ]
    found = [
        path.relative_to(ROOT).as_posix()
        for path in files
        if mark.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_docstrings_begin_with_no_question_word() -> None:
    """A docstring begins with a verb or a noun ("Return …", "Number of …"), not with "What …"."""
    found = [
        f"{path}:{node.lineno}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        and re.match(r"(?:What|Whatever|How|Where|Who|Why)\b", node.value.value)
    ]
    assert not found


def test_docstrings_of_functions_begin_with_a_verb() -> None:
    """A function's docstring says what it does ("Return …"); a property's may name a value."""
    nouns = {"property", "cached_property", "setter"}
    found = [
        f"{path}:{node.lineno} {word}"
        for path, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not nouns & {ast.unparse(each).split(".")[-1] for each in node.decorator_list}
        for word in (ast.get_docstring(node) or "").split()[:1]
        if re.fullmatch(r"[A-Z][a-z]+[,.:;]*", word) is None or word.rstrip(",.:;") in NO_VERBS
    ]
    assert not found
