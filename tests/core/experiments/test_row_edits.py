"""Files of rows are changed in one place, and every other byte stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.core.experiments.datasets import DatasetError, read_dataset
from studio.core.experiments.row_edits import with_rows, with_value, without_rows
from studio.core.experiments.values import DatasetReference
from studio.core.text.values import Json

CSV = '\ufeffticket,plan,expected\r\n"It is 5"" wide, and torn",basic,other\r\n\r\n'
CSV += 'Gas!,"pre\r\nmium",\r\n'
YAML = "# mine\n- vars: {ticket: 'Gas!', plan: basic}   # smells\n"
YAML += "- vars:\n    ticket: Hello\n  expected: x\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "value", "after"),
    [
        ("a.csv", CSV, 4, "ticket", 'a "b", c', CSV.replace("Gas!", '"a ""b"", c"')),
        ("a.csv", CSV, 2, "ticket", "x", CSV.replace('"It is 5"" wide, and torn"', "x")),
        ("a.csv", CSV, 4, "expected", "safety", CSV.replace('mium",', 'mium",safety')),
        ("a.csv", "a,b\n1,2\n3,4", 3, "new", "n", "a,b,new\n1,2,\n3,4,n"),
        ("a.tsv", "a\tb, c\n1\t2\n", 2, "b, c", "3,4", "a\tb, c\n1\t3,4\n"),
        ("a.jsonl", '{"a": 1}\n{"a":  2}\n', 1, "a", 3.5, '{"a": 3.5}\n{"a":  2}\n'),
        (
            "a.jsonl",
            '{"vars": {"a": 1}}\n',
            1,
            "expected",
            "x",
            '{"vars": {"a": 1}, "expected": "x"}\n',
        ),
        ("a.yaml", YAML, 2, "plan", "no: yes", YAML.replace("basic", '"no: yes"')),
        ("a.yaml", YAML, 3, "ticket", "two\nlines", YAML.replace("Hello", '"two\\nlines"')),
        (
            "a.yaml",
            YAML,
            2,
            "expected",
            "s",
            YAML.replace("- vars: {ticket", "- expected: s\n  vars: {ticket"),
        ),
        ("a.json", '[{"a": "x"},\n {"a" : [1,2]}]', 2, "a", [3], '[{"a": "x"},\n {"a" : [3]}]'),
        ("a.json", '[{"a": "x"}]', 1, "b", True, '[{"b": true, "a": "x"}]'),
        (
            "t.inputs.json",
            '{"one": {"a": 1}, "two": {"a": 2}}',
            2,
            "a",
            9,
            '{"one": {"a": 1}, "two": {"a": 9}}',
        ),
    ],
)
def test_a_value_is_changed_and_every_other_byte_stays(
    name: str, text: str, line: int, column: str, value: Json, after: str
) -> None:
    assert with_value(text, Path(name), line, column, value) == after


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.csv", "a,b\r\n1,2", 1),
        ("a.csv", "", 0),
        ("a.tsv", "a\tb\n1\t2\n", 1),
        ("a.jsonl", '{"a": "1"}', 1),
        ("a.yaml", "- {a: x, b: y}\n", 1),
        ("a.yaml", "", 0),
        ("a.json", '[\n {"a": "1"}\n]\n', 1),
        ("a.json", "", 0),
        ("t.inputs.json", '{"one": {"a": "1"}}', 1),
    ],
)
def test_rows_are_added_at_the_end(tmp_path: Path, name: str, text: str, count: int) -> None:
    path = tmp_path / name
    after = with_rows(text, path, [{"a": "x, y", "b": 'q"'}, {"a": "ü", "b": ""}])
    assert after.startswith(text.rstrip("]}\n \r")) or name == "t.inputs.json"
    path.write_text(after, encoding="utf-8", newline="")
    rows = read_dataset(DatasetReference(name), path).cases
    assert len(rows) == count + 2
    assert dict(rows[-2].variables) == {"a": "x, y", "b": 'q"'}


@pytest.mark.parametrize("head", ["a", "a,b"])
def test_a_row_without_any_value_stays_a_row(tmp_path: Path, head: str) -> None:
    path = tmp_path / "a.csv"
    one = with_rows("", path, [dict.fromkeys(head.split(","), "x")])
    emptied = with_value(with_rows(one, path, [{}]), path, 2, "a", "")
    path.write_text(emptied + "\n", encoding="utf-8")
    rows = read_dataset(DatasetReference("a.csv"), path).cases
    assert [row.variables["a"] for row in rows] == ["", ""]


def test_rows_are_taken_away() -> None:
    assert without_rows(CSV, Path("a.csv"), {2}) == CSV.replace(
        '"It is 5"" wide, and torn",basic,other\r\n', ""
    )
    assert without_rows("{}\n\n[]\n", Path("a.jsonl"), {3}) == "{}\n\n"
    with pytest.raises(DatasetError, match="by hand"):
        without_rows("[]", Path("a.json"), {1})


@pytest.mark.parametrize(
    ("name", "text"), [("a.csv", "a\n1\n"), ("a.jsonl", "{}\n"), ("a.yaml", "- {a: 1}\n")]
)
def test_a_row_that_has_gone_is_said(name: str, text: str) -> None:
    with pytest.raises(DatasetError, match="no longer exists"):
        with_value(text, Path(name), 9, "a", "x")


def test_sets_and_tabs_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "trip.inputs.json"
    path.write_text('{"gas leak": {"ticket": "Gas!"}, "two": {"n": 2}}', encoding="utf-8")
    rows = read_dataset(DatasetReference(path.name), path).cases
    assert [(row.description, dict(row.variables)) for row in rows] == [
        ("gas leak", {"ticket": "Gas!"}),
        ("two", {"n": 2}),
    ]


@pytest.mark.parametrize(
    ("name", "text", "rows"),
    [
        ("a.json", '{"city": "Rome"}', [{"city": "Rome"}]),
        ("a.json", '[{"city": "Rome"}, {"city": "Oslo"}]', [{"city": "Rome"}, {"city": "Oslo"}]),
        ("a.jsonl", '{"city": "Rome"}\n\n{"days": 1}\n', [{"city": "Rome"}, {"days": 1}]),
        ("a.yaml", "city: Rome\ndays: 3\n", [{"city": "Rome", "days": 3}]),
        ("a.yml", "- city: Rome\n- city: Oslo\n", [{"city": "Rome"}, {"city": "Oslo"}]),
        ("b.csv", "a;b\n1,5;Köln\n", [{"a": "1,5", "b": "Köln"}]),
        ("b.jsonl", '{"a": "x\u2028y"}\n{"a": "z"}\n', [{"a": "x\u2028y"}, {"a": "z"}]),
        ("b.inputs.json", '{"one": {"a": 1}, "two": {"a": 2}}', [{"a": 1}, {"a": 2}]),
        (
            "a.csv",
            'a,b\n"Rome, IT",3\nOslo,\n',
            [{"a": "Rome, IT", "b": "3"}, {"a": "Oslo", "b": ""}],
        ),
        ("a.tsv", "city\tdays\nRome\t3\n", [{"city": "Rome", "days": "3"}]),
    ],
)
def test_rows_come_from_many_forms(
    tmp_path: Path, name: str, text: str, rows: list[dict[str, object]]
) -> None:
    path = tmp_path / name
    path.write_text("\ufeff" + text, encoding="utf-8")
    found = read_dataset(DatasetReference(name), path).cases
    assert [dict(row.variables) for row in found] == rows
