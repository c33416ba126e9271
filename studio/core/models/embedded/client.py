"""What the studio asks of llama.cpp's server: count, format, complete."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from studio.core.models.base import ModelError
from studio.core.models.embedded.server import Address
from studio.core.text.values import JsonObject
from studio.core.wire.wire_call import WireRecorder, recording

if TYPE_CHECKING:
    import httpx2


@dataclass(frozen=True, slots=True)
class CompletionChunk:
    """A piece of a completion, or its end."""

    text: str = ""
    """What came."""

    read: int | None = None
    """Tokens of the prompt that have been read, while it is still being read."""

    end: JsonObject | None = None
    """The server's last event: figures and why it stopped."""


class LlamaClient:
    """An HTTP client for one server; to be used as a context manager."""

    def __init__(self, address: Address) -> None:
        import httpx2

        from studio.core.wire.bounded import BoundedTransport, ReplyBounds

        self._http = httpx2.AsyncClient(
            transport=BoundedTransport(httpx2.AsyncHTTPTransport(), ReplyBounds()),
            base_url=f"http://127.0.0.1:{address.port}",
            headers={"Authorization": f"Bearer {address.key}"},
            # Reading a long prompt takes a minute; the server pings while it does.
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
        """The prompt text that the model's own chat template makes of messages."""
        answer = await self._post("/apply-template", {"messages": list(messages)})
        return str(answer["prompt"])

    async def count(self, text: str) -> int:
        """How many tokens a text is."""
        answer = await self._post("/tokenize", {"content": text})
        return len(answer["tokens"])

    async def end_token(self) -> int | None:
        """The token by which the model ends its turn; None where it has none of its own."""
        mark = (await self._http.get("/props")).json().get("eos_token")
        asked = {"content": mark or "", "parse_special": True}
        tokens = (await self._post("/tokenize", asked))["tokens"]
        return int(tokens[0]) if len(tokens) == 1 else None

    async def complete(
        self, body: JsonObject, wire: WireRecorder | None = None
    ) -> AsyncGenerator[CompletionChunk, None]:
        """Go on with a prompt, piece by piece; closing the iterator stops the model."""
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
