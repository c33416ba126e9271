"""`make chaos`: commands and the window meet a full disk, and a clock that jumps.

The home, then the folder, is a file system of its own (tmpfs) that is filled up. What was there
must stay as it was, each command ends with a sentence, and all of it works once there is room.
The clock jumps by ten years to and fro (libfaketime) while commands work. Each part is skipped
where its means are missing.

    python -m tests.chaos.disk_and_clock [disk | clock]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.chaos.kill_series import (
    BrokenPromiseError,
    Room,
    databases_are_whole,
    ended_at_last,
    expect,
    kept_words,
    room_of,
    slowly,
    swap_texts,
    type_until_kept,
    typed,
)
from tests.support.chat_server import chat_server

SIZE = "3m"
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")
_HEAD = "---\nname: x\nmodel:\n  id: m\ninputs:\n  q: {kind: string, default: hi}\n---\nuser:\n"
_EXPERIMENT = "prompts: [c.prompty]\nproviders: [slow]\ntests:\n" + "".join(
    f"- vars: {{q: row {number}}}\n" for number in range(6)
)
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "c.prompty", "--connection", "slow"),
    "experiment": ("experiment", "run", "e.experiment.yaml", "--resume"),
    "export": ("export", "c.prompty", "--target", "python", "-o", "o.py", "--force"),
    "fmt": ("fmt", "long.prompty"),
    "convert": ("convert", "long.prompty", "--to", "section", "--write"),
    "connections": ("connections", "add", "n", "--from", "ollama", "-m", "x"),
}
_IN_FOLDER = ("export", "fmt", "convert")
"""Commands that write beside the prompt; the others write into the home."""


def prepare(room: Room) -> None:
    """Write the files that the commands work with."""
    (room.work / "c.prompty").write_text(_HEAD + "{{ q }}\n", encoding="utf-8")
    (room.work / "e.experiment.yaml").write_text(_EXPERIMENT, encoding="utf-8")
    text = _HEAD + "{{q}}\n" + "A line of the text.\n" * 20_000 + "\n\n\n"
    (room.work / "long.prompty").write_text(text, encoding="utf-8")
    (room.work / "o.py").write_text("# The old one.\n", encoding="utf-8")


@contextmanager
def full(place: Path) -> Iterator[None]:
    """Fill a file system up to the last byte."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file:
        size = 1 << 16
        while size:
            try:
                file.write(b"\0" * size)
            except OSError:
                size //= 2
    yield
    filler.unlink()


def contents(room: Room) -> dict[str, bytes]:
    """The files that must stay as they are when nothing can be written."""
    places = [*room.work.glob("*.*"), *(room.home / "config").glob("*.toml")]
    return {path.name: path.read_bytes() for path in places}


def meets_full_disk(room: Room, name: str, place: Path) -> str:
    """One command while a place is full; returns how it ended."""
    prepare(room)
    before = contents(room)
    is_hit = (name in _IN_FOLDER) == (place == room.work)
    with full(place):
        done = room.run(*COMMANDS[name])
        expect("Traceback" not in done.stderr, f"a traceback: {done.stderr[-300:]}")
        if is_hit:
            said = done.stderr.lower()
            expect("space" in said or "full" in said, f"it does not say why: {done.stderr!r}")
        if is_hit and done.returncode:
            expect(contents(room) == before, "a file is not what it was")
    databases_are_whole(room)
    if not is_hit:
        expect(done.returncode == 0, f"it fails with room enough: {done.stderr[-300:]}")
        return "exit 0"
    after = room.run(*COMMANDS[name])
    expect(after.returncode == 0, f"it fails once there is room: {after.stderr[-300:]}")
    return f"exit {done.returncode}, then 0"


def window_meets_full_disk(room: Room, place: Path) -> str:
    """A window whose text cannot be kept goes on, and keeps it once there is room."""
    path = room.work / "typed.prompty"
    path.write_text(_HEAD, encoding="utf-8")
    typist = [sys.executable, "-m", "tests.chaos.typist", str(path)]
    with ended_at_last(room.start(typist, subprocess.PIPE)) as process:
        type_until_kept(room, process, path, 1, at_write=False)
        with full(place):
            told = typed(process, 3.0)
            goes_on = told[-1][0] - told[0][0] > 1.0  # what was typed before is read at once
            expect(process.poll() is None and goes_on, "the window ended or stands still")
            swap_texts(room)
        kept = type_until_kept(room, process, path, told[-1][1], at_write=False)
    expect(path.read_text(encoding="utf-8") == _HEAD, "the file was changed by nobody")
    databases_are_whole(room)
    return f"{kept} words kept, {told[-1][1]} due"


def settings_meet_full_disk(room: Room, place: Path) -> str:
    """Settings that cannot be written leave the old ones."""
    program = (
        "import sys; from pathlib import Path; from studio.core.settings import *\n"
        "recent = tuple(f'/somewhere/{each}' for each in range(int(sys.argv[2])))\n"
        "save_settings(Path(sys.argv[1]), Settings(recent=recent))\n"
    )
    path = room.home / "config" / "settings.toml"
    command = [sys.executable, "-c", program, str(path)]
    with room.start([*command, "10"]) as process:
        expect(process.wait() == 0, "settings are not written")
    old = path.read_bytes()
    with full(place), room.start([*command, "2000"]) as process:
        code = process.wait()
        expect(path.read_bytes() == old or code == 0, "the settings are half")
    return f"exit {code}"


def disk() -> int:
    """Every command and the window, with a full home and with a full folder."""
    if os.environ.get("CHAOS_MOUNTS") is None:
        own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
        if subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
            print("disk: nothing can be mounted; skipped")
            return 0
        again = [*own, sys.executable, "-m", "tests.chaos.disk_and_clock", "disk"]
        return subprocess.call(again, env={**os.environ, "CHAOS_MOUNTS": "1"})
    parts: dict[str, Callable[[Room, Path], str]] = {
        name: lambda room, place, name=name: meets_full_disk(room, name, place)  # type: ignore[misc]
        for name in COMMANDS
    }
    parts |= {"window": window_meets_full_disk, "settings": settings_meet_full_disk}
    broken = 0
    for which in ("home", "work"):
        for name, part in parts.items():
            with chat_server() as server, room_of(server) as room:
                server.always(slowly)
                place = room.folder / which
                kept = {
                    each.relative_to(place): each.read_bytes() for each in place.rglob("*.toml")
                }
                subprocess.run(
                    ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)], check=True
                )
                for path, content in kept.items():
                    (place / path).parent.mkdir(exist_ok=True)
                    (place / path).write_bytes(content)
                broken += tell(f"full {which}: {name}", lambda: part(room, place))  # noqa: B023
                subprocess.run(["umount", "-l", str(place)], check=True)
    return broken


def tell(what: str, part: Callable[[], str]) -> int:
    """Print what came of a part; 1 where a promise is broken."""
    try:
        print(f"{what}: {part()}", flush=True)
    except BrokenPromiseError as error:
        print(f"{what}: broken: {error}  FAILED", flush=True)
        return 1
    return 0


_PROCESSOR_CLOCK = """
import time
known = time.clock_gettime
time.clock_gettime = lambda clock: known(clock) if clock >= 0 else time.monotonic()
time.thread_time = time.monotonic
"""
"""libfaketime also moves the processor clock of a thread, which no change of the time does."""


class JumpingRoom(Room):
    """A room whose processes have a clock that jumps."""

    def environment(self) -> dict[str, str]:
        inherited = super().environment()
        site = self.folder / "site"
        site.mkdir(exist_ok=True)
        (site / "sitecustomize.py").write_text(_PROCESSOR_CLOCK, encoding="utf-8")
        return {
            **inherited,
            "PYTHONPATH": os.pathsep.join((str(site), inherited["PYTHONPATH"])),
            "LD_PRELOAD": str(FAKETIME),
            "FAKETIME_TIMESTAMP_FILE": str(self.folder / "clock"),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }


@contextmanager
def jumping(room: Room) -> Iterator[None]:
    """Let the clock jump by ten years to and fro, four times a second."""
    ended, clock = threading.Event(), room.folder / "clock"

    def jump() -> None:
        number = 0
        while not ended.wait(0.25):
            number += 1
            new = clock.with_name("clock.new")
            new.write_text(("+3650d", "-3650d", "+0d")[number % 3] + "\n", encoding="ascii")
            new.replace(clock)

    clock.write_text("+0d\n", encoding="ascii")
    thread = threading.Thread(target=jump)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def command_meets_jumps(room: Room, name: str) -> str:
    """One command three times while the clock jumps: it ends well, and its result is kept."""
    prepare(room)
    with jumping(room):
        codes = []
        for _ in range(3):
            done = room.run(*COMMANDS[name])
            expect("Traceback" not in done.stderr, f"a traceback: {done.stderr[-300:]}")
            codes.append(done.returncode)
            if name == "connections":
                break
    expect(not any(codes), f"exit codes {codes}: {done.stderr[-300:]}")
    databases_are_whole(room)
    if name == "run":
        listed = json.loads(room.run("runs", "list", "--json").stdout)
        expect([each["status"] for each in listed] == ["done"] * 3, f"listed: {listed}")
    return f"exit {codes}"


def window_meets_jumps(room: Room) -> str:
    """A window keeps what is typed while the clock jumps."""
    path = room.work / "typed.prompty"
    path.write_text(_HEAD, encoding="utf-8")
    typist = [sys.executable, "-m", "tests.chaos.typist", str(path)]
    kept = 0
    with jumping(room), ended_at_last(room.start(typist)) as process:
        for _ in range(8):
            kept = type_until_kept(room, process, path, kept + 10, at_write=False)
    now = kept_words(room, path)
    expect(now >= kept, f"{kept} words were kept, {now} are left")
    databases_are_whole(room)
    return f"{now} words kept"


def settings_meet_jumps(room: Room) -> str:
    """Settings that are written while the clock jumps are read again as they were written."""
    program = (
        "import sys; from pathlib import Path; from studio.core.settings import *\n"
        "path = Path(sys.argv[1])\n"
        "for number in range(400):\n"
        "    save_settings(path, Settings(recent=(f'/somewhere/{number}',)))\n"
        "    assert load_settings(path)[0].recent == (f'/somewhere/{number}',)\n"
    )
    path = room.home / "config" / "settings.toml"
    with jumping(room), room.start([sys.executable, "-c", program, str(path)]) as process:
        code = process.wait()
    expect(code == 0, (room.folder / "errors.txt").read_text(encoding="utf-8")[-500:])
    return "400 written, 400 read"


def clock() -> int:
    """Every command and the window, while the clock jumps."""
    if not FAKETIME.exists():
        print("clock: libfaketime is missing; skipped")
        return 0
    broken = 0
    for name in (*COMMANDS, "settings", "window"):
        with chat_server() as server, room_of(server) as plain:
            server.always(slowly)
            room = JumpingRoom(plain.folder, plain.url)
            if name == "settings":
                broken += tell("jumping clock: settings", lambda: settings_meet_jumps(room))  # noqa: B023
            elif name == "window":
                broken += tell("jumping clock: window", lambda: window_meets_jumps(room))  # noqa: B023
            else:
                broken += tell(
                    f"jumping clock: {name}",
                    lambda: command_meets_jumps(room, name),  # noqa: B023
                )
    return broken


def main() -> int:
    """Both parts; 1 where a promise is broken."""
    wanted = sys.argv[1:] or ["disk", "clock"]
    return 1 if sum((disk() if "disk" in wanted else 0, clock() if "clock" in wanted else 0)) else 0


if __name__ == "__main__":
    sys.exit(main())
