"""The word of a media token is its type (seed: "Content"), and pictures alone become images."""

from __future__ import annotations

import pytest

from studio.core.prompty.convert.whole import convert
from studio.core.prompty.document import MediaPart
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.prompty.shapes import messages_to_json
from studio.core.text.values import Json


def prepared(token: str, **values: Json) -> Prepared:
    return prepare(
        parse(f"---\ntemplate: {{parser: {{kind: section}}}}\n---\nuser:\n{token}"), values
    )


def codes(made: Prepared) -> list[str]:
    return [item.code for item in made.problems]


@pytest.mark.parametrize(
    ("token", "kind", "code"),
    [
        ("![image](https://e.com/a.png)", "image", ""),
        ("![image](https://e.com/a)", "image", ""),
        ("![file](https://e.com/a.pdf)", "file", ""),
        ("![recording](https://e.com/r.mp3)", "audio", ""),
        ("![recording](https://e.com/r)", "audio", ""),
        ("![audio](r.wav)", "audio", ""),
        ("![video](v.mp4)", "video", ""),
        ("![pdf](p.pdf)", "file", ""),
        ("![document](v.docx)", "file", ""),
        ('![type="pdf", page="3"](p.pdf)', "file", ""),
        ('![type="recording"](p)', "audio", ""),
        ("![a nice cat](c.png)", "image", ""),
        ("![a nice cat](https://e.com/cat)", "image", ""),
        ("![a nice cat](https://e.md)", "image", ""),
        ("![the report](https://e.com/r.PDF?x=1.png#p)", "file", "media-type-guessed"),
        ("![our talk](talk.mp3)", "audio", "media-type-guessed"),
        ('![quality="high"](film.mov)', "video", "media-type-guessed"),
        ("![scan](data:application/pdf;base64,AAAA)", "file", "media-type-guessed"),
        ("![scan](data:image/png;base64,AAAA)", "image", ""),
        ('![type="hologram"](h.png)', "image", "media-type-unknown"),
        ('![type="hologram"](h.mp3)', "audio", "media-type-unknown"),
        ('![type="hologram"](h)', "file", "media-type-unknown"),
        ("![image](https://e.com/p.pdf)", "image", "media-type-mismatch"),
        ("![image](data:audio/mpeg;base64,AAAA)", "image", "media-type-mismatch"),
    ],
)
def test_the_word_says_the_type_and_else_the_suffix(token: str, kind: str, code: str) -> None:
    made = prepared(token)
    [part] = made.messages.messages[0].parts
    assert isinstance(part, MediaPart)
    assert part.kind == kind
    assert codes(made) == ([code] if code else [])


def test_the_suffix_of_a_value_counts_as_well() -> None:
    made = prepared("![the report]({{ where }})", where="r.pdf")
    [part] = made.messages.messages[0].parts
    assert isinstance(part, MediaPart)
    assert (part.kind, part.alt) == ("file", "the report")
    assert "media-type-guessed" in codes(made)


def test_an_unknown_type_is_kept_as_it_is_written() -> None:
    made = prepared('![type="hologram", depth="3"](h.bin)')
    assert messages_to_json(made.messages, "section") == [
        {
            "role": "user",
            "content": [{"type": "hologram", "hologram": {"url": "h.bin", "depth": "3"}}],
        }
    ]


def test_a_conversion_declares_the_kind_that_was_meant() -> None:
    text = (
        "---\ntemplate: {parser: {kind: section}}\n---\nuser:\n![recording](r.mp3)\n![a](b.pdf)\n"
    )
    after = parse(convert(parse(text), "prompty").text)
    assert [item.kind for item in after.inputs] == ["audio", "file"]
