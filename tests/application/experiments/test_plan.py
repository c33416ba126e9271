"""What keeps an experiment from being run is told before anything is sent, each with its place."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from studio.application.experiments.cases import AcceptError, accept_answer
from studio.application.experiments.exports.forms import FORMS, safe_cell
from studio.application.experiments.plan import ExperimentChoices, plan_experiment
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import report_of
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.tools.trust.store import TrustStore
from tests.application.experiments.conftest import CAPITALS, EXPERIMENT, PROMPT, ROWS, Bench
from tests.support.chat_server import Exchange, streamed


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        (
            "capital.experiment.yaml",
            "tests: file://rows.csv",
            "tests:\n  - vars: {country: 'in {{ area }}', area: Asia}",
            "tests:7 (row 1): the value 'country' reads {{ area }}",
        ),
        (
            "capital.experiment.yaml",
            "capital.prompty, label: main",
            "no.prompty, label: main",
            "capital.experiment.yaml:2:5: no.prompty: there is no such file",
        ),
        ("capital.experiment.yaml", "[small]", "[large]", "There is no connection 'large'"),
        ("capital.experiment.yaml", "[small]", "['openai:x']", "add a connection, or set OPENAI"),
        (
            "capital.experiment.yaml",
            "edit: {system",
            "edit: {sytem",
            "no section 'sytem'; there are: system, user",
        ),
        ("capital.experiment.yaml", "rows.csv", "no.csv", ":6:8: no.csv: the file does not exist"),
        ("capital.experiment.yaml", "rows.csv", "../../etc.csv", "does not exist"),
        ("capital.experiment.yaml", "rows.csv", "/etc/*.csv", ":6:8: /etc/*.csv: "),
        ("capital.experiment.yaml", "rows.csv", "a/**x.csv", ":6:8: a/**x.csv: "),
        (
            "capital.experiment.yaml",
            "id: capital.prompty, label: main",
            "id: 'a/**x.txt'",
            ":2:5: a/**x.txt: ",
        ),
        (
            "capital.experiment.yaml",
            "id: capital.prompty, label: main",
            "id: capital.prompty@nothing, label: main",
            "capital.prompty@nothing",
        ),
        (
            "capital.experiment.yaml",
            "baseline: main",
            "budget: {cost: 1}",
            "The price of 'scripted-1' is not known",
        ),
        ("capital.experiment.yaml", "type: contains", "type: contians", "no assertion type"),
        ("rows.csv", "Peru,Lima", "Peru", "rows.csv, line 4: the row has 1 cell"),
        ("rows.csv", "country,", "land,", "rows.csv:2 (row 1), main: Missing required input"),
        (
            "capital.prompty",
            "kind: string",
            "kind: integer",
            "rows.csv:2 (row 1): the input 'country' is declared as integer; 'Norway' is not one",
        ),
        ("capital.prompty", "{{ country }}", "{{ country", "rows.csv:2 (row 1), main: The prompt"),
    ],
)
def test_a_reason_is_told_with_its_place(
    bench: Bench, name: str, old: str, new: str, said: str
) -> None:
    text = (bench.folder / name).read_text()
    assert old in text
    bench.write(name, text.replace(old, new))
    with pytest.raises(ExperimentError) as told:
        bench.plan()
    assert said in str(told.value)


def test_more_cells_than_can_be_held_are_told_before_they_are_counted(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ExperimentError, match="repeated 1 to 10,000 times, not 99,999,999,999,999"):
        bench.plan(repeat=99_999_999_999_999)
    monkeypatch.setattr("studio.application.experiments.plan.MOST_CELLS", 60)
    assert bench.plan(repeat=10).cells == 60
    with pytest.raises(ExperimentError, match=r"66 cells .* has 60 at most"):
        bench.plan(repeat=11)


def test_what_is_odd_is_a_warning(bench: Bench) -> None:
    bench.write(
        "rows.csv",
        ROWS.replace("country,", "note,country,")
        .replace("\nN", "\nx,N")
        .replace("\nI", "\nx,I")
        .replace("\nP", "\nx,P"),
    )
    assert bench.plan().warnings == ("No prompt reads 'note'.",)


def test_prompts_may_be_texts_and_files_of_texts(bench: Bench) -> None:
    bench.write("three.txt", "Say {{ country }}\n---\nsystem: no role\n{{ country }}\n")
    bench.write(
        "chat.json",
        '[{"role": "system", "content": "Be short"}, {"role": "user", "content": "{{ country }}"}]',
    )
    bench.write(
        "capital.experiment.yaml",
        "prompts: [three.txt, chat.json, 'Where is {{ country }}?']\nproviders: [echo]\n"
        "tests: file://rows.csv\n",
    )
    plan = bench.plan()
    assert [each.name for each in plan.variants] == [
        "three.txt (1)",
        "three.txt (2)",
        "chat.json",
        "Where is {{ country }}?",
    ]
    roles = [[each.role for each in one.document.sections if each.role] for one in plan.variants]
    assert roles == [["user"], ["user"], ["system", "user"], ["user"]]


def test_prompts_providers_and_rows_stand_in_files_as_promptfoo_has_them(bench: Bench) -> None:
    bench.write("a.txt", "In {{ country }}?")
    bench.write("b.txt", "Of {{ country }}?")
    bench.write("two.yaml", "- {id: small, label: one, config: {temperature: 0.5}}\n- echo\n")
    (bench.folder / "rows").mkdir()
    bench.write("rows/a.yaml", "- vars: {country: Norway}\n")
    bench.write("rows/b.csv", "country\nPeru\n")
    bench.write("rows/notes.txt", "no rows")
    bench.write(
        "capital.experiment.yaml",
        "prompts: {a.txt: first, b.txt: second}\nproviders: ['file://two.yaml']\n"
        "tests: ['file://rows/*']\n",
    )
    plan = bench.plan()
    names = [each.name for each in plan.variants]
    assert names == ["first · one", "first · echo", "second · one", "second · echo"]
    assert plan.variants[0].document.model.options["temperature"] == 0.5
    assert [row.case.variables["country"] for row in plan.rows] == ["Norway", "Peru"]
    bench.write("two.yaml", "[]")
    with pytest.raises(ExperimentError, match=r"2:13: file://two\.yaml: it contains no provider"):
        bench.plan()


def test_what_every_row_has_and_values_stand_in_files_as_promptfoo_has_them(bench: Bench) -> None:
    bench.write("all.yaml", "vars: {country: Norway, tone: calm}\nassert: [{$ref: short}]\n")
    bench.write("one.json", '{"country": "Peru", "note": 1}')
    bench.write("two.yaml", "country: Chad\n")
    head = "prompts: [capital.prompty]\nproviders: [small]\ndefaultTest: file://all.yaml\n"
    head += "assertionTemplates: {short: {type: icontains, value: a}}\n"
    bench.write(
        "capital.experiment.yaml",
        f"{head}tests:\n- vars: {{}}\n- vars: file://one.json\n- vars: [one.json, 'file://two.yaml']\n"
        "- vars: '*o.yaml'\n  metadata: {of: pattern}\n",
    )
    plan = bench.plan()
    values = [dict(row.case.variables) for row in plan.rows]
    assert [each["country"] for each in values] == ["Norway", "Peru", "Chad", "Chad"]
    assert [each.get("note") for each in values] == [None, 1, 1, None]
    assert {each["tone"] for each in values} == {"calm"}
    assert {row.case.assertions[0].type for row in plan.rows} == {"icontains"}


def test_tests_in_a_file_of_their_own_name_files_of_values_too(bench: Bench) -> None:
    bench.write("one.json", '{"country": "Peru"}')
    (bench.folder / "more").mkdir()
    (bench.folder / "more" / "inner").mkdir()
    bench.write("more/two.yaml", "country: Chad\n")
    bench.write(
        "all.yaml",
        "- vars: file://one.json\n- vars: ['file://one.json']\n  assert: [{type: is-json}]\n"
        "- vars: file://more/*\n",
    )
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [small]\ntests: file://all.yaml\n",
    )
    rows = bench.plan().rows
    assert [row.case.variables for row in rows] == [
        {"country": "Peru"},
        {"country": "Peru"},
        {"country": "Chad"},
    ]
    bench.write("all.yaml", "- vars: file://none.json\n")
    with pytest.raises(ExperimentError, match=r"yaml:3:8: none\.json: there is no such file"):
        bench.plan()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("all.yaml", "- 1\n", "yaml:3:14: all.yaml: it contains no names with values"),
        ("all.yaml", "vars: {country: Norway}\nasert: []\n", ""),
        ("all.yaml", "assert: [{type: contians}]\n", "yaml:3:14: all.yaml:1: "),
        ("all.yaml", "vars: no.yaml\n", "yaml:3:14: no.yaml: there is no such file"),
        ("all.yaml", 'vars: "\\0.yaml"\n', "yaml:3:14: \0.yaml: a file name cannot contain"),
        ("one.yaml", "a: [\n", "yaml:5:9: one.yaml:"),
        ("one.yaml", "text", "yaml:5:9: one.yaml: it contains no names with values"),
    ],
)
def test_a_file_beside_the_experiment_that_cannot_be_used_is_told_with_both_places(
    bench: Bench, name: str, text: str, said: str
) -> None:
    bench.write("all.yaml", "{}\n")
    bench.write("one.yaml", "country: Peru\n")
    bench.write(
        "capital.experiment.yaml",
        "prompts: [capital.prompty]\nproviders: [small]\ndefaultTest: file://all.yaml\n"
        "tests:\n- vars: one.yaml\n",
    )
    bench.plan()
    bench.write(name, text)
    if not said:
        assert any("all.yaml:2: " in each for each in bench.plan().warnings)
        return
    with pytest.raises(ExperimentError) as told:
        bench.plan()
    assert said in str(told.value)


def test_an_address_of_the_file_is_the_one_that_is_asked(bench: Bench) -> None:
    def written(address: str) -> None:
        config = f"{{id: 'openai:chat:m-7', config: {{apiBaseUrl: '{address}'}}}}"
        bench.write("capital.experiment.yaml", EXPERIMENT.replace("[small]", f"[{config}]"))

    written(bench.server.url)
    choice = bench.plan().variants[0].choice
    assert choice is not None
    assert (choice.connection.name, choice.declaration.id) == ("small", "m-7")
    written("http://127.0.0.1:9/v1")
    choice = bench.plan().variants[0].choice
    assert choice is not None
    assert choice.connection.base_url == "http://127.0.0.1:9/v1"
    written("proxy.example.com")
    with pytest.raises(ExperimentError) as told:
        bench.plan()
    assert str(told.value).count("Nothing is sent to https://proxy.example.com") == 1  # not by row


def test_files_of_the_repository_are_read_in_a_trusted_folder(bench: Bench) -> None:
    (bench.folder / "evals").mkdir()
    text = EXPERIMENT.replace("capital.prompty", "../capital.prompty").replace(
        "file://", "file://../"
    )
    bench.write("evals/a.experiment.yaml", text)
    path = bench.folder / "evals" / "a.experiment.yaml"
    trust = TrustStore(bench.folder.parent / "trust.toml")
    trust.trust(path.parent)
    services = replace(bench.services, trust=trust)
    with pytest.raises(ExperimentError, match="is outside"):
        plan_experiment(path, services)
    (bench.folder / ".git").mkdir()
    assert len(plan_experiment(path, services).rows) == 3
    (bench.folder / "evals" / ".git").mkdir()  # a repository within it
    with pytest.raises(ExperimentError, match="is outside"):
        plan_experiment(path, services)
    (bench.folder / "evals" / ".git").rmdir()
    services = replace(bench.services, trust=TrustStore(bench.folder.parent / "none.toml"))
    with pytest.raises(ExperimentError, match="is outside"):
        plan_experiment(path, services)


def test_a_model_that_the_experiment_names_is_never_another_one(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection chosen for the folder answers prompts, not the columns that are compared."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chosen = replace(bench.services.connections, folders={str(bench.folder): "small"})
    services = replace(bench.services, connections=chosen)
    bench.write("capital.experiment.yaml", EXPERIMENT.replace("[small]", "['openai:x']"))
    with pytest.raises(ExperimentError, match="OPENAI_API_KEY") as told:
        plan_experiment(bench.path, services, ExperimentChoices())
    assert told.value.unconnected is None
    bench.write("capital.experiment.yaml", EXPERIMENT.replace("providers: [small]\n", ""))
    prompt = PROMPT.replace("name: Capital", "name: Capital\nmodel: {provider: openai}")
    bench.write("capital.prompty", prompt)
    plan = plan_experiment(bench.path, services, ExperimentChoices())
    assert {each.choice.connection.name for each in plan.variants if each.choice} == {"small"}


def test_a_rubric_without_a_judge_is_told_before_it_runs(bench: Bench) -> None:
    judged = EXPERIMENT.replace(
        '{type: contains, value: "{{ expected }}", metric: fact}',
        "{type: assert-set, assert: [{type: llm-rubric, value: is polite}]}",
    )
    bench.write("capital.experiment.yaml", judged)
    assert "No judge is named for 'llm-rubric'" in bench.plan().warnings[0]
    named = judged.replace("defaultTest:", "defaultTest:\n  options: {provider: small}")
    bench.write("capital.experiment.yaml", named)
    assert bench.plan().warnings == ()


def test_a_revision_is_the_file_of_then(bench: Bench) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(
            ["git", "-C", str(bench.folder), *who, *words], check=True, capture_output=True
        )

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    bench.write("capital.prompty", PROMPT.replace("one word", "two words"))
    text = EXPERIMENT.replace("capital.prompty, label: main", "capital.prompty@HEAD, label: main")
    bench.write("capital.experiment.yaml", text)
    main, edit = bench.plan().variants
    assert "one word" in main.document.source.text
    assert "Answer shortly." in edit.document.source.text
    assert "two words" not in main.document.source.text
    # As a baseline: one column for both, which differ by an edit only.
    bench.write("capital.experiment.yaml", EXPERIMENT.replace("baseline: main", ""))
    plan = bench.plan(baseline="git:HEAD")
    assert [each.name for each in plan.variants] == ["main", "edit", "git:HEAD"]
    assert "one word" in plan.variants[2].document.source.text
    bench.write(
        "capital.experiment.yaml",
        EXPERIMENT.replace("[small]", "['small:a', 'small:b']").replace(
            "baseline: main", "baseline: git:HEAD"
        ),
    )
    variants = bench.plan().variants
    names = [each.name for each in variants]
    assert names[4:] == [f"{names[0]} @ git:HEAD", f"{names[2]} @ git:HEAD"]
    assert [each.base for each in variants[:4]] == [names[4], names[4], names[5], names[5]]
    with pytest.raises(ExperimentError, match=r"capital\.prompty@no"):
        bench.plan(baseline="git:no")


def test_git_is_not_asked_in_a_folder_that_is_not_trusted(bench: Bench) -> None:
    bench.write(
        "capital.experiment.yaml",
        EXPERIMENT.replace("capital.prompty,", "capital.prompty@HEAD,", 1),
    )
    services = replace(bench.services, trust=_nothing_trusted(bench))
    with pytest.raises(ExperimentError, match="only run in folders that you trust"):
        plan_experiment(bench.path, services)


def _nothing_trusted(bench: Bench) -> TrustStore:
    store = TrustStore(bench.folder.parent / "trust.toml")
    assert not store.is_trusted(bench.folder)
    return store


async def test_exports_are_read_by_others_and_hold_no_formula(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    import csv
    import json
    from io import StringIO
    from xml.etree import ElementTree

    bench.write("rows.csv", ROWS + '"=cmd|"" /C calc""!A0",<script>\n')
    result, _ = await bench.run(ledger)
    report = report_of(ledger, result)
    made = {name: form(ledger, report) for name, form in FORMS.items()}
    suites = ElementTree.fromstring(made["junit"]).findall("testsuite")
    assert [(each.get("name"), each.get("tests"), each.get("failures")) for each in suites] == [
        ("edit", "4", "2"),
    ]
    lines = [json.loads(line) for line in made["json"].splitlines()]
    assert [each["type"] for each in lines] == ["experiment"] + ["cell"] * 8
    cells = list(csv.DictReader(StringIO(made["csv"])))
    assert len(cells) == 8
    assert not [text for cell in cells for text in cell.values() if text.startswith(("=", "@"))]
    assert "<script>" not in made["html"]
    assert made["github"] == "", "no row is lost"
    assert "| edit | 4 | 50 % | 0 | 0 |" in made["markdown"]
    (scope,) = json.loads(made["otel"])["resourceLogs"][0]["scopeLogs"]
    events = scope["logRecords"]
    assert {each["eventName"] for each in events} == {"gen_ai.evaluation.result"}
    assert len({each["traceId"] for each in events}) == 8
    labels = [
        value["value"]["stringValue"]
        for each in events
        for value in each["attributes"]
        if value["key"] == "gen_ai.evaluation.score.label"
    ]
    assert (labels.count("pass"), labels.count("fail")) == (4, 4)
    log = json.loads(made["inspect"])
    assert (log["status"], log["eval"]["model"], len(log["samples"])) == (
        "success",
        "scripted-1",
        8,
    )
    assert [each["scores"]["cell"]["value"] for each in log["samples"]].count("C") == 4


async def test_cells_are_exported_with_their_metadata(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    import csv
    import json
    from io import StringIO

    bench.write("rows.csv", "country,expected,__metadata:part\nNorway,Oslo,north\n")
    result, _ = await bench.run(ledger)
    report = report_of(ledger, result)
    (line, *_) = csv.DictReader(StringIO(FORMS["csv"](ledger, report)))
    assert line["metadata:part"] == "north"
    cell = json.loads(FORMS["json"](ledger, report).splitlines()[1])
    assert cell["metadata"] == {"part": "north"}


async def test_only_lost_rows_are_annotated(bench: Bench, ledger: ExperimentLedger) -> None:
    async def shortly(exchange: Exchange) -> None:
        system, user = (each["content"] for each in exchange.request.body["messages"])
        capital = CAPITALS[user] if "shortly" not in system else "O"
        await streamed(capital)(exchange)

    bench.server.always(shortly)
    bench.write(bench.path.name, EXPERIMENT + "evaluateOptions: {repeat: 2}\n")
    result, _ = await bench.run(ledger)
    lines = FORMS["github"](ledger, report_of(ledger, result)).splitlines()
    assert [each.partition("::edit")[0] for each in lines] == [
        "::error file=rows.csv,line=2",
        "::error file=rows.csv,line=3",
    ], "Peru fails in the baseline, too"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_formula_is_shown_and_not_worked_out(text: str) -> None:
    assert safe_cell(text) == f"'{text}"
    assert safe_cell("plain") == "plain"


async def test_an_accepted_answer_is_written_to_its_row_and_taken_back(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    bench.write("rows.csv", 'country,note,expected\r\nNorway,"a, b",Oslo\r\nPeru,"x\r\ny",Lima\r\n')
    result, _ = await bench.run(ledger, variants=("main",))
    row = ledger.rows(result)[1]
    before = (bench.folder / "rows.csv").read_bytes()
    outcome = ledger.outcome(result, CellKey(1, 2, 0))
    assert outcome is not None
    change = accept_answer(bench.path, row, outcome.output)
    change.write()
    after = (bench.folder / "rows.csv").read_bytes()
    assert after == before.replace(b"Lima", b"Cuzco")
    again, _ = await bench.run(ledger, variants=("main",))
    assert report_of(ledger, again).variants[0].rows_passed == 2
    change.undo()
    assert (bench.folder / "rows.csv").read_bytes() == before
    with pytest.raises(AcceptError, match="changed meanwhile"):
        change.undo()
    bench.write("rows.csv", "country,note,expected\nNorway,,Oslo\nChile,,Santiago\n")
    with pytest.raises(AcceptError, match="no longer exists"):
        accept_answer(bench.path, row, "Cuzco")


async def test_an_accepted_answer_stands_beside_the_values_of_its_case(
    bench: Bench, ledger: ExperimentLedger
) -> None:
    text = EXPERIMENT.replace(
        "tests: file://rows.csv",
        "tests:\n  # the first\n  - vars: {country: Norway}\n    expected: Bergen\n"
        "  - {vars: {country: Italy}}\n  - description: third\n    vars:\n      country: Peru\n",
    )
    bench.write("capital.experiment.yaml", text)
    result, _ = await bench.run(ledger, variants=("main",))
    for row in ledger.rows(result):
        outcome = ledger.outcome(result, CellKey(1, row.number, 0))
        assert outcome is not None
        accept_answer(bench.path, row, outcome.output).write()
    again, _ = await bench.run(ledger, variants=("main",))
    assert report_of(ledger, again).variants[0].rows_passed == 3
    assert "# the first" in bench.path.read_text()


def test_a_test_names_its_prompt_by_its_id_or_label(bench: Bench) -> None:
    bench.write(
        "capital.experiment.yaml",
        "prompts:\n  - {id: factual, label: Facts, raw: 'Say {{ a }}'}\n"
        "  - {id: capital.prompty, label: main}\nproviders: [small]\ntests:\n"
        "  - {vars: {a: 1, country: x}, prompts: [factual]}\n"
        "  - {vars: {a: 2, country: x}, prompts: [Facts]}\n"
        "  - {vars: {a: 3, country: x}, prompts: [capital.prompty]}\n",
    )
    plan = bench.plan()
    taken = [[each.name for each in plan.variants if each.takes(row.case)] for row in plan.rows]
    assert taken == [["Facts"], ["Facts"], ["main"]]
