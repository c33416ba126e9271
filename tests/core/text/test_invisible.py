"""Characters without a picture are shown; what people write is left alone."""

from __future__ import annotations

import pytest

from studio.core.text.invisible import has_invisible, reveal


@pytest.mark.parametrize(
    "text",
    [
        "Plain words, and a line\nbreak.\tTab.",
        "naïve — “q” … € → ünï é e\u0301",
        "日本語、テスト。 한국어 中文",
        "می‌خواهم",
        "क्\u200dष",
        "👨‍👩‍👧 ❤️ #️⃣ 👍🏽 ✔︎",
        "a\u00a0b\r\nc",
    ],
)
def test_what_people_write_stays(text: str) -> None:
    assert reveal(text) == text
    assert not has_invisible(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a⟨U+202E⟩b"),
        ("a\u200bb", "a⟨U+200B⟩b"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("a\ufeffb", "a⟨U+FEFF⟩b"),
        ("a\u00adb", "a⟨U+00AD⟩b"),
        ("x\U000e0041", "x⟨U+E0041⟩"),
        ("a\ufe0f", "a⟨U+FE0F⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("a\U000e0100", "a⟨U+E0100⟩"),
        ("\u3164\u2800", "⟨U+3164⟩⟨U+2800⟩"),
        ("\x1b[31m\x07", "⟨U+001B⟩[31m⟨U+0007⟩"),
        ("a\u2028b", "a⟨U+2028⟩b"),
        ("a\ud800b", "a⟨U+D800⟩b"),
        ("\ue000", "⟨U+E000⟩"),
        ("a\rb", "a⟨U+000D⟩b"),
    ],
)
def test_what_hides_is_shown(text: str, shown: str) -> None:
    assert reveal(text) == shown
    assert has_invisible(text)


def test_a_name_has_one_line() -> None:
    assert reveal("a\nb\tc", lines=False) == "a⟨U+000A⟩b⟨U+0009⟩c"
