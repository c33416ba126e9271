"""Values of tests that stand in files are what promptfoo makes of them, in trusted folders."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.application.experiments.plan import plan_experiment
from studio.application.experiments.prompts import ExperimentError
from studio.core.text.values import Json
from studio.core.tools.trust.store import TrustStore
from tests.application.experiments.conftest import Bench

HEAD = "prompts: [capital.prompty]\nproviders: [small]\n"


def values_of(bench: Bench, tests: str, *, trusted: bool = True) -> list[Json]:
    """What the rows have for `country`."""
    bench.write("capital.experiment.yaml", HEAD + tests)
    trust = TrustStore(bench.folder.parent / "trust.toml")
    if trusted:
        trust.trust(bench.folder)
    plan = plan_experiment(bench.path, replace(bench.services, trust=trust))
    return [row.case.variables["country"] for row in plan.rows]


@pytest.mark.parametrize(
    ("name", "content", "value"),
    [
        ("a.txt", b"\n hello \xc3\xa9\n\n", "hello é"),
        ("a.md", b"\xef\xbb\xbf# One\r\n", "# One"),
        ("a.json", b'{"k":  1}\n', '{"k":  1}'),
        ("y.yaml", "k: [1, b, 2.0]\nn: é\n".encode(), '{"k":[1,"b",2],"n":"é"}'),
        ("y.yml", b"just text", '"just text"'),
        ("Y.YAML", b"k: 1\n", "k: 1"),
        ("i.png", b"\x89PNG\r\n\x1a\n", "data:image/png;base64,iVBORw0KGgo="),
        ("i.JPG", b"\x89PNG\r\n\x1a\n", "data:image/png;base64,iVBORw0KGgo="),
        ("s.wav", b"RIFF", "UklGRg=="),
        ("no-ending", b"x", "x"),
    ],
)
def test_a_file_is_read_by_its_ending(bench: Bench, name: str, content: bytes, value: str) -> None:
    (bench.folder / name).write_bytes(content)
    assert values_of(bench, f"tests: [{{vars: {{country: 'file://{name}'}}}}]") == [value]


def test_a_pattern_is_a_list_of_values_and_a_list_may_name_files(bench: Bench) -> None:
    (bench.folder / "d").mkdir()
    bench.write("d/1.txt", "one\n")
    bench.write("d/2.txt", "two\n")
    assert values_of(bench, "tests: [{vars: {country: 'file://d/*.txt'}}]") == ["one", "two"]
    listed = "[{vars: {country: ['file://d/2.txt', plain]}}]"
    assert values_of(bench, f"tests: {listed}") == ["two", "plain"]
    assert values_of(
        bench, "defaultTest: {vars: {country: 'file://d/*.txt'}}\ntests: [{}, {vars: {country: x}}]"
    ) == ["one", "two", "x"]
    kept = "[{vars: {country: ['file://d/2.txt']}, options: {disableVarExpansion: true}}]"
    assert values_of(bench, f"tests: {kept}") == [["file://d/2.txt"]]


def test_tests_in_a_yaml_file_name_files_and_rows_of_a_table_do_not(bench: Bench) -> None:
    bench.write("a.txt", "Peru")
    bench.write("more.yaml", "- vars: {country: 'file://a.txt'}\n")
    bench.write("rows.csv", "country\nfile://a.txt\n")
    rows = values_of(bench, "tests: [file://more.yaml, file://rows.csv]")
    assert rows == ["Peru", "file://a.txt"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone.txt", "3: gone.txt: there is no such file"),
        ("no/*.txt", "3: no/*.txt: this is not a valid file name"),
        ("../rows.csv", "3: ../rows.csv: the file is outside"),
        ("v.py", "3: v.py: it is a program that computes the value; it is not run here"),
        ("v.JS", "3: v.JS: it is a program that computes the value; it is not run here"),
        ("v.pdf", "3: v.pdf: text is not extracted from PDFs"),
        ("bad.yaml", "3: bad.yaml: "),
        ("latin.txt", "3: latin.txt: line 2 is not UTF-8; save the file as UTF-8"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(bench: Bench, name: str, said: str) -> None:
    for each in ("v.py", "v.JS", "v.pdf"):
        bench.write(each, "x")
    bench.write("bad.yaml", "a: [1\n")
    (bench.folder / "latin.txt").write_bytes(b"a\n\xe4\n")
    with pytest.raises(ExperimentError) as told:
        values_of(bench, f"tests: [{{vars: {{country: 'file://{name}'}}}}]")
    assert f"capital.experiment.yaml:{said}" in str(told.value)


@pytest.mark.parametrize("name", ["rows.csv", "*.csv", ".env"])
def test_no_file_becomes_a_value_in_a_folder_that_is_not_trusted(bench: Bench, name: str) -> None:
    bench.write(".env", "SECRET=1")
    with pytest.raises(ExperimentError, match="only read in trusted folders"):
        values_of(bench, f"tests: [{{vars: {{country: 'file://{name}'}}}}]", trusted=False)


@pytest.mark.parametrize(
    ("tests", "said"),
    [
        ("tests: [{vars: {country: 'file://../**/*.csv'}}]", "only read in trusted folders"),
        ("tests: [{vars: 'file://../**/*.csv'}]", "../**/*.csv: the file is outside"),
        ("defaultTest: {vars: 'file://../*.csv'}\ntests: [{}]", "../*.csv: the file is outside"),
        ("tests: 'file://../**/*.csv'", "../**/*.csv: the file is outside"),
    ],
)
def test_a_pattern_is_refused_before_a_folder_is_looked_into(
    bench: Bench, tests: str, said: str
) -> None:
    (bench.folder.parent / "beside.csv").write_text("country\nPeru\n", encoding="utf-8")
    with pytest.raises(ExperimentError) as told:
        values_of(bench, tests, trusted=False)
    assert said in str(told.value)  # the pattern is named, and no file that it would find
    assert "beside" not in str(told.value)


@pytest.mark.parametrize(
    "tests",
    [
        "[{vars: file://large.yaml}]",
        "[{vars: {country: 'file://large.yaml'}}]",
    ],
)
def test_a_file_that_is_too_large_is_not_read_whole(bench: Bench, tests: str) -> None:
    with (bench.folder / "large.yaml").open("wb") as file:
        file.truncate(3_000_000_000)  # without a byte on the disk
    with pytest.raises(ExperimentError) as told:
        values_of(bench, f"tests: {tests}")
    assert "large.yaml: it is larger than 50 MB" in str(told.value)
