"""What the user's trust in a folder allows a prompt in it: the one rule for window and scripts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.prompty.reference_values import ReferenceContext, references_beside
from studio.core.tools.trust.store import TrustStore

if TYPE_CHECKING:
    from studio.core.masking.masker import Masker


def is_trusted(prompt: Path | None, trust: TrustStore) -> bool:
    """Whether what a prompt refers to may be read, and whether a key may go where it says.

    Args:
        prompt: its file; None for a text that was never saved, which is the user's own.
        trust: the folders that the user trusts.
    """
    return prompt is None or trust.is_trusted(prompt.parent)


def references_of(
    prompt: Path | None, trust: TrustStore, *, masked: bool = False, masker: Masker | None = None
) -> ReferenceContext:
    """Where the references of a prompt find their values.

    Args:
        prompt: its file; None for a text that was never saved.
        trust: the folders that the user trusts.
        masked: what is made is shown or exported: a variable that is set stays as it is written.
        masker: is told each variable that is read.
    """
    trusted = is_trusted(prompt, trust)
    return references_beside(prompt, trusted=trusted, masked=masked, masker=masker)
