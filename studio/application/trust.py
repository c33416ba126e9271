"""Rules of trust: what a prompt in a trusted or untrusted folder may do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from studio.core.prompty.reference_values import ReferenceContext, references_beside
from studio.core.tools.trust.store import TrustStore, is_repository, is_too_wide, resolved

if TYPE_CHECKING:
    from studio.core.masking.masker import Masker


@dataclass(frozen=True, slots=True)
class FolderTrust:
    """Whether a file's folder is trusted, and which folder the user is asked about."""

    folder: Path | None
    """The folder that trust is given to, or was given to; None where it cannot be: a text that was
    never saved, a file right in the home folder."""

    is_trusted: bool
    """Whether what the file refers to may be read and run."""

    is_given: bool = False
    """Whether the user gave that trust, and so can take it back."""


def folder_trust(own: Path | None, trust: TrustStore, opened: Path | None = None) -> FolderTrust:
    """Return what holds for a file, and what trust is asked for: once for the opened folder.

    A repository inside of the opened folder is asked about by itself, and so is the file's own
    folder where the opened one is too wide.

    Args:
        own: the file's folder; None for a text that was never saved, which is the user's own.
        trust: the folders that the user trusts.
        opened: the folder that the user opened and that the file lies in; None for none.
    """
    if own is None:
        return FolderTrust(None, is_trusted=True)
    given = trust.current.trusted_as(own)
    if given is not None or trust.is_trusted(own):
        return FolderTrust(given, is_trusted=True, is_given=given is not None)
    own = resolved(own)
    root = resolved(opened) if opened is not None else own
    if not own.is_relative_to(root):
        root = own
    root = next(each for each in (own, *own.parents) if each == root or is_repository(each))
    root = own if is_too_wide(root) else root
    return FolderTrust(None if is_too_wide(root) else root, is_trusted=False)


def shown_before_trust(opened: Path | None) -> Path | None:
    """Return the opened folder whose text files a preview shows before trust; None for none."""
    return None if opened is None or is_too_wide(resolved(opened)) else opened


def is_trusted(prompt: Path | None, trust: TrustStore) -> bool:
    """Return whether what a prompt refers to may be read, and whether a key may go where it says.

    Args:
        prompt: its file; None for a text that was never saved, which is the user's own.
        trust: the folders that the user trusts.
    """
    return prompt is None or trust.is_trusted(prompt.parent)


def references_of(
    prompt: Path | None, trust: TrustStore, *, masked: bool = False, masker: Masker | None = None
) -> ReferenceContext:
    """Return the resolver of a prompt's references.

    Args:
        prompt: its file; None for a text that was never saved.
        trust: the folders that the user trusts.
        masked: what is made is shown or exported: a variable that is set stays as it is written.
        masker: is told each variable that is read.
    """
    trusted = is_trusted(prompt, trust)
    return references_beside(prompt, trusted=trusted, masked=masked, masker=masker)
