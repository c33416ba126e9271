"""The embedded model's own count: by its server, and only while that runs anyway."""

from __future__ import annotations

from studio.core.models.base import ModelError, ModelRequest
from studio.core.models.embedded.client import LlamaClient
from studio.core.models.embedded.prompt import template_messages
from studio.core.models.embedded.server import EmbeddedServer
from studio.core.tokens.conversation import ConversationTokens, value_texts

_MOST_TEXTS = 2_000


async def count_embedded(
    server: EmbeddedServer, request: ModelRequest, known: dict[str, int]
) -> ConversationTokens | None:
    """Count a request with the model's own tokenizer and chat template.

    Args:
        server: the server; it is not started for this.
        request: what would be asked.
        known: counts of texts from earlier calls; new ones are added.

    Returns:
        The figures, or `None` while the server does not run, or when it went away meanwhile.
    """
    import httpx2

    if server.state != "ready":
        return None
    address = await server.start()  # it runs: this only gives its address
    try:
        async with LlamaClient(address) as client:
            return await _count(client, request, known)
    except (httpx2.HTTPError, ModelError):
        return None


async def _count(
    client: LlamaClient, request: ModelRequest, known: dict[str, int]
) -> ConversationTokens:
    async def count(text: str) -> int:
        if text not in known:
            if len(known) >= _MOST_TEXTS:
                known.clear()
            known[text] = await client.count(text) if text else 0
        return known[text]

    prompt = await client.template(template_messages(request))
    total = await count(prompt)
    figures = tuple([await count(message.text) for message in request.messages])
    by_input: dict[str, int] = {}
    for text, name in value_texts(request.messages):
        by_input[name] = by_input.get(name, 0) + await count(text)
    return ConversationTokens(
        messages=figures,
        # The template joins neighbours of one role and puts marks, calls and tools around: what
        # that adds is known of all messages together.
        frame=total - sum(figures),
        by_input=by_input,
        tokenizer="the embedded model's own",
        is_exact=True,
    )
