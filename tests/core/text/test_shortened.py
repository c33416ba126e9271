from __future__ import annotations

from studio.core.text.amounts import one_line, shortened


def test_a_cut_text_has_the_length_that_was_asked_for() -> None:
    assert shortened("abcd", 4) == "abcd"
    assert shortened("abcde", 4) == "abc…"
    assert one_line("  a\n\n b\t", 9) == "a b"
    assert one_line("word " * 50, 9) == "word wor…"
    assert one_line("a" + " " * 3000 + "b", 9) == "a…"
