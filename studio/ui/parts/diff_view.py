"""A unified diff, coloured line by line; signs say what colours say."""

from __future__ import annotations

from html import escape

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QFrame, QTextBrowser

from studio.ui.style.colors import blend, fixed_font
from studio.ui.style.in_use import FollowsTheme, theme_in_use


class DiffView(FollowsTheme, QTextBrowser):
    """Shows a diff, or the sentence that says why there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[str, str] | None = None
        self.setOpenLinks(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(QCoreApplication.translate("Export", "Difference"))
        self.document().setDocumentMargin(10)
        self.follow_theme()

    def show_difference(self, diff: str, against: str) -> None:
        """Show a diff under a line that says what it is compared with."""
        self._shown = (diff, against)
        theme = theme_in_use()
        rows = []
        for line in diff.split("\n")[:-1] if diff else []:
            sign, rest = line[:1], escape(line[1:])
            match sign:
                case "+":
                    rows.append(
                        _row(f"+ {rest}", theme.success, blend(theme.success, theme.surface, 0.10))
                    )
                case "-":
                    rows.append(
                        _row(f"− {rest}", theme.error, blend(theme.error, theme.surface, 0.10))
                    )
                case "@":
                    rows.append(_row(escape(line), theme.muted, theme.raised))
                case _:
                    rows.append(_row(f"&nbsp; {rest}", theme.text, theme.surface))
        font = fixed_font(self.font())
        head = f'<p style="color:{theme.muted}">{escape(against)}</p>'
        body = "".join(rows)
        style = f"font-family:'{font.families()[0]}'; font-size:{font.pointSizeF()}pt"
        self.setHtml(f'{head}<table width="100%" cellspacing="0" style="{style}">{body}</table>')

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        if self._shown is not None:
            bar = self.verticalScrollBar()
            at = bar.value()
            self.show_difference(*self._shown)
            bar.setValue(at)


def _row(text: str, color: str, ground: str) -> str:
    return (
        f'<tr><td style="white-space:pre-wrap; color:{color}; background:{ground}; padding:0 6px">'
        f"{text or '&nbsp;'}</td></tr>"
    )
