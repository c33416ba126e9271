"""The child process that runs the code of assertions: Python directly, JavaScript in a sandbox.

Exchanges lines of JSON over the standard streams. Started by `child.AssertionChild`, with an
environment without keys; Python only for experiments in trusted folders.
"""

import contextlib
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import traceback
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from studio.core.text.files import read_text

JAVASCRIPT_SECONDS = 1.0
"""Maximum time of one JavaScript assertion, in seconds."""

_NODE_START_SECONDS = 15.0
"""Maximum time for Node.js to start on a busy machine, in seconds; a call ends after 20."""

JAVASCRIPT_BYTES = 64 * 1024 * 1024
"""Maximum memory of one JavaScript assertion, in bytes."""

_LONGEST_REASON = 2000


def main() -> int:
    """Answer each line of input until its end; return the exit code."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of the user's code is not an answer
    sys.dont_write_bytecode = True
    _bound_memory()
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        answer: dict[str, object] = {"id": asked["id"]}
        try:
            value = _javascript(asked) if asked["language"] == "javascript" else _python(asked)
            answer["value"] = value
            text = json.dumps(answer, default=str)
        except ImportError as error:
            missing = getattr(error, "name", "") == "jsbox"
            answer.pop("value", None)
            answer["missing" if missing else "error"] = str(error)
            text = json.dumps(answer)
        except BaseException as error:  # noqa: BLE001 - the border to the user's code
            if isinstance(error, KeyboardInterrupt):
                return 130
            answer.pop("value", None)
            answer["error"] = _told(error)
            text = json.dumps(answer)
        answers.write(text + "\n")
        answers.flush()
    return 0


def _bound_memory() -> None:
    if sys.platform == "linux":
        import resource

        most = 2 * 1024**3
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            most = min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _told(error: BaseException) -> str:
    """Return an error as one line, with the line number in the user's code."""
    frames = [
        each for each in traceback.extract_tb(error.__traceback__) if each.filename != __file__
    ]
    where = f" (line {frames[-1].lineno})" if frames else ""
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{words[:_LONGEST_REASON]}{where}"


# JavaScript ---------------------------------------------------------------------------------------


def _javascript(asked: dict[str, Any]) -> object:
    code = asked["code"]
    if asked["file"]:
        code = _module(Path(asked["file"]), code)
    values = f"{json.dumps(asked['output'])}, {json.dumps(asked['context'])}"
    try:
        import jsbox
    except ImportError:
        node = shutil.which("node") if asked.get("node") else None
        if node is None:
            raise
        return _by_node(node, code, values)
    # A new runtime for each: no state is carried over from one answer to the next.
    runtime = jsbox.Runtime(memory_limit=JAVASCRIPT_BYTES)
    body = code
    for each in _bodies(code):
        try:
            runtime.check_syntax(f"(async (output, context) => {{ {each}\n }})")
        except jsbox.JavaScriptError:
            continue
        body = each
        break
    script = f"(async (output, context) => {{ {body}\n }})({values})"
    return runtime.eval(script, timeout=JAVASCRIPT_SECONDS)


def _bodies(code: str) -> tuple[str, ...]:
    """Return the possible forms of the code: an expression (also with `;`), then statements."""
    is_line = "\n" not in code.strip() and "return" not in code
    line = (f"return {code.strip()}",) if is_line else ()
    return (f"return (\n{code}\n);", *line, code)


_NODE = """
const {bodies, values} = JSON.parse(require('fs').readFileSync(0, 'utf8'));
const vm = require('vm');
const whole = body => `(async (output, context) => { ${body}\\n })(${values})`;
let script, wrong;
for (const body of bodies) {
  try { script = new vm.Script(whole(body)); break; } catch (error) { wrong = error; }
}
if (!script) throw wrong;
Promise.resolve(script.runInNewContext({console}, {timeout: SECONDS}))
  .then(value => process.stdout.write('\\n' + JSON.stringify({value: value ?? null})))
  .catch(error => process.stdout.write('\\n' + JSON.stringify({error: String(error)})));
"""


def _by_node(node: str, code: str, values: str) -> object:
    """Run the code with Node.js, one process each: no sandbox, so the folder must be trusted."""
    script = _NODE.replace("SECONDS", str(int(JAVASCRIPT_SECONDS * 1000)))
    most = f"--max-old-space-size={JAVASCRIPT_BYTES // 1024**2}"
    given = json.dumps({"bodies": _bodies(code), "values": values})
    try:
        done = subprocess.run(
            [node, most, "-e", script],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=JAVASCRIPT_SECONDS + _NODE_START_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"the code did not end in {JAVASCRIPT_SECONDS:g} s") from None
    if not done.stdout.strip():
        words = [line for line in done.stderr.splitlines() if "Error" in line][:1]
        raise RuntimeError(words[0] if words else f"node ended with {done.returncode}")
    answer = json.loads(done.stdout.splitlines()[-1])
    if "error" in answer:
        raise RuntimeError(answer["error"])
    return answer["value"]


def _module(path: Path, function: str) -> str:
    """Return code that loads a file as an expression and calls the function it exports."""
    text = read_text(path)
    if "export default" in text:
        text = text.replace("export default", "module.exports =", 1)
    called = f"[{json.dumps(function)}]" if function else ""
    return (
        "(() => { const module = {exports: {}}; const exports = module.exports;\n"
        f"{text}\nreturn module.exports{called}; }})()(output, context)"
    )


# Python -------------------------------------------------------------------------------------------


def _python(asked: dict[str, Any]) -> object:
    output, context = asked["output"], asked["context"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if asked["file"]:
            module = _file(asked["file"], Path(asked["file"]).stat().st_mtime_ns)
            name = asked["code"] or "get_assert"
            function = getattr(module, name, None)
            if function is None:
                raise AttributeError(f"{Path(asked['file']).name} has no function {name!r}")
            return _settled(function(output, context))
        return _inline(asked["code"], output, context)


def _inline(code: str, output: object, context: object) -> object:
    names: dict[str, Any] = {"output": output, "context": context}
    try:
        compiled = compile(code.strip(), "<assertion>", "eval")
    except SyntaxError:
        lines = "\n".join(f"    {line}" for line in code.splitlines())
        exec(compile(f"def _assertion(output, context):\n{lines}\n", "<assertion>", "exec"), names)
        return _settled(names["_assertion"](output, context))
    return _settled(eval(compiled, names))


def _settled(value: Any) -> Any:  # noqa: ANN401
    """Return the value of a function; await it if the function is `async`."""
    if hasattr(value, "__await__"):
        import asyncio

        async def settle() -> object:
            return await value

        value = asyncio.run(settle())
    if hasattr(value, "pass_"):  # promptfoo's GradingResult
        return {"pass": value.pass_, "score": value.score, "reason": value.reason}
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return value.item()
    return value


@lru_cache(maxsize=32)
def _file(path: str, _changed: int) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    folder = str(Path(path).parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
