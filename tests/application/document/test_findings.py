"""The same findings by every door: what `check` and editors tell, and what the window shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.document.checked_file import findings_of, read_document
from studio.application.document.project_settings import project_findings
from studio.application.preview.build import build_preview, preview_problems
from studio.application.preview.variables import PreviewJob
from studio.core.paths import resource
from studio.core.tools.trust.store import TrustStore

BROKEN = (
    '---\ntools:\n  - id: a\n---\nsystem[name="x]:\n{{ b }}\n![image](no.png)\n',
    "---\nname: [\ninputs:\n  a: {kind: sting}\n---\nuser:\n${file:no.txt} ${env:NO_SUCH}\n",
    "---\nmodel: {provider: anthropic, id: claude}\n---\nassistant:\n{{ x | uper }}{% if %}\n",
    "",
)


def same(text: str, path: Path) -> None:
    document, trust = read_document(text, path), TrustStore()
    shown = build_preview(PreviewJob(document, trusted=trust.is_trusted(path.parent)))
    window = project_findings(document).reported(document, preview_problems(shown))
    assert window == findings_of(document, trust), path


@pytest.mark.parametrize("text", BROKEN)
def test_of_a_broken_file(text: str, tmp_path: Path) -> None:
    same(text, tmp_path / "a.prompty")


def test_of_what_is_bundled() -> None:
    found = sorted(resource("examples").parent.glob("*/*.prompty"))
    assert len(found) > 10
    for path in found:
        same(path.read_text(encoding="utf-8"), path)


@pytest.mark.parametrize(
    ("inputs", "codes"),
    [
        ("first: {kind: string}, last: {kind: string}", []),
        ("first: {kind: string, default: Ann}, last: {kind: string, default: Lee}", ["Ann_Lee"]),
    ],
)
def test_a_name_made_of_unknown_values_is_not_judged(
    inputs: str, codes: list[str], tmp_path: Path
) -> None:
    text = (
        f"---\ninputs: {{{inputs}}}\nmodel: gpt-4o\ntemplate: {{parser: {{kind: section}}}}\n---\n"
        'user[name="{{first}} {{last}}"]:\nHi\n'
    )
    found = findings_of(read_document(text, tmp_path / "a.prompty"), TrustStore())
    assert [each.message.split("'")[-2] for each in found] == codes
