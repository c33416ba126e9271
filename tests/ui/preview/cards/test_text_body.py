from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from studio.application.preview.variables import TextRun, ValueReference
from studio.ui.preview.cards.text_body import ValueStyle, markdown_to_html


def plain(text: str) -> TextRun:
    return TextRun(text)


def value(text: str, name: str = "q") -> TextRun:
    return TextRun(text, ValueReference(name, None))


def html(*runs: TextRun) -> str:
    return markdown_to_html(runs, lambda _: ValueStyle("#111111", "#eeeeee"))


def anchors(text: str) -> list[tuple[str, str]]:
    return re.findall(r'<a href="(value:\d+)"[^>]*>([^<]*)</a>', text)


def test_a_value_stays_recognisable_inside_markdown() -> None:
    made = html(plain("Hello **"), value("Bob"), plain("**!"))
    assert "<strong><a href" in made
    assert anchors(made) == [("value:1", "Bob")]


def test_each_line_of_a_value_is_marked_and_its_markdown_still_read() -> None:
    made = html(plain("Items:\n\n"), value("- one\n- two\n\n# Three"))
    assert made.count("<li>") == 2
    assert [text for _, text in anchors(made)] == ["one", "two", "Three"]


def test_values_in_code_are_marked_and_fences_of_a_value_stay_fences() -> None:
    assert anchors(html(plain("`"), value("x"), plain("`"))) == [("value:1", "x")]
    made = html(plain("```\na = "), value("1 & 2"), plain("\n```"))
    assert anchors(made) == [("value:1", "1 &amp; 2")]
    assert "<pre>" in html(value("```\ncode\n```"))


def test_raw_html_and_pictures_are_shown_as_text() -> None:
    made = html(plain("<img src=x onerror=y> ![alt](file:///etc/passwd)"), value("<b>bold</b>"))
    assert "<img" not in made
    assert "<b>" not in made
    assert "![alt](file:///etc/passwd)" in made


def test_a_value_in_a_link_leaves_no_mark_in_the_address() -> None:
    made = html(
        plain("[a](http://x/"), value("y z"), plain(")"), plain(" [b](http://x/"), value("y")
    )
    assert "%EE" not in made
    assert "\ue000" not in made


def test_marks_that_a_text_brings_itself_are_taken_out() -> None:
    made = html(plain("a \ue000\ue010 b"), value("\ue001c"))
    assert [text for _, text in anchors(made)] == ["\ufffdc"]


def test_line_breaks_are_kept() -> None:
    assert "<br" in html(plain("Thought: a\nAction: b"))


_MARKUP = "ab*_`#->\n |[]()!<&1."


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("br", "hr", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        assert tag in ("br", "hr", "img")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.booleans(), st.text("ab*_`#->\n |[]()!<&1.", max_size=30)), max_size=6)
)
def test_any_text_gives_well_formed_html(pieces: list[tuple[bool, str]]) -> None:
    made = html(*(value(text) if is_value else plain(text) for is_value, text in pieces))
    balance = _Balance()
    balance.feed(made)
    assert balance.open == []
    assert not re.search("[\ue000-\ue01f]", made)
