"""The server as an editor sees it: a real process, spoken with over pipes."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.support.ending_server import ENDINGS
from tests.support.language_client import started
from tests.support.no_files import REASONS, each_kind, make_no_file, needs_posix

PROMPT = """---
name: greeting
inputs:
  city:
    kind: string
    default: Oslo
tools:
  - name: look_up
    kind: function
    description: Looks a word up
---
system:
Use `look_up`. See ${file:facts.json}.

user:
é𝄞 {{ city }} and {{ nobody }}
"""


async def test_an_editor_gets_findings_and_they_follow_the_text(
    tmp_path: Path, user_home: Path
) -> None:
    async with started(tmp_path) as editor:
        assert editor.capabilities.position_encoding == types.PositionEncodingKind.Utf16
        uri = editor.open(tmp_path / "greeting.prompty", PROMPT)
        found = await editor.findings(uri)
        undeclared = next(each for each in found if each.code == "undeclared-variable")
        line = PROMPT.split("\n").index("é𝄞 {{ city }} and {{ nobody }}")
        assert undeclared.range.start.line == line
        assert undeclared.range.start.character == len("é𝄞 {{ city }} and {{ ") + 1  # 𝄞 is two
        assert undeclared.source == "prompt-studio"

        actions = await editor.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri), undeclared.range, types.CodeActionContext([])
            )
        )
        assert actions is not None
        (fix,) = (
            each
            for each in actions
            if isinstance(each, types.CodeAction) and "'nobody'" in each.title
        )
        assert fix.edit is not None
        assert fix.edit.changes is not None
        (edit,) = fix.edit.changes[uri]
        assert edit.new_text.strip() == "nobody:\n    kind: string"

        editor.change(uri, 2, PROMPT.replace(" and {{ nobody }}", ""))
        assert "undeclared-variable" not in {each.code for each in await editor.findings(uri, 2)}

        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )
        assert await editor.findings(uri, None) == []


async def test_an_editor_asks_about_places(tmp_path: Path, user_home: Path) -> None:
    (tmp_path / "facts.json").write_text("{}", encoding="utf-8")
    (tmp_path / "other.prompty").write_text(
        "---\nname: other\ninputs:\n  country:\n    kind: string\n---\nuser:\n{{ country }}\n",
        encoding="utf-8",
    )
    async with started(tmp_path, encoding=types.PositionEncodingKind.Utf8) as editor:
        client = editor.client
        assert editor.capabilities.position_encoding == types.PositionEncodingKind.Utf8
        uri = editor.open(tmp_path / "greeting.prompty", PROMPT)
        name = types.TextDocumentIdentifier(uri)
        line = PROMPT.split("\n").index("é𝄞 {{ city }} and {{ nobody }}")
        city = types.Position(line, len("é𝄞 {{ c".encode()))

        hover = await client.text_document_hover_async(types.HoverParams(name, city))
        assert hover is not None
        assert isinstance(hover.contents, types.MarkupContent)
        assert hover.contents.value == '**city**: string  \nDefault: `"Oslo"`'

        declared = await client.text_document_definition_async(types.DefinitionParams(name, city))
        assert isinstance(declared, types.Location)
        assert declared.range.start == types.Position(3, 2)
        places = await client.text_document_references_async(
            types.ReferenceParams(types.ReferenceContext(True), name, city)
        )
        assert places is not None
        assert [each.range.start.line for each in places] == [3, line]

        renamed = await client.text_document_rename_async(types.RenameParams(name, city, "town"))
        assert renamed is not None
        assert renamed.changes is not None
        assert [edit.new_text for edit in renamed.changes[uri]] == ["town", "town"]
        with pytest.raises(JsonRpcException, match="is not a name"):
            await client.text_document_rename_async(types.RenameParams(name, city, "1 2"))

        found = await client.workspace_symbol_async(types.WorkspaceSymbolParams("country"))
        assert found is not None
        assert [(each.name, each.container_name) for each in found] == [("country", "other")]

        links = await client.text_document_document_link_async(types.DocumentLinkParams(name))
        assert links is not None
        assert [each.target for each in links] == [(tmp_path / "facts.json").as_uri()]


async def test_findings_are_those_of_check(tmp_path: Path, user_home: Path) -> None:
    texts = {
        "undeclared": PROMPT,
        "broken-yaml": "---\nname: [\n---\nuser:\nHi\n",
        "old": "---\nmodel:\n  api: chat\n  parameters: {temperature: 0.5}\n---\nuser:\nHi\n",
        "empty": "",
        "carriage": "---\r\ninputs:\r\n  a: {kind: sting}\r\n---\r\nuser:\r\n{{ b }}\r\n",
        "section": '![wrong](thing.xyz)\nuser[name="a b"]:\n{{ open\n',
        "portable": "---\ninputs:\n  a: {kind: boolean}\n  b: {}\n---\n{{ a }}{% set c = 1 %}\n",
    }
    (tmp_path / "prompt-studio.toml").write_text(
        '[check]\nportability = true\nignore = ["unused-input"]\n', encoding="utf-8"
    )
    for name, text in texts.items():
        (tmp_path / f"{name}.prompty").write_bytes(text.encode())
    asked = subprocess.run(
        [sys.executable, "-m", "studio", "check", "--json", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    expected = {
        name: sorted(
            (each["line"] - 1, each["code"])
            for each in json.loads(asked.stdout)
            if Path(each["file"]).stem == name
        )
        for name in texts
    }
    assert sum(map(len, expected.values())) >= 6
    assert {code for _, code in expected["portable"]} >= {"portable-value", "portable-statement"}
    assert "unused-input" not in {code for _, code in expected["portable"]}
    async with started(tmp_path) as editor:
        for name in texts:
            uri = editor.open(tmp_path / f"{name}.prompty")
            found = await editor.findings(uri)
            assert sorted((each.range.start.line, each.code) for each in found) == expected[name]


async def test_the_messages_of_a_prompt_are_given_as_they_stand_in_the_editor(
    tmp_path: Path, user_home: Path
) -> None:
    async with started(tmp_path) as editor:
        uri = editor.open(tmp_path / "greeting.prompty", PROMPT)
        editor.change(uri, 2, PROMPT.replace("{{ nobody }}", "all"))
        lenses = await editor.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        commands = [each.command.command for each in lenses or () if each.command is not None]
        assert commands == [f"prompt-studio.{each}" for each in ("open", "messages", "run", "step")]
        text = await editor.client.workspace_execute_command_async(
            types.ExecuteCommandParams("prompt-studio.messages", [uri])
        )
    assert "## user\n\né𝄞 Oslo and all" in text


@needs_posix
@each_kind
async def test_a_file_that_no_editor_has_open_is_read_within_bounds(
    kind: str, tmp_path: Path, user_home: Path
) -> None:
    make_no_file(kind, tmp_path / "endless.prompty")
    (tmp_path / "closed.prompty").write_text(PROMPT, encoding="utf-8")

    async def symbols(name: str) -> list[str]:
        uri = (tmp_path / name).as_uri()
        found = await editor.client.text_document_document_symbol_async(
            types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
        )
        return [each.name for each in found or ()]

    async with started(tmp_path) as editor:
        with pytest.raises(JsonRpcException, match=REASONS[kind]):
            await symbols("endless.prompty")
        assert "name" in await symbols("closed.prompty")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
@pytest.mark.parametrize("word", ENDINGS)
async def test_a_text_that_ends_its_reader_is_one_finding_and_others_keep_theirs(
    tmp_path: Path, user_home: Path, word: str
) -> None:
    async with started(tmp_path, module="tests.support.ending_server") as editor:
        good = editor.open(tmp_path / "good.prompty", PROMPT)
        before = await editor.findings(good)
        bad = editor.open(tmp_path / "bad.prompty", PROMPT + word)
        (found,) = await editor.findings(bad)
        assert found.code == ENDINGS[word]
        editor.change(bad, 2, PROMPT + word + ", still")
        assert [each.code for each in await editor.findings(bad, 2)] == [ENDINGS[word]]
        hover = types.HoverParams(types.TextDocumentIdentifier(bad), types.Position(1, 1))
        assert await editor.client.text_document_hover_async(hover) is None
        editor.change(good, 2, PROMPT)
        assert await editor.findings(good, 2) == before
        editor.change(bad, 3, PROMPT)
        assert await editor.findings(bad, 3) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
async def test_other_texts_are_read_while_one_is_tried(tmp_path: Path, user_home: Path) -> None:
    fifo = tmp_path / "slow.fifo"
    os.mkfifo(fifo)
    async with started(tmp_path, module="tests.support.ending_server") as editor:
        slow = editor.open(tmp_path / "slow.prompty", PROMPT + "WAIT")
        hover = types.HoverParams(types.TextDocumentIdentifier(slow), types.Position(1, 1))
        asked = asyncio.create_task(editor.client.text_document_hover_async(hover))
        good = editor.open(tmp_path / "good.prompty", PROMPT)
        await editor.findings(good)
        assert not asked.done()
        await asyncio.to_thread(fifo.write_text, "", encoding="utf-8")
        await asked
        await editor.findings(slow)
