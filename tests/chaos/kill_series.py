"""`make chaos`: commands and windows are killed (`kill -9`) while they work, 50 times each.

Only a kill that ends a living process counts. Half of them come at a moment drawn by chance, half
as soon as a file is being written. After each, the files and the home are judged: what was
finished is there, whole, and nothing is half.

    python -m tests.chaos.kill_series [KIND …]
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.typist import WORD
from tests.support.chat_server import ChatServer, Exchange, chat_server, chunk

KILLS = 50
OFFER_SECONDS = 600.0
PIECES = 30
_ROOT = Path(__file__).resolve().parents[2]
_HEAD = """---
name: x
model:
  id: m
inputs:
  q: {kind: string, default: hi}
---
user:
"""
_LONG = _HEAD + "{{q}}\n" + "A line of the text.\n" * 40_000 + "\n\n\n"


class BrokenPromiseError(Exception):
    """Something finished is lost, or something is half."""


@dataclass
class Room:
    """A folder with prompts, and a home beside it."""

    folder: Path
    url: str
    chance: random.Random = field(default_factory=lambda: random.Random(40))
    finished: list[str] = field(default_factory=list)
    """What ended well, by its name: it must be there after every kill."""

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def work(self) -> Path:
        return self.folder / "work"

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "studio", *arguments]

    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PROMPT_STUDIO_HOME": str(self.home),
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
            "PYTHONPATH": str(_ROOT),
            "QT_QPA_PLATFORM": "offscreen",
        }

    def start(self, command: list[str], output: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
        with (self.folder / "errors.txt").open("wb") as errors:
            return subprocess.Popen(
                command,
                cwd=self.work,
                env=self.environment(),
                stdout=output,
                stderr=errors,
                text=True,
            )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments),
            cwd=self.work,
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def temporary(self) -> list[Path]:
        """Files that are being written, or were when a process died."""
        places = (self.work, self.home / "config", self.home / "data")
        return [path for place in places if place.is_dir() for path in place.rglob(".*.tmp")]


def expect(holds: bool, what: str) -> None:
    if not holds:
        raise BrokenPromiseError(what)


def databases_are_whole(room: Room) -> None:
    data = room.home / "data"
    for path in (*data.glob("*.sqlite"), *data.glob("experiments/*.db")):
        with closing(sqlite3.connect(path)) as database:
            (said,) = database.execute("pragma integrity_check").fetchone()
        expect(said == "ok", f"{path.name}: {said}")


def kill_one(room: Room, process: subprocess.Popen[str], usual: float, *, at_write: bool) -> bool:
    """Kill a process somewhere in its usual time, or where it writes; whether it was alive."""
    known = set(room.temporary())
    end = time.monotonic() + (usual if at_write else room.chance.uniform(0.0, usual))
    while time.monotonic() < end and process.poll() is None:
        if at_write and set(room.temporary()) - known:
            break
        if not at_write:
            time.sleep(0.002)
    process.kill()
    return process.wait() == -signal.SIGKILL


def kill_commands(
    room: Room,
    prepare: Callable[[int], list[str]],
    judge: Callable[[int, bool], None],
) -> tuple[int, int]:
    """Kill a command 50 times while it lives; returns how often, and how often it was too late.

    Args:
        room: where it works.
        prepare: makes the files of a try, and gives the command's arguments.
        judge: looks at what is there after a try, and whether the command ended by itself.
    """
    began = time.monotonic()
    expect(room.run(*prepare(0)).returncode == 0, "the command fails without a kill")
    usual = time.monotonic() - began
    judge(0, True)
    killed = late = 0
    while killed < KILLS and late < 20 * KILLS:
        number = killed + late + 1
        command = room.command(*prepare(number))
        was_alive = kill_one(room, room.start(command), usual, at_write=number % 2 == 0)
        killed, late = killed + was_alive, late + (not was_alive)
        judge(number, not was_alive)
    return killed, late


def texts(room: Room, arguments: list[str], before: str, name: str) -> tuple[int, int]:
    """Kill a command that writes one file: it is the old one or the new one."""
    path = room.work / name
    after = ""

    def prepare(_: int) -> list[str]:
        path.write_text(before, encoding="utf-8")
        return arguments

    def judge(number: int, ended: bool) -> None:
        nonlocal after
        text = path.read_text(encoding="utf-8")
        if number == 0:
            after = text
            expect(after != before, "the command changes nothing")
        expect(text in ((after,) if ended else (before, after)), f"{name} is half")

    return kill_commands(room, prepare, judge)


def fmt(room: Room) -> tuple[int, int]:
    return texts(room, ["fmt", "long.prompty"], _LONG, "long.prompty")


def convert(room: Room) -> tuple[int, int]:
    arguments = ["convert", "long.prompty", "--to", "section", "--write"]
    return texts(room, arguments, _LONG, "long.prompty")


def export(room: Room) -> tuple[int, int]:
    (room.work / "c.prompty").write_text(_HEAD + "{{ q }}\n" * 5000, encoding="utf-8")
    arguments = ["export", "c.prompty", "--target", "python", "-o", "o.py", "--force"]
    return texts(room, arguments, "# The old one.\n", "o.py")


def connections(room: Room) -> tuple[int, int]:
    """Connections that were added stay, and the file can be read."""
    path = room.home / "config" / "connections.toml"

    def prepare(number: int) -> list[str]:
        return ["connections", "add", f"n{number}", "--from", "ollama", "-m", "x"]

    def judge(number: int, ended: bool) -> None:
        read = tomllib.loads(path.read_text(encoding="utf-8")).get("connection", [])
        names = {each["name"] for each in read}
        if ended:
            room.finished.append(f"n{number}")
        lost = set(room.finished) - names
        expect(not lost, f"lost: {lost}")
        room.finished[:] = sorted(names)

    return kill_commands(room, prepare, judge)


def settings(room: Room) -> tuple[int, int]:
    """Settings that were written are read again, each time whole."""
    program = (
        "import sys; from pathlib import Path; from studio.core.settings import *\n"
        "path = Path(sys.argv[1])\n"
        "for number in range(400):\n"
        "    shown = tuple(f'/somewhere/{number}/{each}' for each in range(200))\n"
        "    save_settings(path, Settings(recent=shown)); print(number, flush=True)\n"
    )
    path = room.home / "config" / "settings.toml"
    killed = late = 0
    while killed < KILLS and late < KILLS:
        with room.start([sys.executable, "-c", program, str(path)], subprocess.PIPE) as process:
            assert process.stdout is not None
            told = [process.stdout.readline()]
            for _ in range(room.chance.randint(0, 40)):
                told.append(process.stdout.readline())
            time.sleep(room.chance.uniform(0.0, 0.01))
            process.kill()
            told += process.stdout.readlines()
        was_alive = process.wait() == -signal.SIGKILL
        killed, late = killed + was_alive, late + (not was_alive)
        recent = tomllib.loads(path.read_text(encoding="utf-8"))["recent"]
        written = {each.split("/")[2] for each in recent}
        last = int(told[-1])
        expect(len(recent) == 200 and len(written) == 1, "the settings are half")
        expect(int(written.pop()) in (last, last + 1), "settings that were written are lost")
    return killed, late


def run(room: Room) -> tuple[int, int]:
    """Runs that ended stay whole, and one that was killed is listed as interrupted."""
    (room.work / "c.prompty").write_text(_HEAD + "{{ q }}\n", encoding="utf-8")

    def prepare(number: int) -> list[str]:
        return ["run", "c.prompty", "--connection", "slow", "-i", f"q=question {number}"]

    def judge(number: int, ended: bool) -> None:
        databases_are_whole(room)
        if ended:
            room.finished.append(f"question {number}")
        if number % 10 == 0:
            listed = json.loads(room.run("runs", "list", "--json").stdout)
            done = sum(each["status"] == "done" for each in listed)
            live = [each["id"] for each in listed if each["status"] in ("running", "live")]
            expect(done >= len(room.finished), f"{len(room.finished)} runs ended, {done} are kept")
            expect(not live, f"killed runs are listed as running: {live}")

    return kill_commands(room, prepare, judge)


def words(text: str) -> int:
    """Return how many words of the typist a text has, in order and without a gap."""
    count = place = 0
    while (place := text.find(WORD.format(number=count + 1), place)) >= 0:
        count += 1
    return count


def typed(process: subprocess.Popen[str], until: float) -> list[tuple[float, int]]:
    """Read what a typist says for some seconds: when so many words were there."""
    assert process.stdout is not None
    found: list[tuple[float, int]] = []
    end = None
    while end is None or time.monotonic() < end:
        line = process.stdout.readline()
        if not line:
            break
        if line.startswith("typed"):
            now = time.monotonic()
            found.append((now, int(line.split()[1])))
            end = end or now + until
    return found


def swap_files(room: Room) -> list[Path]:
    """The files of unsaved texts; a session that ends meanwhile takes its folder along."""
    while True:
        with suppress(FileNotFoundError):
            return list((room.home / "data" / "swap").rglob("*.json"))


def swap_texts(room: Room, path: Path | None = None) -> list[str]:
    """The unsaved texts of all sessions, or of one file; every one of them can be read."""
    found = []
    for each in swap_files(room):
        try:
            swap = json.loads(each.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue  # it is just being replaced
        except ValueError:
            raise BrokenPromiseError(f"{each.name} is half") from None
        if path is None or swap["path"] == str(path):
            found.append(str(swap["text"]))
    return found


def kept_words(room: Room, path: Path) -> int:
    """Return how many typed words of a file the swap files hold."""
    return max(map(words, swap_texts(room, path)), default=0)


def type_until_kept(
    room: Room, process: subprocess.Popen[str], path: Path, wanted: int, *, at_write: bool
) -> int:
    """Wait until so many words of a typist are kept; return how many are.

    Args:
        room: where the typist works.
        process: the typist.
        path: the file that is typed into.
        wanted: the least number of words.
        at_write: return only when the next text is being written.
    """
    end = time.monotonic() + OFFER_SECONDS
    while (kept := kept_words(room, path)) < wanted:
        errors = (room.folder / "errors.txt").read_text(encoding="utf-8", errors="replace")
        expect(process.poll() is None, f"a window ended with {process.poll()}: {errors[-2000:]}")
        expect(time.monotonic() < end, f"of {wanted} words only {kept} are kept")
        time.sleep(0.02)
    known = set(room.temporary())
    while at_write and not set(room.temporary()) - known and time.monotonic() < end:
        pass
    return kept


@contextmanager
def ended_at_last(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    """Kill a process at the end of the block, also where a promise is broken."""
    with process:
        try:
            yield process
        finally:
            process.kill()


def kill_typist(room: Room, path: Path, number: int, *options: str) -> bool:
    """Kill a window once some words are kept: they stay; whether it was alive."""
    typist = [sys.executable, "-m", "tests.chaos.typist", str(path), *options]
    with ended_at_last(room.start(typist)) as process:
        wanted = room.chance.randint(1, 40)
        kept = type_until_kept(room, process, path, wanted, at_write=number % 2 == 0)
        if number % 2:
            time.sleep(room.chance.uniform(0.0, 1.5))
    now = kept_words(room, path)
    expect(now >= kept, f"{kept} words were kept, {now} are left")
    expect(path.read_text(encoding="utf-8") == _HEAD, "the file was changed by nobody")
    databases_are_whole(room)
    return process.returncode == -signal.SIGKILL


def window(room: Room) -> tuple[int, int]:
    """A text that was kept of a window that is killed stays, and is offered at the next start."""
    path = room.work / "typed.prompty"
    path.write_text(_HEAD, encoding="utf-8")
    killed = offered = 0
    for number in range(KILLS):
        killed += kill_typist(room, path, number)
        if number % 10 == 9:
            offered += _is_offered(room, path)
        for swap in swap_files(room):
            swap.unlink()
    expect(offered == KILLS // 10, f"unsaved texts were offered {offered} times")
    return killed, KILLS - killed


def _is_offered(room: Room, path: Path) -> bool:
    """Whether a start offers what a killed window left."""
    end = time.monotonic() + OFFER_SECONDS
    typist = [sys.executable, "-m", "tests.chaos.typist", str(path)]
    with room.start(typist, subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "exited before this was saved" in line:
                break
            if time.monotonic() > end:
                process.kill()
                return False
        process.kill()
    return process.wait() == -signal.SIGKILL


def two_windows(room: Room) -> tuple[int, int]:
    """Of two windows on one home one is killed; the other goes on, and both texts are kept."""
    paths = [room.work / f"typed{number}.prompty" for number in (1, 2)]
    for path in paths:
        path.write_text(_HEAD, encoding="utf-8")
    lives = [sys.executable, "-m", "tests.chaos.typist", str(paths[0]), "alone"]
    killed = kept = 0
    with ended_at_last(room.start(lives)) as living:
        for number in range(KILLS):
            kept = type_until_kept(room, living, paths[0], kept + 1, at_write=False)
            killed += kill_typist(room, paths[1], number, "alone")
            for swap in swap_files(room):
                with suppress(FileNotFoundError):  # it is just being replaced
                    if str(paths[1]) in swap.read_text(encoding="utf-8"):
                        swap.unlink()
        type_until_kept(room, living, paths[0], kept + 1, at_write=False)
    return killed, KILLS - killed


KINDS: dict[str, Callable[[Room], tuple[int, int]]] = {
    "run": run,
    "export": export,
    "fmt": fmt,
    "convert": convert,
    "connections": connections,
    "settings": settings,
    "window": window,
    "two windows": two_windows,
}


async def slowly(exchange: Exchange) -> None:
    """A reply of some pieces, over half a second."""
    await exchange.head()
    for number in range(PIECES):
        await exchange.event(chunk({"content": f"piece {number} "}))
        await asyncio.sleep(0.5 / PIECES)
    await exchange.event(chunk({}, "stop"))
    await exchange.event("[DONE]")


@contextmanager
def room_of(server: ChatServer) -> Iterator[Room]:
    """A folder and a home with a slow server."""
    with tempfile.TemporaryDirectory(prefix="kills-") as made:
        room = Room(Path(made), server.url)
        room.work.mkdir()
        (room.home / "config").mkdir(parents=True)
        (room.home / "config" / "connections.toml").write_text(
            'default = "slow"\n\n[[connection]]\nname = "slow"\nkind = "compatible"\n'
            f'base_url = "{room.url}"\nmodel = "m"\n',
            encoding="utf-8",
        )
        yield room


def main() -> int:
    """Kill each kind, and print what was found; 1 where a promise is broken."""
    wanted = sys.argv[1:] or list(KINDS)
    broken = 0
    with chat_server() as server:
        server.always(slowly)
        for kind in wanted:
            began = time.monotonic()
            with room_of(server) as room:
                try:
                    killed, late = KINDS[kind](room)
                    said = f"{killed} kills of a living process ({late} had ended before)"
                    good = killed >= KILLS
                except BrokenPromiseError as error:
                    said, good = f"broken: {error}", False
                left = len(room.temporary())
            broken += not good
            print(
                f"{kind}: {said}, {left} temporary files left, {time.monotonic() - began:.0f} s"
                f"{'' if good else '  FAILED'}",
                flush=True,
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
