"""The setup of a run; the same for its whole life."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from studio.core.models.base import ProtocolName
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits at which a run pauses; None means no limit."""

    iterations: int | None = 10
    """Model calls."""

    tokens: int | None = None
    """Input and output tokens over all model calls."""

    cost: float | None = None
    """US dollars."""

    seconds: float | None = None
    """Time spent in model and tool calls (waiting for the user does not count)."""

    reply: int | None = None
    """Tokens of one reply, where the user allowed this run more; None: as the prompt says."""


@dataclass(frozen=True, slots=True)
class ReadingStyle:
    """The format of replies that a prompt asks for."""

    free_text: bool = False
    """`Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run ("Answer", "AI")."""

    looped: frozenset[str] = frozenset()
    """Variables that the template loops over."""


_RECORDED = " (recording)"
"""Ends the name of a model whose calls were written down in journals of up to 0.1."""


@dataclass(frozen=True, slots=True)
class RunModel:
    """Which model answers a run, in words that stay when the program is gone."""

    name: str = ""
    """Its name for people."""

    id: str = ""
    """The id that the server knows it by; empty where it is on no server, and in older journals."""

    provider: str = ""
    """Its provider, as OpenTelemetry names it; empty as above."""

    server: str = ""
    """Its server, without path and credentials; empty as above."""

    price: str = ""
    """Source of the price of its tokens; "unknown", or empty for a free model."""

    def is_same(self, other: RunModel) -> bool:
        """Whether the two are one model; by its name alone where older journals know no more."""
        if self.name.removesuffix(_RECORDED) != other.name.removesuffix(_RECORDED):
            return False
        return not self.id or not other.id or (self.id, self.server) == (other.id, other.server)


@dataclass(frozen=True)
class RunSetup:
    """The setup of a run; the same for its whole life."""

    run: str
    """The run's id."""

    prompt: str = ""
    """Name of the prompt, for people."""

    path: str = ""
    """The prompt file, where there is one."""

    program: str = ""
    """Command line of the program whose calls were recorded; empty for the run of a prompt. Each of
    its requests brings the whole conversation, so every step begins with the program's messages."""

    source: str = ""
    """The prompt's text as it was at the start (the store keeps each text once)."""

    protocol: ProtocolName = "native"
    """Protocol between the loop and the model."""

    protocol_reason: str = ""
    """Reason why this one."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Values by input name."""

    question: str = ""
    """The user's question in plain words."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that the model may use."""

    model: str = ""
    """The model's name for people."""

    model_id: str = ""
    """The id that the server knows it by; empty where it is on no server, and in older journals."""

    provider: str = ""
    """Its provider, as OpenTelemetry names it; empty as above."""

    server: str = ""
    """Its server, without path and credentials; empty as above."""

    price: str = ""
    """Source of the price of its tokens; "unknown", or empty for a free model."""

    options: JsonObject = field(default_factory=dict)
    """Sampling options in the document's names."""

    stop: tuple[str, ...] = ()
    """Stop sequences."""

    response_schema: JsonObject | None = None
    """Schema of the declared outputs."""

    limits: Limits = field(default_factory=Limits)
    """Allowances at the start."""

    recorded_seconds: float | None = None
    """Seconds of work of the run that this one replays exactly; None of any other run."""

    parallel: bool = False
    """Whether the calls of one reply run at the same time."""

    headless: bool = False
    """Whether the run has no user to ask: a limit then ends it, the model is informed of errors."""

    final_words: tuple[str, ...] = ()
    """Further words that end a JSON-action run."""

    compose: str = ""
    """Template of the step that writes the answer where the format carries none."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    repair: Literal["ask", "always", "never"] = "ask"
    """Whether any other repair is offered, made without asking, or neither."""

    reading: ReadingStyle = field(default_factory=ReadingStyle)
    """Format of replies that the prompt asks for."""

    context_budget: int | None = None
    """Characters that the conversation may have before it is trimmed (native only)."""

    @property
    def answered_by(self) -> RunModel:
        """The model that it was started with."""
        return RunModel(self.model, self.model_id, self.provider, self.server, self.price)
