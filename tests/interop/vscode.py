"""`make interop`, fourth part: the VS Code extension is compiled, and its server spoken with.

VS Code itself is not in a registry; the protocol's own library asks what VS Code asks.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.interop.environments import FOLDER, LIMIT, ROOT, build

SOURCE = ROOT / "editors" / "vscode"
WHERE = FOLDER / "vscode"


def main() -> int:
    """Compile it and run its test; prints what came of it."""
    python = build("nodejs")
    if python is None:
        print("vscode: Node is not installed here")
        return 0
    shutil.copytree(
        SOURCE, WHERE, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules", "out")
    )
    environment = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    server = [str(Path(sys.executable).parent / "prompt-studio"), "lsp"]
    steps = {
        "install": ["npm", "ci", "--silent", "--no-audit", "--no-fund"],
        "compile": ["npm", "run", "--silent", "compile"],
        "protocol": ["node", "test/protocol.mjs", *server],
    }
    for name, command in steps.items():
        done = subprocess.run(
            command,
            cwd=WHERE,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
        is_well = done.returncode == 0
        told = "" if is_well else f": {(done.stdout + done.stderr)[-800:]}"
        print(f"{'ok    ' if is_well else 'FAILED'} vscode: {name}{told}", flush=True)
        if not is_well:
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
