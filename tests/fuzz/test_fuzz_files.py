"""The first files of the fuzzing of files; `make fuzz` reads on for twenty minutes."""

from __future__ import annotations

from tests.fuzz.fuzz_files import findings


def test_no_file_of_others_raises_what_its_reader_does_not_say(user_home: object) -> None:
    assert findings(0, lambda count: count < 900) == {}
