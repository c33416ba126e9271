"""The guide's list of keys is made from the table of actions."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from studio.ui.base.menus import ACTIONS

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_is_as_the_table_says() -> None:
    spec = importlib.util.spec_from_file_location("keys", ROOT / "packaging" / "keys.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.page()
    assert text == module.PAGE.read_text(encoding="utf-8"), "run `make i18n`"
    for action in ACTIONS:
        assert f"| {action.text.removesuffix('…')} |" in text
