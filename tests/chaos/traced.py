"""`make chaos`: the window shows hostile prompts and replies under `strace`.

Twenty prompts are opened and twenty replies are shown. None of the files that they name may be
opened, and nothing but the model's server may be connected to. Skipped where `strace` is missing.

    python -m tests.chaos.traced
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.support.chat_server import chat_server, streamed

WAIT_SECONDS = 60.0
_ROOT = Path(__file__).resolve().parents[2]
_HEAD = "---\nname: x\n---\n"
NAMES = (
    "{bait}",
    "file://{bait}",
    "file://localhost{bait}",
    "file:///{bait}",
    "{fifo}",
    "../bait/bait.png",
    "..%2Fbait%2Fbait.png",
    "~/bait.png",
    "\\\\\\\\127.0.0.1\\\\share\\\\bait.png",
    "//127.0.0.1/share/bait.png",
    "file://127.0.0.1/share/bait.png",
    "http://127.0.0.1:9/bait.png",
    "https://127.0.0.1:9/bait.png",
    "ftp://127.0.0.1:9/bait.png",
    "qrc:{bait}",
    "data:text/html,<img src={bait}>",
    ":{bait}",
    "/dev/zero",
    "bait-beside.png",
    "javascript:fetch('{bait}')",
)
"""What a prompt and a reply name, each as a picture, a link, HTML and a style sheet."""

_TEXT = """![a]({name}) [b]({name})

<img src="{name}"> <link rel="stylesheet" href="{name}"> <a href="{name}">c</a>
<div style="background: url({name})">d</div>

[e]: {name}
![f][e]
"""
_PLACES = (
    "user:\n{text}\n",
    "user:\n![image]({name})\n",
    'user:\n[{{"type": "image_url", "image_url": {{"url": "{name}"}}}}]\n',
    "system:\n${{file:{name}}}\n",
)


def show(folder: Path) -> None:
    """Open every prompt of a folder, and run one twenty times; says what it does, line by line."""
    sys.path.insert(0, str(_ROOT))
    from PySide6.QtWidgets import QApplication

    from studio.core.paths import user_paths
    from studio.ui.app.workbench import Workbench
    from studio.ui.base.services import build_services

    application = QApplication(sys.argv[:1])
    workbench = Workbench(build_services(user_paths()))
    workbench.window.resize(1280, 800)
    workbench.window.show()

    def until(holds: Callable[[], bool]) -> None:
        end = time.monotonic() + WAIT_SECONDS
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError
            application.processEvents()
            time.sleep(0.005)

    def is_shown() -> bool:
        return workbench.is_settled and workbench.preview_pane.messages.is_settled

    def has_ended() -> bool:
        state = workbench.run.state
        return state is not None and not workbench.run.is_live and workbench.is_settled

    for path in sorted(folder.glob("*.prompty")):
        page = workbench.window.tabs.open(path)
        until(is_shown)
        print("opened", path.name, flush=True)
        workbench.window.tabs.close_page(page)
    workbench.window.tabs.open(folder / "asks.md.prompty")
    until(is_shown)
    for _ in NAMES:
        workbench.run_coordinator.start(at_entry=False)
        until(has_ended)
        state = workbench.run.state
        print("answered", state is not None and state.status, flush=True)
    os._exit(0)


def main() -> int:
    """Show all under `strace`; 1 where a file was opened or an address was connected to."""
    if shutil.which("strace") is None:
        print("traced: strace is missing; skipped")
        return 0
    with tempfile.TemporaryDirectory(prefix="traced-") as made, chat_server() as server:
        top = Path(made)
        folder, bait = top / "work", top / "bait"
        for each in (folder, bait, top / "home" / "config"):
            each.mkdir(parents=True)
        picture = _ROOT / "docs" / "images"
        source = next(picture.glob("*.png"))
        for place in (bait / "bait.png", folder / "bait-beside.png"):
            shutil.copy(source, place)
        os.mkfifo(bait / "bait-pipe.png")
        (top / "home" / "config" / "connections.toml").write_text(
            'default = "far"\n\n[[connection]]\nname = "far"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{server.url}"\n',
            encoding="utf-8",
        )
        names = [name.format(bait=bait / "bait.png", fifo=bait / "bait-pipe.png") for name in NAMES]
        for number, name in enumerate(names):
            place = _PLACES[number % len(_PLACES)]
            body = place.format(text=_TEXT.format(name=name), name=name)
            (folder / f"p{number:02}.prompty").write_text(_HEAD + body, encoding="utf-8")
        (folder / "asks.md.prompty").write_text(_HEAD + "user:\nHi\n", encoding="utf-8")
        server.script(*(streamed(_TEXT.format(name=name)) for name in names))
        bad = judge(*traced(top, str(folder)), server.port)
        _, calls = traced(top, "control", str(bait / "bait.png"))
        seen = len(opens_of_named(calls))
        print(f"traced: {seen} opens by a view that loads pictures{'' if seen else '  FAILED'}")
        return bad or not seen


def load_picture(path: str) -> None:
    """Show a picture in a view of Qt's own, which opens the file."""
    from PySide6.QtWidgets import QApplication, QTextBrowser

    application = QApplication(sys.argv[:1])
    view = QTextBrowser()
    view.setHtml(f'<img src="{path}">')
    view.show()
    application.processEvents()
    os._exit(0)


def traced(top: Path, *arguments: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Run this program under `strace`; return how it ended, and its calls."""
    trace = top / "trace.txt"
    done = subprocess.run(
        [
            *("strace", "-f", "-s", "400", "-o", str(trace)),
            *("-e", "trace=open,openat,connect,execve"),
            *(sys.executable, "-m", "tests.chaos.traced", *arguments),
        ],
        cwd=_ROOT,
        env={
            **os.environ,
            "HOME": str(top / "bait"),
            "PROMPT_STUDIO_HOME": str(top / "home"),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "QT_QPA_PLATFORM": "offscreen",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return done, trace.read_text(encoding="utf-8", errors="replace")


def opens_of_named(trace: str) -> list[str]:
    """Return the calls that open what a prompt or a reply names."""
    named = re.compile(r"\bopen.*(?:bait\.png|bait-|/dev/zero)")
    return [line for line in trace.splitlines() if named.search(line)]


def judge(done: subprocess.CompletedProcess[str], trace: str, port: int) -> int:
    """Print what was opened and connected to that should not be."""
    opens = opens_of_named(trace)
    connects = [
        line
        for line in trace.splitlines()
        if re.search(r"connect\(.*AF_INET6?", line) and f"htons({port})" not in line
    ]
    shown = done.stdout.count("opened"), done.stdout.count("answered done")
    good = not opens and not connects and shown == (len(NAMES) + 1, len(NAMES))
    print(
        f"traced: {shown[0] - 1} prompts and {shown[1]} replies, {len(opens)} opens of what they "
        f"name, {len(connects)} connects{'' if good else '  FAILED'}"
    )
    if not good:
        print("\n".join([*opens[:10], *connects[:10], done.stdout[-500:], done.stderr[-2000:]]))
    return 0 if good else 1


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["control", picture]:
            load_picture(picture)
        case [prompts]:
            show(Path(prompts))
    sys.exit(main())
