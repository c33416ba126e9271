"""`make interop`, fifth part: a real Neovim, without a screen, with docs/editors.md's settings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.interop.environments import LIMIT, ROOT, build

PROMPT = """\
---
name: City
inputs:
  city: {kind: string}
---
user:
Tell of {{ city }} and {{ ctiy }}.
"""


def try_neovim() -> bool:
    """Whether Neovim shows findings, makes a fix, hovers and renames; prints each."""
    python = build("neovim")
    if python is None:
        print("neovim: not installed here")
        return True
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    settings = re.search(r"```lua\n(.*?)```", page, re.DOTALL)
    assert settings is not None
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / ".git").mkdir()
        (folder / "city.prompty").write_text(PROMPT, encoding="utf-8")
        (folder / "settings.lua").write_text(settings[1], encoding="utf-8")
        script = Path(__file__).with_name("neovim.lua")
        done = subprocess.run(
            [python.with_name("nvim"), "--headless", "--clean", "-c", f"luafile {script}"],
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
            env={
                **os.environ,
                "FOLDER": made,
                "SETTINGS": str(folder / "settings.lua"),
                "XDG_STATE_HOME": made,
                "XDG_CACHE_HOME": made,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            },
        )
    print(done.stdout.strip() or done.stderr[-800:], flush=True)
    return done.returncode == 0


def main() -> int:
    """Try it."""
    return 0 if try_neovim() else 1


if __name__ == "__main__":
    sys.exit(main())
