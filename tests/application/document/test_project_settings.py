"""The schema of `prompt-studio.toml` takes what the program takes, and refuses what it refuses."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

from studio.application.document.project_settings import (
    OWN_FILE,
    CheckSettings,
    SettingsError,
    settings_for,
)
from studio.core.paths import resource

SCHEMA = json.loads((resource("schema") / "prompt-studio.schema.json").read_text("utf-8"))


def test_it_knows_every_setting() -> None:
    assert set(SCHEMA["properties"]["check"]["properties"]) == set(
        CheckSettings.__dataclass_fields__
    )


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        (
            '[check]\nselect = ["unused-*"]\nignore = []\nexclude = ["old/"]\nseverity = "hint"\n',
            True,
        ),
        ("", True),
        ('[check]\nselct = ["unused-*"]\n', False),
        ('[check]\nselect = "unused-input"\n', False),
        ("[check]\nexclude = [1]\n", False),
        ('[check]\nseverity = "bad"\n', False),
        ("[check]\nportability = true\n", True),
        ("[check]\nportability = 1\n", False),
        ("check = 1\n", False),
    ],
)
def test_schema_and_program_agree(text: str, is_taken: bool, tmp_path: Path) -> None:
    (tmp_path / OWN_FILE).write_text(text, encoding="utf-8")
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(tomllib.loads(text)) is is_taken
    if is_taken:
        settings_for(tmp_path)
    else:
        with pytest.raises(SettingsError, match="check"):
            settings_for(tmp_path)
