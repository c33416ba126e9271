from __future__ import annotations

from typing import Any

import pytest

from studio.core.models.remote.faults import card_text, request_id


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"message": "No such model.", "type": "x"}, "No such model."),
        ('model "m" not found, try pulling it first', 'model "m" not found, try pulling it first'),
        ({"error": "Not Found", "message": "there is nothing"}, "there is nothing"),
        ([{"error": {"message": "API key not valid", "code": 400}}], "API key not valid"),
        ({"Message": "The security token is invalid"}, "The security token is invalid"),
        ({"errors": [{"message": "one"}, {"message": "two"}]}, "one; two"),
        ("<html><head><title>502 Bad &amp; Gateway</title></head><p>x", "502 Bad & Gateway"),
        ("<!doctype html><body><h1>Blocked</h1>by us", "Blocked"),
        ("a < b and c > d", "a < b and c > d"),
        ({"code": 42}, "42"),
        ("  two\n lines ", "two lines"),
        ({}, ""),
        (None, ""),
        ({"message": None, "detail": ""}, ""),
    ],
)
def test_words_of_any_shape(body: Any, text: str) -> None:
    assert card_text(body).text == text


def test_fields_that_a_server_does_not_take_are_named() -> None:
    item = {
        "type": "extra_forbidden",
        "loc": ["body", "stream_options", "x"],
        "msg": "Extra inputs",
    }
    said = card_text({"detail": [item]})
    assert said.text == "stream_options.x: Extra inputs"
    assert said.fields == ("stream_options",)
    wrapped = {"object": "error", "message": {"detail": [item]}, "type": "invalid_request_error"}
    assert card_text(wrapped) == said


def test_a_body_without_end_is_no_obstacle() -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = {"error": [deep]}
    assert card_text(deep).text == ""


def test_the_number_of_a_request() -> None:
    assert request_id({"x-request-id": "req_1", "cf-ray": "9"}) == "req_1"
    assert request_id({"content-type": "text/plain"}) == ""
