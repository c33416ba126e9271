from __future__ import annotations

from pathlib import Path

import pytest

from studio.application.experiments.prompts import ExperimentError, Folder
from studio.application.experiments.stepping import read_mocks
from studio.application.tools.saved_calls import SavedCall, write_calls
from studio.core.prompty.document import ToolId
from studio.core.tools.registry import RecordedAnswer, RecordedMock
from studio.core.tools.trust.store import TrustStore


def test_saved_calls_stand_in_for_a_tool(tmp_path: Path) -> None:
    calls = (
        SavedCall("Oslo", ToolId("", "weather"), {"city": "Oslo"}, "ok", "sunny"),
        SavedCall("nowhere", ToolId("", "weather"), {"city": "?"}, "error", "unknown"),
        SavedCall("add", ToolId("", "add"), {"a": 1}, "ok", "1"),
    )
    write_calls(tmp_path / "trip.calls.jsonl", calls)
    folder = Folder(tmp_path / "a.yaml", TrustStore(tmp_path / "trust.json"))
    stated = {"weather": "file://trip.calls.jsonl"}
    assert read_mocks(stated, folder)["weather"] == RecordedMock(
        (
            RecordedAnswer({"city": "Oslo"}, "sunny"),
            RecordedAnswer({"city": "?"}, "unknown", True),
        )
    )
    with pytest.raises(ExperimentError, match="no call of 'other'"):
        read_mocks({"other": "file://trip.calls.jsonl"}, folder)
