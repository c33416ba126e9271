from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio.core.masking.masker import Masker
from studio.core.masking.walk import changed, masked


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value with names and texts."""

    name: str
    text: str = ""
    path: str = ""
    count: int = 0


@dataclass(frozen=True)
class Tree:
    """A value of values."""

    leaves: tuple[Leaf, ...] = ()
    data: dict[str, Any] = field(default_factory=dict)
    marks: frozenset[str] = frozenset()


def masker() -> Masker:
    made = Masker()
    made.note("${env:MODE}", "standard")
    made.note("${env:A_KEY}", "hunter-two")
    made.note("${env:PIN_KEY}", "12345678")
    return made


def test_every_text_is_masked() -> None:
    found: set[str] = set()
    tree = Tree(
        (Leaf("standard", "is standard", "/x/standard/hunter-two", 12345678), Leaf("hunter-two")),
        {"standard": ["standard", {"hunter-two": 12345678, "n": 5}], "ok": (True, None, 1.5)},
    )
    made = masked(tree, masker(), found)
    assert made.leaves == (
        Leaf("standard", "is ${env:MODE}", "/x/standard/${env:A_KEY}", 12345678),
        Leaf("${env:A_KEY}"),
    )
    assert made.data == {
        "standard": ["${env:MODE}", {"${env:A_KEY}": "${env:PIN_KEY}", "n": 5}],
        "ok": (True, None, 1.5),
    }
    assert found == {"${env:MODE}", "${env:A_KEY}", "${env:PIN_KEY}"}


def test_what_holds_no_secret_is_the_same_value() -> None:
    tree = Tree((Leaf("a", "b"),), {"c": ["d", 7], "e": {"f": "g"}}, frozenset({"standard"}))
    assert masked(tree, masker()) is tree


def test_every_text_can_be_changed_in_another_way() -> None:
    tree = Tree((Leaf("a", "b", "c"),), {"d": ["e"]})
    assert changed(tree, str.upper) == Tree((Leaf("A", "B", "C"),), {"D": ["E"]})
