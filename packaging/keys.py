"""Write `docs/keys.md`, the list of keys, from the table of actions.

python packaging/keys.py            write it
python packaging/keys.py --check    exit code 1 when it is not as the table says
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "keys.md"
sys.path.insert(0, str(ROOT))

_CHORD = re.compile(r"(?<!\+),")
"""What separates two keys that are pressed one after the other; `Ctrl+,` is one key."""

HEAD = """\
# Keys

Every action of the window with its usual keys, menu by menu. All of them can be changed: Settings
(`Ctrl+,`), Keyboard. The command palette (`Ctrl+Shift+P`) finds each by its name.
`Ctrl+K, Z` means `Ctrl+K`, then `Z`.

`python packaging/keys.py` makes this page from the program's table of actions.
"""


def page() -> str:
    """The page as the table says."""
    from studio.ui.base.menus import ACTIONS, MENUS

    named = {spec.id: spec for spec in ACTIONS}
    placed: set[str] = set()
    parts = [HEAD]
    for title, identifiers in MENUS:
        rows = [named[each] for each in identifiers if each in named]
        placed.update(spec.id for spec in rows)
        parts.append(_table(title.replace("&", ""), rows))
    rest = [spec for spec in ACTIONS if spec.id not in placed]
    if rest:
        parts.append(_table("Elsewhere", rest))
    return "".join(parts)


def _table(title: str, rows: list) -> str:  # type: ignore[type-arg]
    lines = [f"\n## {title}\n", "| action | keys |", "| --- | --- |"]
    for spec in rows:
        keys = " or ".join(f"`{_CHORD.sub(', ', key)}`" for key in spec.shortcut.split())
        lines.append(f"| {spec.text.removesuffix('…')} | {keys} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    text = page()
    if parser.parse_args().check:
        fits = PAGE.exists() and PAGE.read_text(encoding="utf-8") == text
        print("docs/keys.md is true" if fits else "docs/keys.md: run python packaging/keys.py")
        return 0 if fits else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
