"""Every table with a row for each loop protocol has one for every protocol."""

from __future__ import annotations

from typing import get_args

from pytestqt.qtbot import QtBot

from studio.core.agent.protocols import convert, loops
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.export.python.script import script_part
from studio.core.models.base import PROTOCOLS, ModelRequest, ProtocolName
from studio.core.models.embedded.model import build_grammar
from studio.core.prompty.document import TemplateFormat, ToolSpec
from studio.core.prompty.parse import parse
from studio.ui.dialogs.comparison import RewriteDialog

PROMPT = parse("---\nname: a\n---\nsystem:\nHello {{question}}.\n")
NAMES = get_args(ProtocolName)
TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}})


def test_no_table_lacks_a_protocol() -> None:
    tables = {
        "resources/words/protocols.toml": PROTOCOLS,
        "_LOOPS of core/agent/protocols/loops": loops._LOOPS,
    }
    wrong = [
        f"{where}: {name}" for where, table in tables.items() for name in set(NAMES) ^ set(table)
    ]
    assert not wrong


def test_every_protocol_has_a_script_and_pieces_for_each_template_language() -> None:
    languages = get_args(TemplateFormat)
    for name, facts in PROTOCOLS.items():
        assert facts.script, name
        assert all(script_part(part).strip() for part in facts.script), name
        assert bool(facts.rules) == bool(facts.tools) == bool(facts.steps), name
        assert not facts.rules or set(facts.tools) == set(facts.steps) == set(languages), name


def test_every_protocol_has_pieces_to_rewrite_for_and_a_grammar() -> None:
    for name in NAMES:
        assert loops.loop_of(name).name == name
        assert bool(convert._pieces(name, "jinja2").teach) == (name != "native"), name
        request = ModelRequest((), (TOOL,), protocol=name)
        assert build_grammar(request, "syntax"), name
        assert choose_protocol(PROMPT, name).protocol == name


def test_a_prompt_is_rewritten_for_every_protocol(qtbot: QtBot) -> None:
    dialog = RewriteDialog(PROMPT)
    qtbot.addWidget(dialog)
    offered = {dialog.target.itemData(each) for each in range(dialog.target.count())}
    assert offered == set(NAMES) - {choose_protocol(PROMPT).protocol}
