from __future__ import annotations

from studio.core.prompty.checks.secrets import find_secret_values
from studio.core.prompty.parse import parse
from studio.core.text.problem import apply_edits


def test_a_secret_is_found_by_its_value() -> None:
    text = (
        "---\nmodel: {connection: {endpoint: 'https://u:abcdefgh99@h'}}\n---\nuser:\nabcdefgh99\n"
    )
    document = parse(text)
    found = list(find_secret_values(document, {"MY_KEY": "abcdefgh99", "SHORT": "user"}))
    assert [(item.code, item.severity) for item in found] == [("literal-secret", "error")] * 2
    fixed = apply_edits(text, [edit for item in found for edit in item.fixes[0].edits])
    assert fixed == text.replace("abcdefgh99", "${env:MY_KEY}")


def test_references_are_no_secrets() -> None:
    text = "---\nmodel: {connection: {apiKey: '${env:KEY}', password: ''}}\n---\nuser:\nHi\n"
    assert "literal-secret" not in {item.code for item in parse(text).problems}


def test_keys_of_other_names_get_a_variable_of_their_own() -> None:
    text = "---\nmodel:\n  id: x\n  connection:\n    clientSecret: abc\n---\nuser:\nHi\n"
    (problem,) = [item for item in parse(text).problems if item.code == "literal-secret"]
    fixed = apply_edits(text, problem.fixes[0].edits)
    assert "clientSecret: ${env:CLIENT_SECRET}" in fixed
