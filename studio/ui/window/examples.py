"""The bundled prompts, and the card that offers one."""

import re
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy

from studio.application.words import tr
from studio.core.paths import resource
from studio.core.text.files import read_text
from studio.ui.parts.kit import Drawing, column_of
from studio.ui.style.theme import icon

_FIELD = re.compile(r"^(name|description):[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_ORDER = (
    "chat",
    "react-agent",
    "tool-calling-agent",
    "json-action-agent",
    "prompt-section",
    "react-agent-trustgraph",
    "instructions-prompt-cheshire-cat",
)
_ICONS = {
    "chat": "message-square",
    "react-agent": "brain",
    "tool-calling-agent": "wrench",
    "json-action-agent": "braces",
    "prompt-section": "messages-square",
    "react-agent-trustgraph": "brain",
    "instructions-prompt-cheshire-cat": "braces",
}


@dataclass(frozen=True, slots=True)
class BundledPrompt:
    """A bundled prompt."""

    path: Path
    """Path of the example."""

    name: str
    """`name` of the prompt."""

    description: str
    """`description` of the prompt."""


def bundled(folder: str) -> tuple[BundledPrompt, ...]:
    """Return the prompts of `resources/<folder>`, the simplest first."""
    found = []
    for path in resource(folder).glob("*.prompty"):
        # Only two lines are needed; the parser is not loaded before the first paint.
        head = read_text(path)[:2000].split("\n---", 1)[0]
        fields = dict(reversed(_FIELD.findall(head)))
        name = fields.get("name", path.stem).removeprefix("New ")
        found.append(
            BundledPrompt(path, name[:1].upper() + name[1:], fields.get("description", ""))
        )
    order = {stem: number for number, stem in enumerate(_ORDER)}
    return tuple(sorted(found, key=lambda each: (order.get(each.path.stem, 99), each.name)))


def icon_of(prompt: BundledPrompt) -> str:
    """Return the name of its icon."""
    return _ICONS.get(prompt.path.stem, "file-text")


class ExampleCard(QPushButton):
    """Card of an example with name and description; opens or runs it."""

    def __init__(self, example: BundledPrompt) -> None:
        super().__init__()
        self.setObjectName("card")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(tr("Example: {name}").format(name=example.name))
        self.setAccessibleDescription(example.description)
        mark = Drawing(icon_of(example))
        name = QLabel(example.name, wordWrap=True)
        name.setProperty("title", True)
        text = QLabel(example.description, wordWrap=True)
        text.setProperty("tone", "muted")
        self.run = QPushButton(icon("play"), tr("Run", "verb"))
        self.run.setAccessibleName(tr("Run {name}").format(name=example.name))
        words = column_of(name, text, spacing=4)
        row = QHBoxLayout(self)
        self._row = row
        row.setContentsMargins(16, 12, 16, 12)
        row.setSpacing(16)
        row.addWidget(mark)
        row.addLayout(words, 1)
        row.addWidget(self.run)
        for label in (mark, name, text):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def sizeHint(self) -> QSize:
        """Return the size of the labels."""
        return self._row.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Return the minimum size of the labels; a button's own is its whole text on one line."""
        return self._row.minimumSize()

    def hasHeightForWidth(self) -> bool:
        """Return True: the description wraps."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the labels at a width."""
        return self._row.totalHeightForWidth(width)
