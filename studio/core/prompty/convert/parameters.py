"""Parameters of the section dialect as declared inputs, which every Prompty runtime knows."""

from __future__ import annotations

from collections.abc import Mapping

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.edit.draft import ConversionDraft
from studio.core.prompty.parameters import parameters_as_variables
from studio.core.text.problem import TextEdit
from studio.core.text.values import Json


def parameters_to_inputs(draft: ConversionDraft, document: PromptDocument) -> None:
    """Write each `${params:name}` of the messages as a template expression, and declare the input.

    The file stays a prompt section. References in the front matter and in a `tools:` section have
    no template to stand in and stay as they are.

    Args:
        draft: The file, not yet changed.
        document: The same file as it was parsed.
    """
    if isinstance(document.data.get("inputs"), str):
        return  # the inputs are declared in another file
    edits: list[TextEdit] = []
    written: list[str] = []
    names = {span: item.name for item in document.parameters for span in item.uses}
    for section in document.sections:
        if section.role == "tools":
            continue
        text = document.source.slice(section.span)
        for place, expression in parameters_as_variables(text, document.template.format):
            span = place.shift(section.span.start)
            if span in names:
                edits.append(TextEdit(span, expression))
                written.append(names[span])
    if not edits:
        return
    declared: dict[str, Mapping[str, Json]] = {}
    for name in written:
        parameter = document.parameter(name)
        if parameter is not None and document.input(name) is None:
            declared[name] = {"kind": parameter.kind, "required": True}
    draft.apply(edits)
    draft.set(("template", "parser", "kind"), "section")
    if isinstance(document.data.get("inputs"), list):
        draft.add_items(("inputs",), [{"name": name, **item} for name, item in declared.items()])
    else:
        draft.add_values(("inputs",), declared)
