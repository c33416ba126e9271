"""What was written into each field before, to be brought back with Up and Down."""

from __future__ import annotations

from dataclasses import dataclass, field

_MOST = 50


@dataclass(slots=True)
class ValueHistory:
    """The earlier texts of one field, oldest first; kept for the session only."""

    _texts: list[str] = field(default_factory=list)
    _place: int | None = None
    _draft: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """The earlier texts."""
        return tuple(self._texts)

    def keep(self, text: str) -> None:
        """Remember a text; one that is known already becomes the newest."""
        self._place = None
        if not text:
            return
        if text in self._texts:
            self._texts.remove(text)
        self._texts.append(text)
        del self._texts[:-_MOST]

    def step(self, back: bool, shown: str) -> str | None:
        """The text to show instead, or `None` where there is none further that way.

        Args:
            back: towards older ones.
            shown: what stands in the field; an unkept draft comes back at the end.
        """
        if self._place is not None and self._texts[self._place : self._place + 1] != [shown]:
            self._place = None  # edited since
        if self._place is None:
            if not back:
                return None
            self._draft = shown
            older = [index for index, text in enumerate(self._texts) if text != shown]
            self._place = older[-1] if older else None
            return self._texts[older[-1]] if older else None
        place = self._place - 1 if back else self._place + 1
        if place < 0:
            return None
        if place >= len(self._texts):
            self._place = None
            return self._draft
        self._place = place
        return self._texts[place]
