"""The settings in docs/editors.md are ones that a program can read."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "editors.md").read_text(encoding="utf-8")


def test_the_settings_of_helix_name_a_server_that_they_define() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    settings = tomllib.loads(block)
    servers = settings["language-server"]
    assert servers["prompt-studio"] == {"command": "prompt-studio", "args": ["lsp"]}
    for language in settings["language"]:
        assert {"name", "scope", "file-types"} <= set(language)
        assert set(language["language-servers"]) <= set(servers)
