"""What stands for a model that answered on a branch of a run, and is not open in this one."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from studio.core.agent.values.run_setup import RunModel
from studio.core.models.base import ChatModel, ModelError, ModelRequest, WrappingModel
from studio.core.wire.reply import ReplyDelta


class ModelNotAtHand(WrappingModel[ChatModel]):
    """Sends nothing: a request that is meant for one model goes to no other."""

    def __init__(self, inner: ChatModel, wanted: RunModel) -> None:
        """Take the model that is open, and the one that would have to answer.

        Args:
            inner: says what may be sent; it is not asked.
            wanted: the model that the journal names.
        """
        super().__init__(inner)
        self._wanted = wanted

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer nothing.

        Raises:
            ModelError: always.
        """
        raise ModelError(
            "missing-model",
            f"{self._wanted.name} answered here and is not open in this run; nothing was sent.",
            "Open the run from History at this place, or choose another model.",
        )
        yield  # makes this the generator that a model's stream is
