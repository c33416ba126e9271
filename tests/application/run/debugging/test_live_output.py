from __future__ import annotations

import pytest

from studio.application.run.debugging.console import CallOutput, LiveOutput


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([("one\ntwo\n", 0.5)], [(0.5, "one"), (0.5, "two")]),
        ([("o", 0.1), ("ne\ntw", 0.5), ("o", 0.9)], [(0.1, "one"), (0.5, "two")]),
        (
            [("one\r\n", 0.1), ("\n", 0.2), ("three", 0.3)],
            [(0.1, "one"), (0.2, ""), (0.3, "three")],
        ),
    ],
)
def test_pieces_become_lines_with_the_time_of_their_beginning(
    pieces: list[tuple[str, float]], lines: list[tuple[float, str]]
) -> None:
    made = CallOutput()
    for text, seconds in pieces:
        made = made.plus(text, seconds)

    assert [(each.seconds, each.text) for each in made.lines] == lines


def test_only_the_last_lines_of_a_talkative_call_are_kept() -> None:
    made = CallOutput()
    for number in range(1000):
        made = made.plus(f"{number}\n", 1.0)

    assert len(made.lines) == 400
    assert made.lines[-1].text == "999"


def test_what_is_new_in_the_newest_part_of_a_long_text_is_found() -> None:
    said = "".join(f"line {number}\n" for number in range(2000))
    made = CallOutput().heard(said[:9000], 1.0)
    for end in (9000, 12000, len(said)):
        made = made.heard(said[end - 9000 : end], end / 1000)

    assert "\n".join(each.text for each in made.lines) == "\n".join(said.splitlines()[-400:])
    assert made.lines[-1].seconds == len(said) / 1000


def test_a_call_that_is_made_again_begins_anew() -> None:
    output = LiveOutput().heard((1, 0), "old\n", 1.0).heard((1, 1), "other\n", 1.0)

    again = output.without((1, 0)).heard((1, 0), "new\n", 0.1)

    assert [each.text for each in again.of(1, 0)] == ["new"]
    assert [each.text for each in again.of(1, 1)] == ["other"]
    assert again.heard((1, 0), "new\n", 0.2) is again
