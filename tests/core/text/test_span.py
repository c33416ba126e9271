from __future__ import annotations

from studio.core.text.source import Span


def test_span_arithmetic() -> None:
    span = Span(2, 5)
    assert len(span) == 3
    assert (2 in span, 4 in span, 5 in span, "x" in span) == (True, True, False, False)
    assert span.touches(5)
    assert not span.touches(6)
    assert span.shift(3) == Span(5, 8)
    assert span.cover(Span(8, 9)) == Span(2, 9)
    assert sorted([Span(3, 4), Span(2, 9), Span(2, 3)]) == [Span(2, 3), Span(2, 9), Span(3, 4)]
