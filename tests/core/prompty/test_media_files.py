from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.prompty.body.media import find_media, find_threads
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import NOT_TRUSTED, ReferenceContext


@pytest.mark.parametrize(
    ("target", "codes"),
    [
        ("cat.png", []),
        ("sub/cat.png", []),
        ("https://x/none.png", []),
        ("data:image/png;base64,AAAA", []),
        ("none.png", ["media-missing"]),
        ("../secret.png", ["file-outside"]),
        ("/etc/hostname", ["file-outside"]),
        ("note.txt", ["media-type"]),
        ("noext", ["media-type"]),
        ("sub", ["media-missing"]),
        ("big.png", ["media-too-large"]),
    ],
)
def test_local_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, codes: list[str]
) -> None:
    folder = tmp_path / "app"
    (folder / "sub").mkdir(parents=True)
    for name in ("cat.png", "sub/cat.png", "note.txt", "noext", "../secret.png"):
        (folder / name).write_bytes(b"x")
    (folder / "big.png").write_bytes(b"x" * 101)
    monkeypatch.setattr("studio.core.prompty.prepare.MAX_MEDIA_BYTES", 100)
    document = parse(f"user:\n![image]({target})\n")
    prepared = prepare(document, {}, references=ReferenceContext(folder))
    assert [problem.code for problem in prepared.problems] == codes
    for problem in prepared.problems:
        assert document.source.slice(problem.span) == f"![image]({target})"


@pytest.mark.parametrize("preview", [True, False])
def test_no_file_beside_an_untrusted_prompt_is_sent(tmp_path: Path, preview: bool) -> None:
    (tmp_path / "cat.png").write_bytes(b"x")
    document = parse("user:\n![image](cat.png) ![image](none.png) ![image](https://x/a.png)\n")
    context = ReferenceContext(tmp_path, trusted=False)
    problems = prepare(document, {}, references=context, preview=preview).problems
    unread = [item.severity for item in problems if item.code == NOT_TRUSTED]
    assert unread == ["hint" if preview else "error"] * 2
    assert [item.code for item in problems if item.code != NOT_TRUSTED] == ["media-missing"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("![a](b)", [("image", "b")]),
        ("![file](a b.pdf) ![audio](c)", [("file", "a b.pdf"), ("audio", "c")]),
        ('![x](<a b> "t")', [("image", "a b")]),
        ("![x](<a>)", [("image", "a")]),
        ("![x](w/Foo_(bar).png)", [("image", "w/Foo_(bar).png")]),
        ('![type="video", a=1](v.mp4)', [("video", "v.mp4")]),
        ("[x](y) ![z] (y) ![a\n](b)", []),
        ("`![a](b)` ![c](d)", [("image", "d")]),
        ("```\n![a](b)\n```", []),
        ("![a] text [b](c)", []),
    ],
)
def test_media_tokens(text: str, found: list[tuple[str, str]]) -> None:
    tokens = find_media(text)
    assert [(t.kind, text[t.target.start : t.target.end]) for t in tokens] == found


def test_thread_tokens_stand_alone() -> None:
    text = "![thread]\nx ![thread]\n  ![thread] \r\n```\n![thread]\n```\n"
    assert [text[span.start : span.end].strip() for span in find_threads(text)] == [
        "![thread]",
        "![thread]",
    ]
