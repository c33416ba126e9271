"""Rules of trust: what a prompt may do in a trusted or untrusted folder."""

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
    """The trust in a file's folder, and the folder about which the user is asked."""

    folder: Path | None
    """Folder to trust, or that is trusted; None if there is none: for an unsaved text, or a file
    directly in the home folder.
    """

    is_trusted: bool
    """Whether the file's references may be read and its tools run."""

    is_given: bool = False
    """Whether the user granted the trust and can remove it."""


def folder_trust(own: Path | None, trust: TrustStore, opened: Path | None = None) -> FolderTrust:
    """Return the trust in a file's folder, and the folder to trust: usually the opened one.

    A repository inside the opened folder must be trusted separately, and so must the file's folder
    if the opened one is too wide.

    Args:
        own: the file's folder; None for an unsaved text, which is trusted.
        trust: the folders that the user trusts.
        opened: the opened folder that contains the file; None for none.
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
    """Return whether a prompt's references may be read, and keys sent to its addresses.

    Args:
        prompt: path of the prompt; None for an unsaved text, which is trusted.
        trust: the folders that the user trusts.
    """
    return prompt is None or trust.is_trusted(prompt.parent)


def references_of(
    prompt: Path | None, trust: TrustStore, *, masked: bool = False, masker: Masker | None = None
) -> ReferenceContext:
    """Return the resolver of a prompt's references.

    Args:
        prompt: path of the prompt; None for an unsaved text.
        trust: the folders that the user trusts.
        masked: whether the result is shown or exported, so that a variable that is set stays as
            written.
        masker: receives each variable that is read.
    """
    trusted = is_trusted(prompt, trust)
    return references_beside(prompt, trusted=trusted, masked=masked, masker=masker)
