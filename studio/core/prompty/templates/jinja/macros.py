"""Gives the parameters of a macro their values."""

from __future__ import annotations

from jinja2 import nodes

from studio.core.prompty.templates.jinja.expressions import Expressions, Given
from studio.core.prompty.templates.jinja.sandbox import environment
from studio.core.prompty.templates.jinja.scope import Scope
from studio.core.prompty.templates.jinja.variables import names_read


def bind_parameters(
    name: str,
    node: nodes.Macro | nodes.CallBlock,
    inner: Scope,
    given: Given,
    expressions: Expressions,
) -> Scope:
    """Bind what a call gives to what a macro takes, as Jinja does.

    Raises:
        TypeError: it is given more than it takes.
    """
    names = [parameter.name for parameter in node.args]
    first_default = len(names) - len(node.defaults)
    rest = dict(given.named)
    for index, parameter in enumerate(names):
        if index < len(given.values):
            source = given.sources[index] if index < len(given.sources) else None
            inner.set(parameter, given.values[index], source)
        elif parameter in rest:
            inner.set(parameter, rest.pop(parameter), given.named_sources.get(parameter))
        elif index >= first_default:
            default = node.defaults[index - first_default]
            inner.set(parameter, expressions.value(default, inner), inner.source_of(default))
        else:
            inner.set(parameter, environment().undefined(name=parameter))
    caller = rest.pop("caller", None)
    inner.set("caller", caller or environment().undefined(name="caller"))
    further = given.values[len(names) :]
    read = names_read(node.body)
    if rest and "kwargs" not in read:
        raise TypeError(f"macro {name!r} takes no argument {next(iter(rest))!r}")
    if further and "varargs" not in read:
        raise TypeError(f"macro {name!r} takes at most {len(names)} arguments")
    inner.set("varargs", tuple(further), next(iter(filter(None, given.sources)), None))
    inner.set("kwargs", rest, next(iter(filter(None, given.named_sources.values())), None))
    return inner
