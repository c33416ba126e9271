"""Runs an exported file in the program that it is for, and compares what that makes of it.

The program is the user's own: a Python that has the package. Nothing is installed, and the package
runs in a process of its own, with the file and the values and without the studio's environment.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from studio.application.exchange.export import source_for
from studio.core.export.target import ExportResult, ExportSource, ExportTarget, RoundTrip
from studio.core.prompty.convert.compare import comparable
from studio.core.prompty.meaning import first_difference
from studio.core.prompty.messages import MediaPart, Message, Part, TextPart
from studio.core.prompty.reference_values import find_references
from studio.core.text.reason import reason_of
from studio.core.text.values import Json

JudgeName: TypeAlias = Literal["prompty", "prompty1"]
"""Programs that can be asked."""

JUDGES: Mapping[JudgeName, str] = {"prompty": "prompty", "prompty1": "legacy"}
"""The export form that each of them reads."""

_SECONDS = 60

# One line of JSON comes in: the file and the values of each set; one goes out: messages or a fault.
_SCRIPT = """
import json, sys
order = json.loads(sys.stdin.read())
def parts(message):
    listed = getattr(message, "parts", None)
    if listed is not None:
        return [[getattr(p, "kind", "text"), p.source if hasattr(p, "source") else p.value]
                for p in listed]
    content = message["content"]
    if isinstance(content, str):
        return [["text", content]]
    return [["text", p["text"]] if p["type"] == "text" else ["image", p["image_url"]["url"]]
            for p in content]
def read(values):
    try:
        prompt = prompty.load(order["path"])
        if hasattr(prompt, "sample"):
            prompt.model.api = prompt.model.api or "chat"
        made = prompty.prepare(prompt, values)
        return {"messages": [
            [getattr(m, "role", None) or m["role"], dict(getattr(m, "metadata", {})), parts(m)]
            for m in made]}
    except Exception as error:
        return {"fault": f"{type(error).__name__}: {error}"}
try:
    import prompty
    from importlib.metadata import version
    found = {"version": version("prompty"), "sets": [read(v) for v in order["sets"]]}
except ImportError as error:
    found = {"missing": str(error)}
print("\\n" + json.dumps(found, default=str))
"""


class NoJudgeError(Exception):
    """The program is not there, or gave no answer; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """What the program made of a file."""

    program: str
    """Its name and version."""

    rounds: tuple[RoundTrip, ...] = field(default=())
    """One comparison per input set."""


def judge_names() -> tuple[JudgeName, ...]:
    """The programs that can be asked."""
    return get_args(JudgeName)


def run_in(
    name: JudgeName, source: ExportSource, made: ExportResult, python: Path | None = None
) -> Judgment:
    """Read an exported file with the program itself, with the values of now and of every set.

    Args:
        name: The program.
        source: What the file was made from.
        made: The file.
        python: The Python that has the package; None looks for one.

    Raises:
        NoJudgeError: the program is not there, or gave no answer.
    """
    rounds = source.round_trips
    declared = {item.name for item in source.document.inputs}
    values = [
        {
            key: value
            for key, value in prepared.inputs.items()
            if key in declared or key in source.sets.get(each, {})
        }
        for each, prepared in rounds.items()
    ]
    folder = source.document.source.path.parent if source.document.source.path else None
    asked = python or find_python(name)
    answer = _ask(asked, made, values, folder)
    version = answer.get("version")
    if not isinstance(version, str) or version.startswith("0.") is (name == "prompty"):
        wanted = "prompty>=2.1" if name == "prompty" else "prompty==0.1.50"
        raise NoJudgeError(
            f"{asked} has {f'prompty {version}' if version else 'no prompty'}; install {wanted} "
            f"there, or name another: export --run-in {name} --python PYTHON."
        )
    loose = name == "prompty1"
    sets = answer.get("sets")
    found = [
        RoundTrip(
            each,
            _difference(prepared.messages.messages, item, loose=loose),
            len(prepared.messages.messages),
        )
        for (each, prepared), item in zip(
            rounds.items(), sets if isinstance(sets, list) else [], strict=True
        )
    ]
    return Judgment(f"prompty {version}", tuple(found))


def judge_of(form: str) -> JudgeName | None:
    """The program that can be asked about an export form; None where there is none."""
    return next((name for name in judge_names() if JUDGES[name] == form), None)


def judge_export(target: ExportTarget, source: ExportSource, made: ExportResult) -> Judgment:
    """Let the program that a form is for read what was made of a job.

    Raises:
        NoJudgeError: there is no such program, or it gave no answer.
    """
    name = judge_of(target.name)
    if name is None:
        raise NoJudgeError(f"No program can be asked about {target.label}.")
    return run_in(name, source_for(target, source), made)


def find_python(name: JudgeName) -> Path:
    """A Python that has the package: the one that runs, or the first of the path.

    Raises:
        NoJudgeError: there is none.
    """
    own = Path(sys.executable)
    if name == "prompty" and importlib.util.find_spec("prompty") is not None:
        return own
    other = shutil.which("python3") or shutil.which("python")
    if other is None:
        raise NoJudgeError("There is no Python with the package prompty; name one with --python.")
    return Path(other)


def _ask(
    python: Path, made: ExportResult, values: Sequence[Mapping[str, Json]], folder: Path | None
) -> Mapping[str, Json]:
    """Write the file where its prompt's files lie beside it, and let the program read it."""
    with tempfile.TemporaryDirectory(prefix="prompt-studio-") as place:
        path = Path(place, "prompt.prompty")
        for item in folder.iterdir() if folder is not None else ():
            if item.name != path.name:
                _lay_beside(item, Path(place, item.name))
        path.write_bytes(made.content)
        order = json.dumps({"path": str(path), "sets": values}, default=str)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PROMPT_"))}
        for reference in find_references(made.text):  # what is not set gets something to load with
            if reference.protocol == "env":
                kept.setdefault(reference.argument, f"value-of-{reference.argument}")
        try:
            done = subprocess.run(
                [str(python), "-I", "-c", _SCRIPT],
                input=order,
                capture_output=True,
                text=True,
                encoding="utf-8",
                env=kept,
                timeout=_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NoJudgeError(f"{python} gave no answer: {reason_of(error)}") from error
    last = done.stdout.strip().rpartition("\n")[2]
    try:
        answer: Json = json.loads(last)
    except ValueError as error:
        words = done.stderr.strip().rpartition("\n")[2] or "nothing"
        raise NoJudgeError(f"{python} gave no answer: {words}") from error
    return answer if isinstance(answer, Mapping) else {}


def _lay_beside(item: Path, place: Path) -> None:
    """A link to a file or folder; a copy of the file where links are not allowed (Windows)."""
    try:
        place.symlink_to(item)
    except OSError:
        if item.is_file():
            shutil.copyfile(item, place)


def _difference(expected: Sequence[Message], item: Json, *, loose: bool) -> str:
    if not isinstance(item, Mapping):
        return "there is no answer."
    if "fault" in item:
        return f"it is refused: {item['fault']}"
    listed = item.get("messages")
    got = [_message(each) for each in listed] if isinstance(listed, list) else []
    return first_difference(
        comparable(tuple(expected), loose=loose), comparable(tuple(got), loose=loose)
    )


def _message(item: Json) -> Message:
    """A message as the script writes it."""
    role, attributes, parts = item if isinstance(item, list) else ("", {}, [])
    found: list[Part] = []
    for kind, text in parts if isinstance(parts, list) else []:
        if kind == "text":
            found.append(TextPart(str(text)))
        else:
            found.append(MediaPart(kind, str(text)))
    return Message(
        "tool" if role == "function" else role,
        tuple(found),
        attributes if isinstance(attributes, Mapping) else {},
    )
