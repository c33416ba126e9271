"""Identities of cells: those of kept answers stay what they are."""

from __future__ import annotations

import hashlib
import json

from studio.core.experiments.values import SentCell, cell_identities, cell_identity


def test_an_identity_is_the_hash_of_all_that_is_sent_and_the_repeat() -> None:
    sent = SentCell(
        {"model": "m", "messages": [{"role": "user", "content": "Grüße \ud800"}]},
        "openai chat http://a",
        "native",
        ({"name": "f"},),
        "s",
        (10, None, 0.5, None),
        "later",
        {"approve": "ask"},
    )
    made = []
    for repeat in (1, 2, 30):
        whole = {
            "body": sent.body,
            "endpoint": sent.endpoint,
            "protocol": sent.protocol,
            "tools": list(sent.tools),
            "sources": sent.sources,
            "limits": list(sent.limits),
            "later": sent.later,
            "rules": sent.rules,
            "repeat": repeat,
        }
        text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        made.append(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    assert list(cell_identities(sent, (1, 2, 30))) == made
    assert cell_identity(sent, 2) == made[1]
