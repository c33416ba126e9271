"""`make interop`: traces of a run, read by the programs that they are for; and theirs by us.

OTLP by `opentelemetry-proto`, in both namings; `.tracy` by the source of the viewer in Prompty's
VS Code extension. That viewer is in no registry: `PROMPTY_SOURCE` names a checkout of
github.com/microsoft/prompty, and without it the viewer is left out.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from studio.core.agent.values.state import steps_of
from studio.core.runs.exchange import export_run, form_of
from studio.core.runs.store import RunStore
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, Functions, call, calling, run_of
from tests.interop.environments import FOLDER, ROOT, build, node_of
from tests.interop.recorded import ANSWER, Shop
from tests.support.chat_server import chat_server

HERE = Path(__file__).parent
VIEWER = "vscode/prompty/packages/trace"


def main() -> int:
    """Export a run and have it read; returns 1 where a program reads something else."""
    files = asyncio.run(_written())
    return 0 if all([_spans(files), _viewer(files), _emitters()]) else 1


def _emitters() -> bool:
    """Have an agent traced by each maker, and compare its runs with the log of its server."""
    python = build("emitters")
    if python is None:
        print("skipped the makers of traces: their packages are not to be had here")
        return True
    return all(_emitted(python, maker) for maker in _MAKERS)


_MAKERS = ("openinference", "openllmetry", "langfuse", "langsmith")


def _emitted(python: Path, maker: str) -> bool:
    with tempfile.TemporaryDirectory() as folder, chat_server(Shop) as server:
        home, out = Path(folder, "home"), Path(folder, "runs.jsonl")
        studio = [sys.executable, "-m", "studio"]
        variables = {**os.environ, "PROMPT_STUDIO_HOME": str(home), "PYTHONPATH": str(ROOT)}
        listening = subprocess.Popen(
            [*studio, "trace", "listen", "--port", "0"],
            env=variables,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert listening.stderr is not None
        traces = listening.stderr.readline().split()[-1].removesuffix("/v1/traces")
        script = [str(python), str(HERE / "trace_emitter.py"), maker]
        model = server.url.removesuffix("/v1")
        done = subprocess.run(
            [*script, model, traces, str(out)], capture_output=True, text=True, check=False
        )
        listening.send_signal(signal.SIGINT)
        listening.wait()
        listening.stderr.close()
        if out.exists():
            subprocess.run([*studio, "runs", "import", str(out)], env=variables, check=True)
        asked = [
            [(each["role"], each.get("content") or "") for each in request.body["messages"]]
            for request in server.requests
            if request.body is not None
        ]
        with closing(RunStore(home / "data" / "runs.sqlite")) as store:
            states = [store.open(run.id).state for run in store.runs()]
        found = [
            [(each.role, each.text) for each in step.messages]
            for state in states
            if state is not None
            for step in steps_of(state)
        ]
        ends = [(state.status, state.answer) for state in states if state is not None]
    is_well = found == asked and ends == [("done", ANSWER)]
    _say(
        is_well, maker, f"{len(found)} calls" if is_well else f"{found} {ends} {done.stderr[-500:]}"
    )
    return is_well


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
