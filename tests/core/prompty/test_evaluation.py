"""What the bounds of templates overlook ends as a finding of its file."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping

import pytest

from studio.core.prompty.evaluation import TooLongError, evaluation_limits, failure
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from tests.support import patience


def test_each_failure_has_its_code_and_says_what_it_is() -> None:
    assert failure(MemoryError()).code == "too-much-memory"
    assert failure(TooLongError()).code == "too-long"
    crash = failure(KeyError("x"))
    assert crash.code == "crash"
    assert "KeyError: 'x'" in crash.message


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_memory_is_bounded_and_comes_back() -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(MemoryError), evaluation_limits(memory=100_000_000):
        bytearray(200_000_000)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytearray(200_000_000)) == 200_000_000


def test_time_is_bounded_in_any_thread() -> None:
    ended: list[type[Exception]] = []

    def work() -> None:
        try:
            with evaluation_limits(seconds=0.05):
                while True:
                    pass
        except TooLongError as error:
            ended.append(type(error))

    work()
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [TooLongError, TooLongError]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_what_ends_the_process_is_a_finding_and_the_rest_is_worked_on() -> None:
    program = """
import os, re, resource, sys
from studio.core.prompty import evaluation

def work(item):
    if item == "raises":
        raise KeyError(item)
    if item == "crashes":
        os.abort()
    if item == "is ended":
        os.kill(os.getpid(), 9)
    if item == "never returns":
        re.match("(a*)*b", "a" * 100)
    return f"{item}: fine"

evaluation.MOST_SECONDS = 0.5
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
items = ("first", "raises", "crashes", "second", "is ended", "never returns", "third")
for result in evaluation.in_worker(items, work, lambda item, problem: f"{item}: {problem.code}"):
    print(result)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "first: fine",
        "raises: crash",
        "crashes: crash",
        "second: fine",
        "is ended: too-much-memory",
        "never returns: too-long",
        "third: fine",
    ]
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_items_have_a_child_and_each_is_without_a_result_once_its_process_was_ended() -> None:
    program = """
import os, signal, sys
from studio.core.prompty import evaluation

def work(item):
    if item == "is ended":
        os.kill(os.getpid(), 9)
    if item == "prints":
        print("over the output of a server", flush=True)
    if item == "reads":
        return repr(sys.stdin.read())
    if item == "its group":
        return os.getpgid(0)
    return f"{item}: fine"

ask = evaluation.forking(work, lambda item, problem: f"{item}: {problem.code}")
print(*ask(["first", "is ended", "prints", "reads"]), sep="; ")
(group,) = ask(["its group"])
assert group != os.getpgid(0)
print(len(ask(["x" * 5_000_000])[0]), ask(["its group"]) == [group], sep="; ")
os.kill(group, signal.SIGKILL)
print(ask(["last", "of all"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, input="x"
    )
    assert done.stdout.splitlines() == [
        "first: fine; is ended: too-much-memory; prints: fine; ''",
        "5000006; True",
        "[None, None]",
    ]
    assert done.stderr == "over the output of a server\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")
def test_items_are_worked_on_beside_each_other_and_none_outlives_the_asking_process() -> None:
    program = """
import os, threading, time
from studio.core.prompty import evaluation

reading, writing = os.pipe()

def work(item):
    if item == "never returns":
        os.write(writing, b"begun")
        time.sleep(6000)
    return f"{item}: fine"

ask = evaluation.forking(work, lambda item, problem: problem.code)
threading.Thread(target=ask, args=[["never returns"]], daemon=True).start()
os.read(reading, 5)
print(ask(["another"]))
"""
    # It waits for the end of each process that has its output.
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        timeout=patience.SECONDS,
    )
    assert done.stdout == "['another: fine']\n"
    assert done.stderr == ""


class Broken(Mapping[str, str]):
    """Values that no reader expects: they fail when they are looked at."""

    def __getitem__(self, key: str) -> str:
        raise ZeroDivisionError(key)

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError("broken")

    def __len__(self) -> int:
        return 1


def test_a_failure_while_messages_are_made_is_a_problem_of_their_prompt() -> None:
    prepared = prepare(parse("---\nname: x\n---\nuser:\n{{ a }}\n"), Broken())
    (problem,) = prepared.problems
    assert (problem.code, prepared.messages.messages) == ("crash", ())
    assert "ZeroDivisionError: broken" in problem.message


def test_what_takes_too_long_is_a_problem_and_the_next_prompt_is_read() -> None:
    loops = "{% for a in range(900) %}{% for b in range(900) %}{{ b }}{% endfor %}{% endfor %}"
    slow = parse(f"---\nname: x\n---\nuser:\n{loops}\n")
    with evaluation_limits(seconds=0.02):
        assert [problem.code for problem in prepare(slow, {}).problems] == ["too-long"]
    with evaluation_limits():
        assert not prepare(parse("---\nname: x\n---\nuser:\nHi\n"), {}).problems


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the memory of a process")
def test_what_takes_too_much_memory_is_a_problem() -> None:
    program = (
        "from studio.core.prompty.evaluation import evaluation_limits\n"
        "from studio.core.prompty.parse import parse\n"
        "from studio.core.prompty.prepare import prepare\n"
        "lists = '{{ ([range(9000)] * 900) | map(\\'list\\') | list | length }}'\n"
        "large = parse('---\\nname: x\\n---\\nuser:\\n' + lists)\n"
        "with evaluation_limits(memory=0):\n"
        "    print(*(problem.code for problem in prepare(large, {}).problems))\n"
        "print(*(problem.code for problem in prepare(large, {}).problems))\n"
    )  # in a process of its own, whose heap has no room left from other tests
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\n") == ["too-much-memory", "template-limit", ""]
