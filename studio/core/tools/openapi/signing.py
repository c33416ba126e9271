"""Which keys an operation is sent with: of its own security, or of the whole API's."""

from __future__ import annotations

from collections.abc import Collection

from studio.core.tools.openapi.operation import Credential, Description, Operation

ANY = ""
"""Name of the one key that stands for every scheme without a key of its own."""


def credentials_for(
    description: Description, operation: Operation, keys: Collection[str]
) -> tuple[tuple[str, Credential], ...]:
    """The keys to send, each by the name under which it is given, and how it travels.

    Args:
        description: the API.
        operation: what is called.
        keys: names of the schemes that a key is given for; `ANY` is among them for one that serves
            all.
    """
    wanted = operation.security if operation.security is not None else description.security
    if wanted is None:
        return ((ANY, description.credential),) if ANY in keys else ()
    for alternative in sorted(wanted, key=lambda each: not each):  # "none" is the last resort
        known = [name for name in alternative if name in description.schemes]
        if len(known) == len(alternative) and all(n in keys or ANY in keys for n in known):
            return tuple((n if n in keys else ANY, description.schemes[n]) for n in known)
    return ()
