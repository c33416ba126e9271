"""Remove problems that only follow from another one."""

from collections.abc import Iterable

from studio.core.prompty.document import PromptDocument, hides_text
from studio.core.prompty.reference_values import NOT_TRUSTED
from studio.core.text.source import Problem

_OF_FRONT = frozenset(
    {
        "duplicate-key",
        "default-kind",
        "front-matter-not-mapping",
        "invalid-value",
        "tool-without-dash",
    }
)
_OF_INPUTS = frozenset({"undeclared-variable"})


def without_echoes(document: PromptDocument, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems that follow from no other, in order.

    Left out are problems with keys below a line that could not be read, with names whose
    declarations could not be read or are below a misspelled `inputs`, and with the YAML of a
    section whose next marker could not be read.
    """
    found = list(problems)
    front = document.front_matter
    broken = min(
        (
            each.span.start
            for each in found
            if (hides_text(each) and each.code not in _OF_FRONT) or each.code == "front-matter-late"
            if front is None or each.span.start <= front.end
        ),
        default=None,
    )
    no_names = broken is not None or any(
        each.code == "unknown-key"
        and any(edit.text == "inputs" for fix in each.fixes for edit in fix.edits)
        for each in found
    )
    is_dashes = any(
        each.code == "front-matter-open"
        and (document.source.slice(each.span) not in ("---", "+++"))
        for each in found
    )
    bad_keys = [each.span.start for each in found if each.code == "yaml-key"]
    is_late = any(each.code == "front-matter-late" for each in found)
    not_found = {each.span for each in found if each.code == "media-missing"}
    bad_markers = [each.span for each in found if each.code == "attribute-syntax"]

    def is_echo(problem: Problem) -> bool:
        if problem.code in _OF_FRONT:
            return broken is not None and (front is None or problem.span.start <= front.end)
        if problem.code in _OF_INPUTS:
            return no_names
        if problem.code == "wrong-type":
            return any(problem.span.touches(at) for at in bad_keys)
        if problem.code == "marker-in-fence":
            return is_late  # the whole file stands in the code block
        if problem.code == NOT_TRUSTED:
            return problem.span in not_found  # it could not be read in a trusted folder either
        if problem.code == "yaml-syntax" and is_dashes and broken is not None:
            return front is None or problem.span.start <= front.end
        if problem.code == "yaml-syntax":
            return any(span.touches(problem.span.start) for span in bad_markers)
        return False

    return [each for each in found if not is_echo(each)]
