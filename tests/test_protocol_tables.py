"""Every table with a row for each loop protocol has one for every protocol."""

from __future__ import annotations

from typing import get_args

from pytestqt.qtbot import QtBot

from studio.application.words import PROTOCOL_WORDS
from studio.core.agent.protocols import convert, loops
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.export.python.script import RUNS
from studio.core.models.base import PROTOCOLS, ModelRequest, ProtocolName
from studio.core.models.embedded.model import build_grammar
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.ui.dialogs.comparison import RewriteDialog

PROMPT = parse("---\nname: a\n---\nsystem:\nHello {{question}}.\n")
NAMES = get_args(ProtocolName)
TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}})


def test_no_table_lacks_a_protocol() -> None:
    tables = {
        "PROTOCOLS of core/models/base": PROTOCOLS,
        "_LOOPS of core/agent/protocols/loops": loops._LOOPS,
        "RUNS of core/export/python/script": RUNS,
        "PROTOCOL_WORDS of application/words": PROTOCOL_WORDS,
    }
    wrong = [
        f"{where}: {name}" for where, table in tables.items() for name in set(NAMES) ^ set(table)
    ]
    assert not wrong


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
