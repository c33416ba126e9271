"""`make interop`: traces of a run, read by the programs that they are for.

OTLP by `opentelemetry-proto`, in both namings; `.tracy` by the source of the viewer in Prompty's
VS Code extension. That viewer is in no registry: `PROMPTY_SOURCE` names a checkout of
github.com/microsoft/prompty, and without it the viewer is left out.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

from studio.core.runs.exchange import export_run, form_of
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of
from tests.interop.environments import FOLDER, build, node_of

HERE = Path(__file__).parent
VIEWER = "vscode/prompty/packages/trace"


def main() -> int:
    """Export a run and have it read; returns 1 where a program reads something else."""
    files = asyncio.run(_written())
    return 0 if all([_spans(files), _viewer(files)]) else 1


async def _written() -> dict[str, Path]:
    usage = Usage(1200, 34, 200, cache_write_tokens=7)

    def search(query: str) -> str:
        return f"found {query}"

    def fails(query: str) -> str:
        raise ValueError(f"no {query}")

    run, _ = run_of(
        NATIVE,
        [
            calling(call(arguments='{"query": "Ünïcode 🙂"}'), call("fails", call_id="c2")),
            Reply("It is 5888.\n", usage=usage),
        ],
        tools=Functions(search, fails),
    )
    await run.go()
    folder = FOLDER / "traces"
    folder.mkdir(parents=True, exist_ok=True)
    files = {}
    for name in ("otlp", "otlp-genai-0.1", "tracy"):
        form = form_of(name)
        files[name] = folder / f"{name}{form.suffix}"
        files[name].write_text(export_run(run.events, form, "1.0"), encoding="utf-8")
    return files


def _spans(files: dict[str, Path]) -> bool:
    what = "opentelemetry-proto"
    python = build("otlp")
    if python is None:
        print(f"skipped {what}: its packages are not to be had here")
        return True
    given = [str(files[name]) for name in ("otlp", "otlp-genai-0.1")]
    done = subprocess.run(
        [str(python), str(HERE / "otlp_judge.py"), *given],
        capture_output=True,
        text=True,
        check=False,
    )
    is_well = done.returncode == 0
    _say(is_well, what, done.stdout if is_well else done.stderr[-800:])
    return is_well


def _viewer(files: dict[str, Path]) -> bool:
    what = "Prompty's trace viewer"
    viewer = Path(os.environ.get("PROMPTY_SOURCE", "")) / VIEWER
    python = build("node") if viewer.is_dir() else None
    if python is None:
        print(f"skipped {what}: PROMPTY_SOURCE names no checkout of it, or Node is not to be had")
        return True
    done = subprocess.run(
        [
            str(node_of(python)),
            "--no-warnings",
            "--experimental-strip-types",
            str(HERE / "tracy_viewer.mjs"),
            str(viewer),
            str(files["tracy"]),
        ],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        _say(False, what, done.stderr[-800:])
        return False
    frames = json.loads(done.stdout)
    root = frames[0]
    is_well = (
        [frame["depth"] for frame in frames] == [0, 1, 2, 2, 2, 1, 2]
        and [frame["name"] for frame in frames][3:5] == ["search", "fails"]
        and root["tokens"] == 1249
        and root["usage"] == ["Input", "Output", "Total"]
        and all(frame["opens"] and not frame["unknown"] for frame in frames)
    )
    _say(
        is_well, what, f"{len(frames)} frames, {root['tokens']} tokens" if is_well else f"{frames}"
    )
    return is_well


def _say(is_well: bool, what: str, words: str) -> None:
    print(f"{'ok    ' if is_well else 'FAILED'} {what}: {' '.join(words.split())}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
