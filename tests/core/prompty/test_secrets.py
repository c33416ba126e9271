from __future__ import annotations

from studio.core.prompty.parse import parse
from studio.core.text.source import apply_edits


def test_references_are_no_secrets() -> None:
    text = "---\nmodel: {connection: {apiKey: '${env:KEY}', password: ''}}\n---\nuser:\nHi\n"
    assert "literal-secret" not in {item.code for item in parse(text).problems}


def test_keys_of_other_names_get_a_variable_of_their_own() -> None:
    text = "---\nmodel:\n  id: x\n  connection:\n    clientSecret: abc\n---\nuser:\nHi\n"
    (problem,) = [item for item in parse(text).problems if item.code == "literal-secret"]
    fixed = apply_edits(text, problem.fixes[0].edits)
    assert "clientSecret: ${env:CLIENT_SECRET}" in fixed
