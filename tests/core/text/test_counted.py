from __future__ import annotations

from studio.core.text.counted import counted


def test_one_thing_is_one_thing() -> None:
    said = [counted(count, "row") for count in (0, 1, 2, 1204)]
    assert said == ["0 rows", "1 row", "2 rows", "1,204 rows"]
    assert counted(1.0, "reply", "replies") == "1 reply"
    assert counted(1234567.5, "second") == "1,234,567.5 seconds"
    assert counted(0.5, "minute") == "0.5 minutes"
    assert counted(2, "reply", "replies") == "2 replies"
