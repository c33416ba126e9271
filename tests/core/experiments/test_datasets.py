"""Files of rows, good ones and broken ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.experiments.datasets import DatasetError, read_dataset, unread_columns
from studio.core.experiments.file.cases import expand_rows, row_hash
from studio.core.experiments.values import AssertionSpec, DatasetReference, ExperimentCase


def _read(path: Path, text: str, **options: object) -> tuple[ExperimentCase, ...]:
    path.write_text(text, encoding="utf-8")
    return read_dataset(DatasetReference(path.name, **options), path).cases  # type: ignore[arg-type]


def test_the_columns_of_a_csv_file_are_those_of_promptfoo(tmp_path: Path) -> None:
    first, second = _read(
        tmp_path / "a.csv",
        "\ufeffq,__expected,__expected2,__metric,__metadata:lang,__metadata:kind[],__threshold,"
        "__config:__expected2:threshold,tags,id\n"
        '"two\nlines, with commas",contains: Oslo,not-icontains-any: a; b,fact,no,"x, y",0.5,,'
        '"hard, long",n1\n'
        "q2,plain words,levenshtein: Bern,,,,,3,,\n",
    )
    assert first.variables["q"] == "two\nlines, with commas"
    assert first.assertions == (
        AssertionSpec("contains", value="Oslo", metric="fact"),
        AssertionSpec("icontains-any", True, ["a; b"], metric="fact"),
    )
    assert first.metadata == {"lang": "no", "kind": ["x", "y"]}
    assert (first.threshold, first.tags, first.id) == (0.5, ("hard", "long"), "n1")
    assert (first.line, second.line) == (2, 4)
    assert second.assertions == (
        AssertionSpec("equals", value="plain words"),
        AssertionSpec("levenshtein", value="Bern", threshold=3.0),
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "a,b\n1,2\n1,2,3\n", "a.csv, line 3: the row has 3 cells and the head has 2"),
        ("a.csv", "a,b\n1\n", "line 2: the row has 1 cell"),
        ("a.csv", "a,a\n1,2\n", "the column 'a' occurs twice"),
        ("a.csv", "", "the first line must name the columns"),
        ("a.csv", "a,__threshold\n1,much\n", "line 2: the threshold 'much' is not a number"),
        ("a.csv", "a\nx\0y\n", "line 2: the line contains a NUL"),
        ("a.csv", 'a,b\n1,2\n3,"4', "line 3: a quotation mark is not closed"),
        ("a.csv", 'a,b\n1,"2\n\nand th', "line 2: a quotation mark is not closed"),
        ("a.jsonl", '{"a": 1}\n{"a": \n', "a.jsonl, line 2, column 6: no JSON"),
        ("a.jsonl", "[1]\n", "line 1: a row is an object"),
        ("a.json", '{"tests": 3}', "must contain a list of rows"),
        ("a.yaml", "- {vars: {a: 1}\n- x", "a.yaml, line "),
        ("a.yaml", "- vars: {a: 1}\n  assert: [{type: contians}]\n", "line 1: There is no assert"),
    ],
)
def test_a_wrong_row_is_told_with_its_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(DatasetError) as told:
        _read(tmp_path / name, text)
    assert said in str(told.value)


def test_a_last_line_within_quotes_is_whole_where_they_are_closed(tmp_path: Path) -> None:
    found = _read(tmp_path / "a.csv", 'a,b\n1,"2 ""3""\nend"')
    assert found[0].variables == {"a": "1", "b": '2 "3"\nend'}
    (inch,) = _read(tmp_path / "b.csv", 'a\n5" pipe')
    assert inch.variables == {"a": '5" pipe'}


def test_a_missing_file_and_one_in_another_encoding_are_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        read_dataset(DatasetReference("no.csv"), tmp_path / "no.csv")
    (tmp_path / "latin.csv").write_bytes("a\nKöln\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"line 2: the byte 0xf6 is not UTF-8"):
        read_dataset(DatasetReference("latin.csv"), tmp_path / "latin.csv")
    (tmp_path / "wide.csv").write_bytes("a\nKöln\n".encode("utf-16"))
    with pytest.raises(DatasetError, match="is UTF-16; save"):
        read_dataset(DatasetReference("wide.csv"), tmp_path / "wide.csv")


def test_an_object_around_the_rows_may_have_any_name(tmp_path: Path) -> None:
    found = _read(tmp_path / "a.json", '{"rows": [{"q": "x"}, {"q": "y"}]}')
    assert [each.variables["q"] for each in found] == ["x", "y"]
    (one,) = _read(tmp_path / "b.json", '{"q": ["x", "y"]}')
    assert one.variables == {"q": ["x", "y"]}
    (chat,) = _read(tmp_path / "c.json", '{"messages": [{"role": "user", "content": "x"}]}')
    assert chat.variables == {"messages": [{"role": "user", "content": "x"}]}


def test_json_rows_are_tests_columns_or_items_of_evals(tmp_path: Path) -> None:
    found = _read(
        tmp_path / "a.jsonl",
        '{"vars": {"q": "a"}, "assert": [{"type": "contains", "value": "x"}]}\n\n'
        '{"q": "b", "expected": 3, "tags": ["t"]}\n'
        '{"item": {"q": "c", "answer": "C"}}\n'
        '{"input": "d", "target": "D"}\n',
        columns={"answer": "expected"},
    )
    assert [dict(each.variables).get("q") for each in found] == ["a", "b", "c", None]
    assert found[0].assertions == (AssertionSpec("contains", value="x"),)
    assert (found[1].expected, found[1].tags) == ("3", ("t",))
    assert found[2].expected == "C"
    assert found[3].expected == "D"
    assert [each.line for each in found] == [1, 3, 4, 5]


def test_a_draw_is_repeatable_and_in_order(tmp_path: Path) -> None:
    text = "n\n" + "".join(f"{number}\n" for number in range(1000))
    drawn = _read(tmp_path / "a.csv", text, take=50, seed=7)
    numbers = [int(str(each.variables["n"])) for each in drawn]
    assert len(numbers) == 50
    assert numbers == sorted(numbers)
    assert drawn == _read(tmp_path / "a.csv", text, take=50, seed=7)
    assert drawn != _read(tmp_path / "a.csv", text, take=50, seed=8)


def test_a_condition_chooses_rows(tmp_path: Path) -> None:
    text = "n,tags\n1,a\n2,b\n3,a\n"
    found = _read(tmp_path / "a.csv", text, where="'a' in tags and n != '1'")
    assert [each.variables["n"] for each in found] == ["3"]
    with pytest.raises(DatasetError, match="where"):
        _read(tmp_path / "a.csv", text, where="nn ==")


def test_lists_are_spread_and_keys_are_unique() -> None:
    cases = [
        ExperimentCase({"x": ["a", "b"], "y": ["1", 2], "who": "w"}),
        ExperimentCase({"x": [1, 2, 3]}),
        ExperimentCase({"thread": [{"role": "user"}]}),
        ExperimentCase({"x": ["a"]}, options={"disableVarExpansion": True}),
        ExperimentCase({"x": 1}, id="same"),
        ExperimentCase({"x": 2}, id="same"),
    ]
    rows = expand_rows(cases, ExperimentCase({"d": 1}), frozenset({"thread"}))
    values = [dict(row.case.variables) for row in rows]
    assert [(each["x"], each["y"]) for each in values[:4]] == [
        ("a", "1"),
        ("a", 2),
        ("b", "1"),
        ("b", 2),
    ]
    assert values[4]["x"] == [1, 2, 3]
    assert values[5]["thread"] == [{"role": "user"}]
    assert values[6]["x"] == ["a"]
    assert [row.key for row in rows[7:]] == ["same", "same#2"]
    assert rows[0].key == row_hash({"d": 1, "x": "a", "y": "1", "who": "w"})
    assert all(each["d"] == 1 for each in values)


def test_columns_that_nobody_reads_are_named() -> None:
    cases = [ExperimentCase({"q": 1, "id": 2, "note": 3})]
    assert unread_columns(cases, frozenset({"q"})) == ("note",)
