"""Python tools in real child processes: clean ones, and ones that do everything wrong."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from studio.core.tools.python.interpreter import server_environment
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import UnusableToolFileError
from studio.core.tools.source import ToolLimits, timed
from tests.core.tools.conftest import WriteTools, gone, written
from tests.support import patience

Open = Callable[..., PythonFileSource]


@pytest.fixture
async def source(tool_file: WriteTools) -> AsyncIterator[Open]:
    opened: list[PythonFileSource] = []

    def open_file(text: str, limits: ToolLimits | None = None) -> PythonFileSource:
        opened.append(PythonFileSource(tool_file(text), limits or ToolLimits()))
        return opened[-1]

    yield open_file
    for item in opened:
        await item.close()


async def started(path: Path) -> str:
    """Wait until a tool has written its file; gives what it wrote."""
    return await patience.until(lambda: written(path), "a tool that started")


async def test_lists_public_functions_with_lines(source: Open) -> None:
    tools = source(
        '''
        import json

        def add(a: int, b: int = 1) -> int:
            """Add two numbers."""
            return a + b

        def _private(): ...

        class Thing: ...

        async def wait(): return "waited"
        '''
    )
    specs = await tools.list_tools()
    assert [spec.name for spec in specs] == ["add", "wait"]
    assert specs[0].description == "Add two numbers."
    assert specs[0].parameters["required"] == ["a"]
    assert specs[0].source == "my_tools.py"
    assert not specs[0].has_effects
    assert tools.lines == {"add": 4, "wait": 12}


async def test_the_time_of_a_call_begins_when_its_process_has_imported_the_file(
    source: Open, tmp_path: Path
) -> None:
    imports = tmp_path / "imports"
    tools = source(
        f"""
        with open({str(imports)!r}, "a") as file:
            file.write("x")

        def wait(): return "done"
        """
    )
    seen: list[int] = []
    calls = [
        timed(tools.call("wait", {}), lambda: seen.append(len(imports.read_text())))
        for _ in range(2)
    ]
    assert [each.text for each in await asyncio.gather(*calls)] == ["done", "done"]
    assert (len(seen), seen[0] >= 1, seen[1]) == (2, True, 2)


async def test_results_are_text_or_json(source: Open) -> None:
    tools = source(
        """
        def text() -> str: return "é “quoted”"
        def number() -> float: return 1.5
        def nothing() -> None: ...
        def table() -> dict: return {"a": [1, None, True]}
        def empty() -> str: return ""
        async def later() -> list: return [1]
        class Odd:
            def __repr__(self): return "<odd>"
        def odd(): return {"x": Odd()}
        """
    )
    answers = {
        name: await tools.call(name, {})
        for name in ("text", "number", "nothing", "table", "empty", "later", "odd")
    }
    assert {name: outcome.text for name, outcome in answers.items()} == {
        "text": "é “quoted”",
        "number": "1.5",
        "nothing": "null",
        "table": '{"a":[1,null,true]}',
        "empty": "",
        "later": "[1]",
        "odd": '{"x":"<odd>"}',
    }
    assert all(outcome.status == "ok" for outcome in answers.values())
    assert answers["table"].value == {"a": [1, None, True]}
    assert answers["text"].value == "é “quoted”"


async def test_a_raising_tool_is_an_error_with_its_line(source: Open) -> None:
    tools = source(
        """
        def divide(a: int, b: int):
            print("dividing")
            return a / b
        """
    )
    outcome = await tools.call("divide", {"a": 1, "b": 0})
    assert outcome.status == "error"
    assert outcome.text == "ZeroDivisionError: division by zero"
    assert "dividing" in outcome.stderr
    assert "line 4" in outcome.stderr


async def test_wrong_arguments_never_reach_the_function(source: Open, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    tools = source(f"def f(a: int): open({str(mark)!r}, 'w').close()")
    outcome = await tools.call("f", {"a": "many"})
    assert outcome.status == "bad-arguments"
    assert outcome.text.startswith("a: ")
    outcome = await tools.call("f", {"a": 1, "b": 2})
    assert outcome.status == "bad-arguments"
    assert not mark.exists()


async def test_unknown_tool(source: Open) -> None:
    assert (await source("def f(): ...").call("g", {})).status == "unknown-tool"


async def test_prints_do_not_break_the_protocol(source: Open) -> None:
    tools = source(
        r"""
        import os, subprocess, sys

        print('{"jsonrpc": "2.0", "id": 1, "result": {}}')

        def loud() -> str:
            print('{"jsonrpc": "2.0", "id": 2, "result": {}}')
            sys.stdout.write("no newline")
            sys.__stdout__.write("the original")
            os.write(1, b"raw\n")
            subprocess.run([sys.executable, "-c", "print('a grandchild')"], check=True)
            return "fine"
        """
    )
    outcome = await tools.call("loud", {})
    assert (outcome.status, outcome.text) == ("ok", "fine")
    assert "raw" in outcome.stderr
    assert "a grandchild" in outcome.stderr


async def test_keyboard_input_is_refused(source: Open) -> None:
    tools = source(
        "def ask(): return input('name? ')\ndef rest():\n import sys\n return sys.stdin.read()"
    )
    outcome = await tools.call("ask", {})
    assert outcome.status == "error"
    assert outcome.text == "EOFError: a tool cannot read from the keyboard"
    assert (await tools.call("rest", {})).text == ""


async def test_an_endless_loop_ends_at_its_limit_and_the_next_call_works(source: Open) -> None:
    tools = source(
        """
        def spin():
            while True: pass
        def fine(): return "ok"
        """,
        ToolLimits(seconds=0.3),
    )
    assert (await tools.call("spin", {})).status == "timeout"
    tools._limits = ToolLimits()  # a new process may need longer on a busy machine
    assert (await tools.call("fine", {})).text == "ok"


async def test_cancel_kills_the_process(source: Open, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    tools = source(
        f"""
        import os
        def spin():
            open({str(mark)!r}, "w").write(str(os.getpid()))
            while True: pass
        """
    )
    task = asyncio.create_task(tools.call("spin", {}))
    pid = int(await started(mark))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await gone(pid)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ("os._exit(3)", "exit code 3"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("os.close(0); os.close(1); os.abort()", "signal 6"),
    ],
)
async def test_a_dying_process_is_a_crash(source: Open, body: str, word: str) -> None:
    tools = source(
        f"""
        import os, sys
        def die():
            print("last words", flush=True)
            {body}
        def fine(): return "ok"
        """
    )
    outcome = await tools.call("die", {})
    assert outcome.status == "crashed"
    assert word in outcome.text
    assert "last words" in outcome.stderr
    assert (await tools.call("fine", {})).text == "ok"


async def test_exit_is_an_error_and_the_process_stays(source: Open) -> None:
    tools = source("import os, sys\ndef leave(): sys.exit(4)\ndef who(): return os.getpid()")
    pid = (await tools.call("who", {})).value
    outcome = await tools.call("leave", {})
    assert outcome.status == "error"
    assert outcome.text == "the tool called exit(4)"
    assert (await tools.call("who", {})).value == pid


async def test_100_mb_of_result_are_cut(source: Open) -> None:
    tools = source("def much(): return 'x' * 100_000_000", ToolLimits(characters=1000))
    outcome = await tools.call("much", {})
    assert outcome.status == "ok"
    assert outcome.truncated
    assert len(outcome.text) < 1200
    assert "100,000,000" in outcome.text


async def test_100_mb_of_prints_are_survived(source: Open) -> None:
    tools = source(
        """
        def shout() -> str:
            for _ in range(1000): print("y" * 100_000)
            return "done"
        """
    )
    outcome = await tools.call("shout", {})
    assert (outcome.status, outcome.text) == ("ok", "done")
    assert 0 < len(outcome.stderr) <= 64 * 1024


async def test_a_fork_does_not_answer_twice_and_leaves_with_the_source(
    source: Open, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    tools = source(
        f"""
        import os, time
        def fork() -> str:
            pid = os.fork()
            if pid == 0:
                open({str(mark)!r}, "w").write(str(os.getpid()))
                time.sleep(600)
            return "parent"
        """
    )
    outcome = await tools.call("fork", {})
    assert (outcome.status, outcome.text) == ("ok", "parent")
    child = int(await started(mark))
    await tools.close()
    assert await gone(child)


async def test_a_crash_is_seen_although_a_fork_holds_the_pipes(
    source: Open, tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    tools = source(
        f"""
        import os, time
        def fork() -> str:
            if os.fork() == 0:
                open({str(mark)!r}, "w").write(str(os.getpid()))
                time.sleep(600)
            os._exit(5)
        """
    )
    outcome = await tools.call("fork", {})
    assert outcome.status == "crashed"
    if mark.exists() and mark.read_text(encoding="utf-8"):
        assert await gone(int(mark.read_text(encoding="utf-8")))


async def test_calls_at_once_have_processes_of_their_own(source: Open, tmp_path: Path) -> None:
    tools = source(
        f"""
        import os, time
        def meet(me: int) -> int:
            open({str(tmp_path)!r} + f"/{{me}}", "w").close()
            while not all(os.path.exists({str(tmp_path)!r} + f"/{{i}}") for i in (1, 2)):
                time.sleep(0.01)
            return os.getpid()
        """
    )
    first, second = await asyncio.gather(
        tools.call("meet", {"me": 1}), tools.call("meet", {"me": 2})
    )
    assert first.status == second.status == "ok"
    assert first.value != second.value


async def test_cancelling_one_call_leaves_the_other(source: Open, tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    tools = source(
        f"""
        import os, time
        def spin():
            open({str(mark)!r}, "w").write("x")
            while True: pass
        def wait() -> str:
            while not os.path.exists({str(go)!r}): time.sleep(0.01)
            return "lives"
        """
    )
    spinning = asyncio.create_task(tools.call("spin", {}))
    await started(mark)
    waiting = asyncio.create_task(tools.call("wait", {}))
    spinning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await spinning
    go.touch()
    assert (await waiting).text == "lives"


async def test_one_call_after_the_other_keeps_state(source: Open) -> None:
    tools = source("n = 0\ndef count() -> int:\n    global n\n    n += 1\n    return n")
    assert [(await tools.call("count", {})).value for _ in range(3)] == [1, 2, 3]


async def test_a_saved_file_is_loaded_again(source: Open) -> None:
    tools = source("def f(): return 'old'")
    assert (await tools.call("f", {})).text == "old"
    tools.path.write_text("def f(): return 'new one'\ndef g(): ...", encoding="utf-8")
    assert (await tools.call("f", {})).text == "new one"
    assert [spec.name for spec in await tools.list_tools()] == ["f", "g"]


async def test_a_neighbour_can_be_imported_and_cannot_shadow_a_library(
    source: Open, tmp_path: Path
) -> None:
    (tmp_path / "cities.py").write_text("NAME = 'Oslo'", encoding="utf-8")
    for library in ("json", "mcp", "anyio", "pydantic", "studio"):
        (tmp_path / f"{library}.py").write_text("raise RuntimeError('shadow')", encoding="utf-8")
    tools = source("from cities import NAME\ndef city(): return NAME")
    assert (await tools.call("city", {})).text == "Oslo"
    assert not (tmp_path / "__pycache__").exists()


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("def f(:\n", 1, "SyntaxError"),
        ("import nothing_of_that_name\n", 1, "nothing_of_that_name"),
        ("x = 1\n\ny = x / 0\n", 3, "ZeroDivisionError"),
        ("import sys\nsys.exit(2)\n", 2, "exit(2)"),
        ("import os\nos._exit(7)\n", 0, "exit code 7"),
    ],
)
async def test_a_file_that_cannot_be_imported_says_where(
    source: Open, text: str, line: int, word: str
) -> None:
    tools = source(text)
    with pytest.raises(UnusableToolFileError) as caught:
        await tools.list_tools()
    assert caught.value.line == line
    assert word in str(caught.value)
    assert "my_tools.py" in str(caught.value)


async def test_an_endless_import_ends_at_its_limit(source: Open) -> None:
    began = time.monotonic()
    await source("def f(): ...").list_tools()
    limit = 1 + 4 * (time.monotonic() - began)  # a busy machine needs longer to start a process
    tools = source("while True: pass", ToolLimits(start_seconds=limit))
    with pytest.raises(UnusableToolFileError, match="still being imported"):
        await tools.list_tools()


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    tools = PythonFileSource(tmp_path / "none.py")
    with pytest.raises(UnusableToolFileError, match="does not exist"):
        await tools.list_tools()
    assert (await tools.call("f", {})).status == "crashed"


async def test_functions_that_cannot_be_tools_are_named_and_others_stay(source: Open) -> None:
    tools = source(
        """
        import threading

        def good(a: int): ...

        def bad(lock: threading.Event): ...

        def worse(a: "NoSuchType"): ...
        """
    )
    assert [spec.name for spec in await tools.list_tools()] == ["good"]
    assert [problem.line for problem in tools.problems] == [6, 8]
    assert "bad" in tools.problems[0].message
    assert "NoSuchType" in tools.problems[1].message


async def test_effects_are_marked_by_the_author(source: Open) -> None:
    tools = source("def send(): ...\nsend.has_effects = True\ndef read(): ...")
    assert {spec.name: spec.has_effects for spec in await tools.list_tools()} == {
        "send": True,
        "read": False,
    }


async def test_closing_ends_every_process(source: Open) -> None:
    tools = source("import os\ndef who() -> int: return os.getpid()")
    pid = (await tools.call("who", {})).value
    assert isinstance(pid, int)
    await tools.close()
    assert await gone(pid)


async def test_a_tool_leaves_with_a_studio_that_was_killed(tool_file: WriteTools) -> None:
    path = tool_file(
        """
        import os
        async def block(mark: str):
            open(mark, "w").write(str(os.getpid()))
            while True: pass
        """
    )
    mark = path.with_name("mark")
    program = (
        "import asyncio, sys; from pathlib import Path;"
        "from studio.core.tools.python.source import PythonFileSource as S;"
        "asyncio.run(S(Path(sys.argv[1])).call('block', {'mark': sys.argv[2]}))"
    )
    studio = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(path), str(mark), env=server_environment()
    )
    pid = int(await started(mark))
    studio.kill()
    await studio.wait()
    assert await gone(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is Linux's")
async def test_a_tool_that_takes_all_memory_is_told_so(tool_file: WriteTools) -> None:
    path = tool_file(
        "def alloc(megabytes: int) -> int:\n    return len(bytearray(megabytes * 1024 * 1024))\n"
    )
    source = PythonFileSource(path, ToolLimits(memory_megabytes=1024))
    outcome = await source.call("alloc", {"megabytes": 2048})
    assert outcome.status == "error"
    assert "MemoryError" in outcome.text
    assert (await source.call("alloc", {"megabytes": 1})).status == "ok"
    await source.close()


async def test_what_a_tool_prints_is_told_while_it_runs(source: Open, tmp_path: Path) -> None:
    go = tmp_path / "go"
    tools = source(
        f"""
        import time
        from pathlib import Path

        def work() -> str:
            print("half done")
            while not Path({str(go)!r}).exists():
                time.sleep(0.01)
            return "done"
        """
    )
    told: list[str] = []

    def hear(text: str) -> None:
        told.append(text)
        go.touch()  # it ends only after what it printed was heard

    outcome = await tools.call_with_progress("work", {}, hear)
    assert (outcome.text, "".join(told)) == ("done", "half done\n")
    assert outcome.stderr == "half done\n"
