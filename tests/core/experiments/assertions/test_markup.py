"""XML and HTML in answers; `make interop` holds the verdicts against promptfoo itself."""

from __future__ import annotations

import pytest

from studio.core.experiments.assertions.result import CellAnswer, UndecidedError, Verdict
from studio.core.experiments.assertions.structure import MARKUP, xml_parts
from studio.core.experiments.values import AssertionSpec
from studio.core.text.values import Json


def _verdict(kind: str, text: str, value: Json = None) -> Verdict:
    return MARKUP[kind](AssertionSpec(kind), value, CellAnswer(text))


@pytest.mark.parametrize(
    ("text", "value", "passed"),
    [
        ("<a><b>1</b></a>", None, True),
        ("<a><b>1</b></a>", "a.b, a", True),
        ("<a><b/><b/></a>", ["a.b.1"], True),
        ("<a><b/><b/></a>", ["a.b.2"], False),
        ("<a><b/></a>", {"requiredElements": ["a.c"]}, False),
        ("<a x='1'>t</a>", "a.@_x, a.#text", True),
        ("<p:a xmlns:p='urn:x' p:y='1'/>", "p:a.@_p:y", True),
        ("<p:a/>", None, False),
        ("<a>1 & 2</a>", None, False),
        ("<a><b></a></b>", None, False),
        ("so: <a/>", None, False),
        ("", None, False),
    ],
)
def test_the_whole_answer_is_xml(text: str, value: Json, passed: bool) -> None:
    assert _verdict("is-xml", text, value).passed is passed


def test_what_is_no_xml_is_told_with_its_place() -> None:
    reason = _verdict("is-xml", "<a>\n<b></a>").reason
    assert "mismatched tag (line 2, column 6)" in reason
    assert _verdict("is-xml", "<a/>", "b.c").reason == "The XML has no b.c."


def test_entities_of_a_document_are_never_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY b "&c;&c;"><!ENTITY c "&d;&d;">]><a>&b;</a>'
    verdict = _verdict("is-xml", bomb)
    assert not verdict.passed
    assert "declarations, which are ignored" in verdict.reason
    assert _verdict("is-xml", '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><a/>').passed


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("So: <a><b>1 & 2</b></a>.", None, "<a><b>1 & 2</b></a>"),
        ("<a>1</a> and <b/>", "a, b", "<a>1</a> and <b/>"),
        ("<a>1</a> and <a>2</a>", "a.1", "<a>1</a> and <a>2</a>"),
        ("<a><x/></c> <d y>1</d>", "d.@_y", "<d y>1</d>"),
        ("<open> <a q='>'/>", "a", "<a q='>'/>"),
        ("<!-- <a></a> --> <b/>", None, "<b/>"),
        ("So: <a><b>1</b></a>.", "b", None),
        ("1 < 2 and 3 > 2, <open", None, None),
        ("<a><b>", None, None),
    ],
)
def test_some_of_the_answer_is_xml(text: str, value: Json, found: str | None) -> None:
    verdict = _verdict("contains-xml", text, value)
    assert verdict.passed is (found is not None)
    place = verdict.span
    assert (text[place.start : place.end] if place is not None else None) == found


def test_many_open_tags_are_read_in_linear_time() -> None:
    assert len(list(xml_parts("<a>" * 20_000 + "<b/>"))) == 1
    assert not list(xml_parts('<a "' * 20_000))
    deep = "<a>" * 5_000 + "</a>" * 5_000
    assert [span.end for _, span in xml_parts(deep)] == [len(deep)]


def test_a_value_of_another_form_is_an_error() -> None:
    with pytest.raises(UndecidedError, match="requiredElements"):
        _verdict("is-xml", "<a/>", {"elements": ["a"]})


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("Hi <p>there</p>", True),
        ("<x-tag a='b'>", True),
        ("<!doctype HTML>", True),
        ("<foo> is open", False),
        ("1 < 2 &amp; 3", False),
        ("plain", False),
    ],
)
def test_html_is_two_signs_of_it_or_a_clear_one(text: str, passed: bool) -> None:
    assert _verdict("contains-html", text).passed is passed
