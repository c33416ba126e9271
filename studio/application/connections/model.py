"""The model that a document asks for, and the one of a run, which may change while it stands."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial

from studio.application.words import translate
from studio.core.models.base import Capabilities, ChatModel, ModelRequest
from studio.core.models.embedded.model import EmbeddedModel, Speed
from studio.core.prompty.document import ModelDeclaration
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Notice, ReplyDelta

_tr = partial(translate, "ConnectionModel")


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What a document says of the model that is to answer it."""

    declaration: ModelDeclaration = field(default_factory=ModelDeclaration)
    """Its `model:` block."""

    trusted: bool = True
    """Whether its folder is trusted: only then are its `${env:}` references read."""


class SwitchedModel:
    """Answers by another model, and says so in the reply once that one was changed."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._used: list[ChatModel] = []
        self._is_new = False

    @property
    def label(self) -> str:
        """The model's name for people."""
        return self._model.label

    @property
    def capabilities(self) -> Capabilities:
        """What may be sent to it."""
        return self._model.capabilities

    @property
    def speed(self) -> Speed | None:
        """How fast the last reply of the embedded model was; `None` for any other."""
        return self._model.speed if isinstance(self._model, EmbeddedModel) else None

    def switch(self, model: ChatModel) -> None:
        """Answer by another one from the next request on; a reply under way is not touched."""
        self._used.append(self._model)
        self._is_new = self._is_new or model.label != self._model.label
        self._model = model

    def request_body(self, request: ModelRequest) -> JsonObject:
        """The exact body that would be sent now."""
        return self._model.request_body(request)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer.

        Raises:
            ModelError: the model cannot answer.
        """
        model = self._model
        if self._is_new:
            self._is_new = False
            yield Notice(_tr("{model} answers from here on.").format(model=model.label))
        deltas = model.stream(request)
        if isinstance(deltas, AsyncGenerator):
            # Closing the outer one must end the call inside at once, not when it is collected.
            async with aclosing(deltas):
                async for delta in deltas:
                    yield delta
        else:
            async for delta in deltas:
                yield delta

    async def close(self) -> None:
        """Let go of every model that answered."""
        for model in (*self._used, self._model):
            await model.close()
        self._used.clear()
