"""Jinja2 syntax that Nunjucks, with which promptfoo renders, does not have."""

from collections.abc import Iterable, Iterator

FILTERS = frozenset(
    """
    abs batch capitalize center d default dictsort e escape first float forceescape groupby indent
    int join last length list lower random reject rejectattr replace reverse round safe select
    selectattr slice sort string striptags sum title trim truncate upper urlencode urlize
    wordcount
""".split()
)
"""Filters of Jinja2 that it has too."""

TESTS = frozenset(
    """
    callable defined divisibleby eq equalto escaped even ge greaterthan gt iterable le lessthan
    lower lt mapping ne number odd sameas string undefined upper
""".split()
)
"""Tests of Jinja2 that it has too."""


def nunjucks_losses(texts: Iterable[str]) -> Iterator[str]:
    """Yield the filters, tests, methods and statements of Jinja2 that Nunjucks lacks."""
    # Jinja takes some 60 ms to import: not before the window is painted.
    from jinja2 import Environment, TemplateSyntaxError, nodes

    found: dict[str, None] = {}
    for text in texts:
        try:
            tree = Environment(autoescape=True).parse(text)
        except TemplateSyntaxError:
            continue  # the document's own problems say so
        for node in tree.find_all((nodes.Filter, nodes.Test, nodes.Call, nodes.With)):
            match node:
                case nodes.Filter(name=name) if name not in FILTERS:
                    found[f"the filter {name!r}"] = None
                case nodes.Test(name=name) if name not in TESTS:
                    found[f"the test {name!r}"] = None
                case nodes.Call(node=nodes.Getattr(attr=name)):
                    found[f"the method {name}()"] = None
                case nodes.Call(node=nodes.Name(name="namespace")):
                    found["namespace()"] = None
                case nodes.With():
                    found["{% with %}"] = None
                case _:
                    pass
    for each in found:
        yield f"promptfoo renders with Nunjucks, which has not {each} of Jinja2."
