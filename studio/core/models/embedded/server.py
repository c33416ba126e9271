"""The embedded model's process: started on first use, ended with the studio, restarted if needed.

Also the client for llama.cpp's server: count tokens, apply the template, complete.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, TypeAlias

from studio.core.models.base import ModelError
from studio.core.models.embedded.weights import Weights, bundled_weights, weights_at
from studio.core.system_libraries import advice, missing_library
from studio.core.text.values import JsonObject
from studio.core.wire.wire_call import WireRecorder, recording

if TYPE_CHECKING:
    import httpx2


ServerState: TypeAlias = Literal["stopped", "starting", "ready", "crashed"]
"""State of the process. `crashed`: it ended by itself; the next use starts it again."""

FROZEN_ARGUMENT = "--embedded-model-child"
"""Option that makes a frozen application run as the child; its `__main__` calls `child.main`."""

_CHILD = Path(__file__).with_name("child.py")
_START_SECONDS = 60.0
_LEAVE_SECONDS = 2.0
_TAIL_BYTES = 2000


@dataclass(frozen=True, slots=True)
class EmbeddedSettings:
    """The settings of the embedded model."""

    weights: Path | None = None
    """The user's GGUF file; None for the bundled model."""

    context: int = 4096
    """Context size in tokens; 4,096 need 285 MiB with the bundled model."""

    threads: int = field(default_factory=lambda: max(1, (os.cpu_count() or 2) - 1))
    """Number of processor threads. Using all cores makes it 20 times slower as soon as anything
    else is busy (docs/design/embedded-model.md).
    """


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a running server."""

    port: int
    """Port on 127.0.0.1."""

    key: str = field(repr=False)
    """The random key that the server requires."""


class EmbeddedServer:
    """The child process, which serves one conversation at a time."""

    def __init__(self, settings: EmbeddedSettings | None = None) -> None:
        self.settings = settings or EmbeddedSettings()
        """Settings of the server."""
        self._process: asyncio.subprocess.Process | None = None
        self._address: Address | None = None
        self._log: IO[bytes] | None = None
        self._turn = asyncio.Lock()
        self._state: ServerState = "stopped"

    @property
    def state(self) -> ServerState:
        """State of the process."""
        if self._state == "ready" and not self._is_alive:
            self._state = "crashed"
        return self._state

    @property
    def is_busy(self) -> bool:
        """Whether a conversation is using the server."""
        return self._turn.locked()

    @property
    def process_id(self) -> int | None:
        """Process id of the child; None if it does not run."""
        return self._process.pid if self._process and self._is_alive else None

    def weights(self) -> Weights:
        """Return the model file of the settings.

        Raises:
            ModelError: "missing-model".
        """
        chosen = self.settings.weights
        return bundled_weights() if chosen is None else weights_at(chosen)

    async def change(self, settings: EmbeddedSettings) -> None:
        """Use other settings from the next start on."""
        if settings != self.settings:
            await self.stop()
            self.settings = replace(settings)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the previous conversation: there is one slot; ending the process ends all."""
        async with self._turn:
            yield

    async def start(self) -> Address:
        """Start the process if it does not run; return its address.

        Raises:
            ModelError: "missing-model", "missing-library" or "crashed"; it cannot start.
        """
        if self._address is not None and self._is_alive:
            return self._address
        await self.stop()
        weights = self.weights()
        self._state = "starting"
        try:
            self._address = await self._launch(weights)
        except BaseException:
            await self._end()
            self._state = "stopped"
            raise
        self._state = "ready"
        return self._address

    async def stop(self) -> None:
        """End the process at once, whatever it is doing; takes about 20 ms."""
        await self._end()
        self._state = "stopped"

    async def failure(self) -> ModelError | None:
        """Return the error of a process that ended by itself; None while it runs."""
        process = self._process
        if process is None:
            return None
        try:
            # The connection breaks shortly before the system reports the end.
            code = await asyncio.wait_for(process.wait(), _LEAVE_SECONDS)
        except TimeoutError:
            return None
        self._state = "crashed"
        return ModelError(
            "crashed",
            f"The embedded model's process ended by itself ({_ending(code)}).",
            "It starts again with the next request. If it happens again, choose a smaller model "
            "file or a smaller context.",
            retryable=True,
        )

    @property
    def _is_alive(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _launch(self, weights: Weights) -> Address:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._process = await asyncio.create_subprocess_exec(
            *_command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=self._log,
        )
        key = secrets.token_urlsafe(24)
        settings = {
            "model": str(weights.path),
            "context": self.settings.context,
            "threads": self.settings.threads,
            "key": key,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(settings).encode() + b"\n")
            await self._process.stdin.drain()
            line = await asyncio.wait_for(self._process.stdout.readline(), _START_SECONDS)
        except (TimeoutError, ConnectionError) as error:
            raise self._cannot_start(weights, "it did not respond") from error
        answer = json.loads(line or b"{}")
        if "port" not in answer:
            raise self._cannot_start(weights, str(answer.get("error", "its process ended")))
        return Address(answer["port"], key)

    def _cannot_start(self, weights: Weights, reason: str) -> ModelError:
        words = self._last_words()
        library = missing_library(f"{reason}\n{words}")
        if library is not None:
            return ModelError(
                "missing-library",
                f"The embedded model cannot start: the system library {library} is missing.",
                advice(library),
            )
        return ModelError(
            "crashed",
            f"The embedded model {weights.name!r} cannot start: {reason}."
            + (f" It said: {words}" if words else ""),
            "The file may be damaged, of an unknown kind, or too large for this machine's memory.",
        )

    def _last_words(self) -> str:
        """Return the last line of the process's stderr."""
        if self._log is None:
            return ""
        end = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, end - _TAIL_BYTES))
        lines = self._log.read().decode(errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    async def _end(self) -> None:
        process, self._process, self._address = self._process, None, None
        if process is not None:
            await _end(process)
        if self._log is not None:
            self._log.close()
            self._log = None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a child at once; it has nothing to save, and ignores signals while loading a file."""
    if process.stdin is not None:
        process.stdin.close()
    with suppress(ProcessLookupError):
        process.kill()
    await process.wait()


def _ending(code: int) -> str:
    if code >= 0:
        return f"code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [sys.executable, FROZEN_ARGUMENT]
    return [sys.executable, "-P", str(_CHILD)]


@dataclass(frozen=True, slots=True)
class CompletionChunk:
    """A piece of a completion, or its end."""

    text: str = ""
    """Text of the response."""

    read: int | None = None
    """Number of prompt tokens read so far; None when it is read."""

    end: JsonObject | None = None
    """The server's last event: usage and stop reason."""


class LlamaClient:
    """An HTTP client for one server; use it as a context manager."""

    def __init__(self, address: Address) -> None:
        import httpx2

        from studio.core.wire.bounded import BoundedTransport, ReplyBounds

        self._http = httpx2.AsyncClient(
            transport=BoundedTransport(httpx2.AsyncHTTPTransport(), ReplyBounds()),
            base_url=f"http://127.0.0.1:{address.port}",
            headers={"Authorization": f"Bearer {address.key}"},
            # Reading a long prompt takes a minute; the server sends pings meanwhile.
            timeout=httpx2.Timeout(10.0, read=30.0),
        )

    async def __aenter__(self) -> LlamaClient:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def template(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the prompt text that the model's chat template makes of messages."""
        answer = await self._post("/apply-template", {"messages": list(messages)})
        return str(answer["prompt"])

    async def count(self, text: str) -> int:
        """Count the tokens of a text."""
        answer = await self._post("/tokenize", {"content": text})
        return len(answer["tokens"])

    async def end_token(self) -> int | None:
        """Return the token by which the model ends its turn; None if it has none."""
        mark = (await self._http.get("/props")).json().get("eos_token")
        asked = {"content": mark or "", "parse_special": True}
        tokens = (await self._post("/tokenize", asked))["tokens"]
        return int(tokens[0]) if len(tokens) == 1 else None

    async def complete(
        self, body: JsonObject, wire: WireRecorder | None = None
    ) -> AsyncGenerator[CompletionChunk, None]:
        """Yield the completion of a prompt in pieces; closing the iterator stops the model."""
        import httpx2

        request = self._http.build_request("POST", "/completion", json=body)
        with recording(wire):
            response = await self._http.send(request, stream=True)
        async with aclosing(response):
            if response.status_code != httpx2.codes.OK:
                await response.aread()
                raise _refusal(response)
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    yield _read(json.loads(line[6:]))
                elif line.startswith("error: "):
                    raise ModelError("server-error", f"The embedded model failed: {line[7:]}")

    async def _post(self, path: str, body: JsonObject) -> dict[str, Any]:
        import httpx2

        response = await self._http.post(path, json=body)
        if response.status_code != httpx2.codes.OK:
            raise _refusal(response)
        answer = response.json()
        assert isinstance(answer, dict)
        return answer


def _read(event: dict[str, Any]) -> CompletionChunk:
    if "error" in event:
        message = event["error"].get("message", "no reason given")
        raise ModelError("server-error", f"The embedded model failed: {message}")
    if event.get("stop"):
        return CompletionChunk(str(event.get("content", "")), end=event)
    progress = event.get("prompt_progress")
    return CompletionChunk(
        str(event.get("content", "")), read=progress["processed"] if progress else None
    )


def _refusal(response: httpx2.Response) -> ModelError:
    try:
        error = response.json()["error"]
        message, kind = str(error["message"]), str(error.get("type", ""))
    except (ValueError, KeyError, TypeError):
        message, kind = response.text[:200], ""
    if kind == "exceed_context_size_error":
        return ModelError(
            "too-long",
            f"The conversation is too long for the embedded model: {message}.",
            "Shorten the prompt, or raise the embedded model's context size in the settings.",
        )
    return ModelError("server-error", f"The embedded model refused the request: {message}.")
