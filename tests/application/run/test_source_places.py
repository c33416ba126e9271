from __future__ import annotations

from studio.application.run.cards.card import CardKind
from studio.application.run.cursor import RunCursor
from studio.application.run.source_places import TemplatePlaces, is_text_of
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.resource_files import resource


def _bundled(name: str) -> PromptDocument:
    path = resource("examples", f"{name}.prompty")
    return parse(path.read_text(encoding="utf-8"), path)


def _lit(document: PromptDocument, kind: CardKind, step: int = 1, tool: str = "") -> list[str]:
    places = TemplatePlaces.of(document).behind(RunCursor(step, kind), tool)
    return [document.source.slice(span).strip() for span in places]


def test_a_loop_written_in_the_template_is_lit_where_it_shows_the_moment() -> None:
    react = _bundled("react-agent")

    assert _lit(react, "prompt") == ["{{ question }}"]
    assert _lit(react, "thought") == ["{{ h.thought }}"]
    assert _lit(react, "action", tool="lookup") == ["{{ h.action }}", "{{ h.arguments | tojson }}"]
    assert _lit(react, "observation") == ["{{ h.observation }}"]
    assert _lit(react, "prompt", step=2) == [
        "{{ h.thought }}", "{{ h.action }}", "{{ h.arguments | tojson }}", "{{ h.observation }}",
    ]  # fmt: skip


def test_a_prompt_whose_loop_is_one_text_is_lit_there() -> None:
    head = "---\nname: a\ninputs:\n  question: {type: string}\n---\n"
    document = parse(
        f"{head}system:\nUse.\nuser:\n{{{{ question }}}}\n{{{{ agent_scratchpad }}}}\n"
    )

    assert _lit(document, "prompt") == ["{{ question }}"]
    for kind in ("thought", "action", "observation"):
        assert _lit(document, kind, step=2) == ["{{ agent_scratchpad }}"]


def test_a_prompt_that_is_not_rendered_again_leads_to_its_tool_and_its_last_message() -> None:
    native = _bundled("tool-calling-agent")

    (tool,) = _lit(native, "action", tool="calculator")
    assert "calculator" in tool
    (last,) = _lit(native, "reply")
    assert last == "user:"
    assert _lit(native, "observation", tool="nobody has it") == ["user:"]


def test_an_answer_leads_to_the_outputs_that_are_declared() -> None:
    text = "---\nname: a\noutputs:\n  city:\n    type: string\n---\nsystem:\nName it.\nuser:\nGo.\n"

    (lit,) = _lit(parse(text), "final")
    assert lit.startswith("city")


def test_a_text_that_was_changed_since_is_another() -> None:
    document = parse("system:\nHello.\n")

    assert is_text_of(document, "system:\nHello.\n")
    assert not is_text_of(document, "system:\nHallo!\n")


def test_a_written_key_does_not_hide_the_places() -> None:
    text = "---\nmodel:\n  connection:\n    apiKey: sk-abcdefghijklmnop\n---\nsystem:\nHello.\n"
    document = parse(text)

    masked = text.replace("sk-abcdefghijklmnop", "••-••••••••••••••••")
    assert is_text_of(document, masked)
