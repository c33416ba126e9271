from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from studio.application.preview.build import build_preview, sent_now
from studio.application.preview.requests import count_preview, meter, preview_target
from studio.application.preview.variables import PreviewJob, PreviewTarget
from studio.core.models.choice import ModelChoice
from studio.core.models.connections import Connection
from studio.core.prompty.document import ModelDeclaration
from studio.core.prompty.parse import parse
from studio.core.tokens.conversation import MEDIA_TOKENS, ConversationTokens
from studio.core.tokens.tokenizers import Tokenizers

DOC = parse("system:\nYou know {{ city }}.\n")


def test_an_openai_model_is_counted_exactly_and_measured_against_its_window(
    tmp_path: Path,
) -> None:
    tokenizers = Tokenizers(tmp_path)
    tokenizers.load("gpt-4o")
    order = PreviewJob(DOC, {"city": "Rome"}, target=PreviewTarget("gpt-4o"))
    guessed = meter(count_preview(build_preview(order)))
    assert guessed.text.startswith("≈")
    preview = build_preview(replace(order, tokenizers=tokenizers))
    counted = count_preview(preview)
    shown = meter(counted)
    assert shown.text == "11 tokens"
    assert counted.tokens.is_exact
    assert "o200k_base" in shown.detail
    assert "128,000" in shown.detail
    assert shown.share == 11 / 128_000
    assert shown.fullness == "free"


def test_a_conversation_near_or_over_the_window_is_said() -> None:
    preview = build_preview(PreviewJob(DOC, {}, target=PreviewTarget("m", "M", 100)))
    assert meter(count_preview(preview).by_model(ConversationTokens((90,)))).fullness == "close"
    over = meter(count_preview(preview).by_model(ConversationTokens((101,))))
    assert (over.fullness, over.share) == ("over", 1.01)
    unknown = build_preview(PreviewJob(DOC, {}, target=PreviewTarget("unheard-of")))
    assert meter(count_preview(unknown)).share is None
    assert "not known" in meter(count_preview(unknown)).detail


def test_the_embedded_models_own_count_takes_the_estimates_place() -> None:
    target = preview_target(
        ModelChoice(
            Connection("E", "embedded", settings={"context": 2048}),
            ModelDeclaration(id="gpt-4o"),
            "",
        )
    )
    assert (target.model_id, target.context_window, target.is_embedded) == ("", 2048, True)
    preview = build_preview(PreviewJob(DOC, {"city": "Rome"}, target=target))
    assert "once the embedded model runs" in meter(count_preview(preview)).detail
    assert "Of these, inputs: city" in meter(count_preview(preview)).detail
    own = ConversationTokens((7,), 5, 0, {"city": 3}, "own", True)
    assert meter(count_preview(preview).by_model(own)).text == "12 tokens"


def test_a_persons_correction_of_the_window_counts() -> None:
    connection = Connection("C", "compatible", capabilities={"context_window": 777})
    target = preview_target(ModelChoice(connection, ModelDeclaration(id="own-model"), ""))
    assert (target.model_id, target.name, target.context_window) == ("own-model", "C", 777)


def test_the_meter_counts_what_a_run_sends(tmp_path: Path) -> None:
    """The status bar said 334 tokens where 86 were sent: a sample's picture was counted."""
    (tmp_path / "stove.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"0" * 9_000)
    head = (
        "---\ninputs:\n  who: {kind: string, sample: Ana}\n"
        "  photo: {kind: image, sample: stove.png}\n---\n"
    )
    document = parse(head + "user:\nHello {{ who }}\n{{ photo }}\n", tmp_path / "a.prompty")
    count = count_preview(build_preview(PreviewJob(document)))
    assert count.tokens.by_input["photo"] == MEDIA_TOKENS
    assert "photo" not in count.sent.by_input
    shown = meter(count)
    assert shown.text.startswith(f"≈{count.sent.total} ")
    assert "does not send samples: photo, who" in shown.detail
    given = count_preview(build_preview(PreviewJob(document, {"who": "Ana", "photo": "stove.png"})))
    assert given.sent == given.tokens == count.tokens
    assert "photo 255" in meter(given).detail


def test_before_trust_the_meter_counts_the_files_that_are_shown(tmp_path: Path) -> None:
    (tmp_path / "facts.txt").write_text("many facts " * 50, encoding="utf-8")
    front = "---\ninputs:\n  facts: {kind: string, default: '${file:facts.txt}'}\n---\n"
    document = parse(front + "system:\n{{ facts }}\n", tmp_path / "a.prompty")
    preview = build_preview(PreviewJob(document, {}, trusted=False, opened=tmp_path))
    count = count_preview(preview)
    assert count.tokens == count.sent
    assert count.sent.total > 100
    sent, _ = sent_now(preview)
    assert "many facts" not in str(sent.messages)
