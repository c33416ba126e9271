"""Everything that can be found in a prompt without running it, for every door of the studio."""

from __future__ import annotations

from collections.abc import Sequence

from studio.application.document.project_settings import CheckSettings, project_findings
from studio.application.trust import references_of
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import failure
from studio.core.prompty.prepare import Prepared, prepare
from studio.core.text.problem import Problem
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.request import NO_MESSAGE, message_problems, provider_of, to_request


def findings_of(
    document: PromptDocument, trust: TrustStore, settings: CheckSettings | None = None
) -> tuple[Problem, ...]:
    """The problems of a file, of its messages with samples in place, and of its provider.

    Args:
        document: the parsed file.
        trust: folders whose files and variables may be read.
        settings: which of them are told; None for what the file's project says.
    """
    try:
        return _findings(document, trust, settings)
    except Exception as error:  # noqa: BLE001 - the border to what others wrote: one file fails alone
        return merged(document.problems, (failure(error),))


def _findings(
    document: PromptDocument, trust: TrustStore, settings: CheckSettings | None
) -> tuple[Problem, ...]:
    project = project_findings(document, settings)
    found = document.problems
    if document.is_prompt:
        context = references_of(document.source.path, trust, masked=True)
        prepared = prepare(document, {}, references=context, preview=True)
        found = merged(found, prepared.problems, provider_problems(prepared))
    return project.reported(document, found)


def provider_problems(prepared: Prepared) -> tuple[Problem, ...]:
    """What the provider of the prompt's model would not take of its messages as they stand."""
    model = prepared.document.model
    request = to_request(prepared.messages.messages, (), model, provider=provider_of(model))
    found = message_problems(request)
    if prepared.messages.messages and not prepared.messages.threads:
        return found
    # A run brings the conversation; a prompt that is still empty asks for nothing yet.
    return tuple(item for item in found if item.code != NO_MESSAGE)


def merged(*lists: Sequence[Problem]) -> tuple[Problem, ...]:
    """All problems in source order, each once."""
    unique = dict.fromkeys(problem for problems in lists for problem in problems)
    return tuple(sorted(unique, key=lambda problem: problem.span))
