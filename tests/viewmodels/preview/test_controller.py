from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from studio.application.preview.probe import ProbeReport
from studio.application.preview.requests import request_of
from studio.application.preview.variables import PreviewTarget
from studio.core.prompty.document import ToolSpec
from studio.core.prompty.parse import parse
from studio.viewmodels.preview.controller import PreviewController

GOOD = "system:\nHello {{ who }}\n"


def test_changes_in_one_burst_make_one_preview(qtbot: QtBot) -> None:
    controller = PreviewController()
    seen: list[object] = []
    controller.previewed.connect(seen.append)
    with qtbot.waitSignal(controller.previewed):
        for word in ("a", "b", "c"):
            controller.set_document(parse(GOOD))
            controller.set_inputs({"who": word})
    qtbot.wait(150)
    assert len(seen) == 1
    assert controller.preview is not None
    assert controller.preview.messages.messages[0].text == "Hello c"


def test_an_error_keeps_the_last_good_of_the_same_file_only(qtbot: QtBot, tmp_path: Path) -> None:
    controller = PreviewController()
    one, other = tmp_path / "one.prompty", tmp_path / "other.prompty"
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(GOOD, one))
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse("system:\nHello {{ who", one))
    assert controller.preview is not None
    assert controller.preview.is_stale
    assert controller.preview.shown.source.text == GOOD
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse("system:\nOther {{ who", other))
    assert controller.preview.is_stale
    assert controller.preview.shown.source.path == other


def test_tools_and_model_of_the_window_reach_the_request(qtbot: QtBot) -> None:
    controller = PreviewController()
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(GOOD))
        controller.set_tools((ToolSpec("lookup", "Look up."),))
        controller.set_target(PreviewTarget("tiny"))
    assert controller.preview is not None
    body = request_of(controller.preview, "openai-chat").body
    assert body["model"] == "tiny"
    assert '"lookup"' in request_of(controller.preview, "openai-chat").text


def test_another_file_has_no_tools_of_the_one_before(qtbot: QtBot, tmp_path: Path) -> None:
    controller = PreviewController()
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(GOOD, tmp_path / "one.prompty"))
        controller.set_tools((ToolSpec("lookup", "Look up."),))
    own = "---\ntools:\n  - {name: own, kind: function}\n---\n" + GOOD
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(own, tmp_path / "other.prompty"))
    assert controller.preview is not None
    assert [tool.name for tool in controller.preview.tools] == ["own"]


def test_the_end_of_a_run_counts_anew_and_renders_nothing_again(qtbot: QtBot) -> None:
    controller = PreviewController()
    details = controller.details
    begun, asked = [], []
    controller.job.busy_changed.connect(begun.append)
    details.request_count.connect(lambda count: asked.append(count.preview))
    with qtbot.waitSignal(details.counted):
        controller.set_document(parse(GOOD))
    details.count_again()
    assert asked == []  # only the embedded model counts by itself
    with qtbot.waitSignal(details.counted):
        controller.set_target(PreviewTarget("", is_embedded=True))
    assert asked == [controller.preview]
    begun.clear()
    details.count_again()
    assert asked == [controller.preview] * 2
    assert begun == []


def test_no_document_means_no_preview(qtbot: QtBot) -> None:
    controller = PreviewController()
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(GOOD))
    controller.set_document(None)
    assert controller.preview is None
    with qtbot.assertNotEmitted(controller.previewed, wait=150):
        controller.set_inputs({"who": "x"})


def test_the_probe_reports(qtbot: QtBot) -> None:
    controller = PreviewController()
    controller.set_document(parse(GOOD))
    reports: list[ProbeReport] = []
    controller.probed.connect(reports.append)
    with qtbot.waitSignals([controller.probed, controller.previewed]):
        controller.probe()
    assert [report.inputs for report in reports] == [("who",)]
    assert reports[0].holes == ()
