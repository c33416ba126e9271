from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.application.preview.requests import RequestPreview
from studio.core.prompty.parse import parse
from studio.core.wire.request import Provider
from studio.viewmodels.preview.controller import PreviewController

TEXT = "system:\nHello {{ who }}\n"


def test_a_body_is_made_while_it_is_seen(qtbot: QtBot) -> None:
    controller = PreviewController()
    details = controller.details
    made: list[dict[Provider, RequestPreview]] = []
    details.bodies_made.connect(made.append)
    with qtbot.waitSignal(details.counted):
        controller.set_document(parse(TEXT))
    qtbot.waitUntil(lambda: not details.is_busy)
    assert made == []
    with qtbot.waitSignal(details.bodies_made):
        details.make_bodies(("anthropic",))
    assert set(made[-1]) == {"anthropic"}
    with qtbot.waitSignal(details.bodies_made):
        controller.set_inputs({"who": "Ann"})
    assert "Hello Ann" in made[-1]["anthropic"].text
    details.make_bodies(())
    count = len(made)
    with qtbot.waitSignal(details.counted):
        controller.set_inputs({"who": "Ben"})
    qtbot.waitUntil(lambda: not details.is_busy)
    assert len(made) == count


def test_no_document_ends_what_is_under_way(qtbot: QtBot) -> None:
    controller = PreviewController()
    with qtbot.waitSignal(controller.previewed):
        controller.set_document(parse(TEXT))
    controller.set_document(None)
    with qtbot.assertNotEmitted(controller.details.counted, wait=150):
        pass
