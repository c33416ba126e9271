"""The preview in a real window of an X server, with keys and clicks as a person makes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.screen import Screen, needs_screen, studio_on_screen

pytestmark = needs_screen

DOC = """---
name: trip
template:
  format: {kind: jinja2, strict: false}
  parser: {kind: section}
inputs:
  city: {kind: string, sample: Lisbon}
---
system:
You know {{ city }} well.

user:
What is there to see?
"""


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    """The studio, open on a prompt."""
    path = tmp_path / "trip.prompty"
    path.write_text(DOC, encoding="utf-8")
    with studio_on_screen("window_child.py", path) as made:
        yield made


def test_a_person_types_clicks_and_probes(screen: Screen) -> None:
    shown = screen.until(lambda s: len(s["cards"]) == 2, "two cards")
    assert shown["cards"][0] == "You know Lisbon well."

    # Type: the card changes, without a save.
    screen.click(shown["editor"])
    screen.press("ctrl+End")
    screen.type("Tell me more.")
    shown = screen.until(
        lambda s: "Tell me more." in s["cards"][1] and s["lit"] == [False, True], "the typed words"
    )

    # Click a card: the caret goes to its marker, and the card lights.
    screen.click(shown["headers"][0])
    shown = screen.until(lambda s: s["lit"] == [True, False], "the first card lit")
    assert shown["text"].splitlines()[shown["line"] - 1] == "system:"
    # Click a value: the caret goes to the expression that made it.
    screen.click(shown["words"]["Lisbon"])
    shown = screen.until(
        lambda s: "{{ city }}" in s["text"].splitlines()[s["line"] - 1], "the value's expression"
    )

    # The keyboard stayed in the text: the next key writes there, over nothing.
    before = shown["text"]
    screen.type("z")
    shown = screen.until(lambda s: s["text"] != before, "the key in the text")
    assert shown["text"].replace("z", "", 1) == before
    screen.press("ctrl+z")
    screen.until(lambda s: s["text"] == before, "the key undone")

    # An error: the cards stay, dimmed; the problem is named, and a click leads to it.
    screen.click(shown["editor"])
    screen.press("ctrl+End")
    screen.press("Return")
    screen.type("{{ city | nofilter ")
    shown = screen.until(lambda s: s["dimmed"] and "nofilter" in s["banner"], "the problem named")
    assert shown["cards"][0] == "You know Lisbon well."
    screen.press("ctrl+Home")
    screen.until(lambda s: s["line"] == 1, "the caret at the start")
    screen.click(shown["banner_place"])
    last = len(shown["text"].splitlines())
    screen.until(lambda s: s["line"] == last, "the caret at the problem")
    for _ in range(40):
        if not screen.state().get("dimmed", True):
            break
        screen.press("ctrl+z")
    shown = screen.until(lambda s: not s["dimmed"] and not s["probe_said"], "good again")

    # The probe finds the planted hole: `strict: false` lets values bring markers.
    screen.click(shown["more"])
    screen.press("Up")  # the last line of the menu
    screen.press("Return")
    shown = screen.until(lambda s: s["holes"], "the holes")
    assert "city: a role marker" in shown["holes"][0]
    screen.press("ctrl+Home")
    screen.click(shown["first_hole"])
    screen.until(
        lambda s: "{{ city }}" in s["text"].splitlines()[s["line"] - 1], "the place of the hole"
    )
