from __future__ import annotations

from pathlib import Path

from studio.application.preview.diff import (
    ConversationComparison,
    ConversationSide,
    Pair,
    compare,
    compare_whole,
)
from studio.application.preview.variables import PreviewJob
from studio.core.prompty.parse import parse

NOW = ConversationSide("now")
SAVED = ConversationSide("saved", is_saved=True)
DOC = "---\ntemplate:\n  parser: {kind: section}\n---\nsystem:\nBe {{ tone }}.\n\nuser:\nHi\n"


def shown(found: ConversationComparison) -> list[str]:
    signs = {"same": " ", "added": "+", "removed": "-", "gap": "…"}
    return [
        f"{signs[row.kind]}{row.hidden or row.text}" for item in found.messages for row in item.rows
    ]


def test_two_sets_of_inputs_are_compared_whatever_the_pane_holds() -> None:
    order = PreviewJob(parse(DOC), {"tone": "loud"})
    pair = Pair(ConversationSide("a", {"tone": "kind"}), ConversationSide("b", {"tone": "stern"}))
    found = compare(order, pair)
    assert shown(found) == [" system:", "-Be kind.", "+Be stern."]
    assert found.unchanged == 1
    assert found.messages[0].span is not None
    assert shown(compare(order, Pair(pair.after, NOW))) == [" system:", "-Be stern.", "+Be loud."]


def test_a_message_that_came_and_one_that_went(tmp_path: Path) -> None:
    path = tmp_path / "p.prompty"
    path.write_text(DOC, encoding="utf-8")
    order = PreviewJob(parse(DOC.replace("\nuser:\nHi\n", ""), path))
    found = compare(order, Pair(SAVED, NOW))
    assert [item.title for item in found.messages] == ["user, message 2, no longer there"]
    assert found.messages[0].span is None
    back = compare(order, Pair(NOW, SAVED))
    assert [item.title for item in back.messages] == ["user, message 2, only there now"]
    assert back.messages[0].span is None  # its place is one of the saved text


def test_without_a_saved_file_the_reason_is_told(tmp_path: Path) -> None:
    assert "not been saved" in compare(PreviewJob(parse(DOC)), Pair(SAVED, NOW)).problem
    gone = PreviewJob(parse(DOC, tmp_path / "gone.prompty"))
    assert "cannot be opened" in compare(gone, Pair(SAVED, NOW)).problem


def test_far_from_a_change_lines_are_only_counted() -> None:
    lines = "\n".join(f"line {number}" for number in range(100))
    text = DOC.replace("Hi", f"{lines}\n{{{{ x }}}}\nend")
    found = compare(
        PreviewJob(parse(text)),
        Pair(ConversationSide("a", {"x": "1"}), ConversationSide("b", {"x": "2"})),
    )
    assert shown(found) == [
        "…98",
        " line 97",
        " line 98",
        " line 99",
        "-1",
        "+2",
        " end",
    ]
    many = {"x": "\n".join(map(str, range(9000)))}
    found = compare(
        PreviewJob(parse(text)), Pair(ConversationSide("a", {"x": ""}), ConversationSide("b", many))
    )
    assert len(found.messages[0].rows) <= 2001
    assert found.messages[0].rows[-1].kind == "gap"


def test_an_earlier_text_is_compared_whole() -> None:
    order = PreviewJob(parse(DOC), {"tone": "kind"})
    earlier = ConversationSide("earlier", read=lambda: DOC.replace("Be", "Stay"))
    found = compare_whole(order, Pair(earlier, NOW))
    for parts in (found.text, found.messages, found.request):
        (part,) = parts
        changed = [piece.text for row in part.rows for piece in row.pieces if piece.is_changed]
        assert changed == ["Stay", "Be"]
    assert found.messages[0].title == "system, message 1"
    same = compare_whole(order, Pair(ConversationSide("same", read=lambda: DOC), NOW))
    assert (same.text, same.messages, same.request) == ((), (), ())


def test_an_untrusted_folder_keeps_its_environment_to_itself(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PLACE=secret-place\n", encoding="utf-8")
    path = tmp_path / "p.prompty"
    text = "---\ntemplate:\n  parser: {kind: section}\n---\nuser:\n${env:PLACE} {{ x }}\n"
    pair = Pair(ConversationSide("a", {"x": "1"}), ConversationSide("b", {"x": "2"}))
    found = compare(PreviewJob(parse(text, path), trusted=False), pair)
    assert "secret-place" not in "".join(shown(found))
