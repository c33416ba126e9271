"""No template can hang the studio or eat its memory, and exceeding a bound is a placed problem."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from studio.core.prompty.document import MOST_PARTS, Rendering
from studio.core.prompty.parse import parse
from studio.core.prompty.templates import Bounds, render_template
from tests.support.soon import soon

_NS = (
    "{% set n = namespace(v=['x']) %}{% for i in range(99) %}{% set n.v = [n.v, n.v] %}{% endfor %}"
)

HOSTILE = {
    "a long loop": "{% for i in range(10**9) %}x{% endfor %}",
    "nested loops": "{% for i in range(9**5) %}{% for j in range(9**5) %}{% endfor %}{% endfor %}",
    "loops that write": "{% for i in range(9**5) %}{% for j in range(99) %}{{ 'x' * 999 }}"
    "{% endfor %}{% endfor %}",
    "a multiplied text": "{{ 'x' * 10**9 }}",
    "a multiplied list": "{{ [0] * 10**9 }}",
    "a text doubled": "{% set n = namespace(v='x') %}{% for i in range(99) %}"
    "{% set n.v = n.v ~ n.v %}{% endfor %}{{ n.v }}",
    "a text added to itself": "{% set n = namespace(v='x') %}{% for i in range(99) %}"
    "{% set n.v = n.v + n.v %}{% endfor %}{{ n.v }}",
    "a list holding itself twice": _NS + "{{ n.v }}",
    "such lists compared": _NS + "{{ n.v == n.v }}",
    "a power": "{{ 10 ** (10 ** 9) }}",
    "a power of powers": "{{ 9 ** (9 ** (9 ** 9)) }}",
    "a large product": "{% set n = namespace(v=9**999) %}{% for i in range(99) %}"
    "{% set n.v = n.v * n.v %}{% endfor %}{{ n.v }}",
    "padding": "{{ 'x'.ljust(10**9) }}",
    "padding by a filter": "{{ 'x'|center(10**9) }}",
    "indenting": "{{ 'x\\ny'|indent(10**9) }}",
    "a format's width": "{{ '%999999999d' % 1 }}",
    "a format filter's width": "{{ '%999999999d'|format(1) }}",
    "a format's width as argument": "{{ '%*d'|format(10**9, 1) }}",
    "str.format's width": "{{ '{:>999999999}'.format(1) }}",
    "str.format's nested width": "{{ '{:>{w}}'.format(1, w=10**9) }}",
    "many widths": "{{ ('%99999d' * 9999) % 1 }}",
    "replacing nothing": "{{ ('x' * 99999).replace('', 'y' * 99999) }}",
    "replacing by a filter": "{{ ('x' * 99999)|replace('x', 'y' * 99999) }}",
    "joining": "{{ ('y' * 99999).join(range(99999)|map('string')) }}",
    "joining by a filter": "{{ range(99999)|join('y' * 99999) }}",
    "summing lists": "{{ ([[0]] * 99999)|sum(start=[]) }}",
    "slices": "{{ [1]|slice(10**9)|list }}",
    "batches": "{{ [1]|batch(10**9, 'x')|list }}",
    "rounding": "{{ 1.5|round(10**9, 'ceil') }}",
    "words": "{{ lipsum(10**9) }}",
    "tabs": "{{ ('\\t' * 9999).expandtabs(99999) }}",
    "bytes": "{{ (1).to_bytes(10**9, 'big') }}",
    "a macro calling itself": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "macros calling each other": "{% macro f() %}{{ g() }}{% endmacro %}"
    "{% macro g() %}{{ f() }}{% endmacro %}{{ f() }}",
    "a macro doubling": "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n else 'x' }}{% endmacro %}"
    "{{ f(40) }}",
    "a recursive loop": "{% for i in [1] recursive %}{{ loop([1]) }}{% endfor %}",
    "nesting in an expression": "{{ " + "(" * 50_000 + "1" + ")" * 50_000 + " }}",
    "a long sum": "{{ " + "1+" * 50_000 + "1 }}",
    "many filters": "{{ x" + "|upper" * 50_000 + " }}",
    "nested blocks": "{% if x %}" * 20_000,
    "nested lists": "{{ " + "[" * 50_000 + " }}",
    "lines indented": "{{ ('\\n' * 900000)|indent(99999, true, true)|length }}",
    "lines indented with a text": "{{ ('\\n' * 9000)|indent('b' * 99999, true, true)|length }}",
    "items of JSON indented": "{{ range(100000)|list|tojson(indent=20000)|length }}",
    "words wrapped with a text": "{{ ('a ' * 9999)|wordwrap(1, wrapstring='b' * 200000) }}",
    "a list wrapped": "{{ (['%s' * 100000] * 9999)|wordwrap(7, wrapstring='ab') }}",
    "urls with a target": "{{ ('http://a.b ' * 1000)|urlize(target='b' * 900000) }}",
    "one text often in a list": "{{ ['a' * 900000] * 9999 }}",
    "one text often in JSON": "{{ (['a' * 900000] * 9999)|tojson }}",
    "one text often, joined": "{{ ([['a' * 900000]] * 9999)|join }}",
    "one text often, sorted": "{{ (['A' * 900000] * 9999)|sort|length }}",
    "one text often, once": "{{ ([('a ' * 100000)] * 100000)|unique|select|list }}",
    "one text often, the least of it": "{{ (['A' * 900000] * 9999)|min|length }}",
    "one text often, the most of it": "{{ (['A' * 900000] * 9999)|max|length }}",
    "one text often, formatted": "{{ '%s'|format(['a' * 900000] * 9999) }}",
    "one number often": "{{ [10**4000] * 9999 }}",
    "one key often": "{{ [{'a' * 900000: 1}] * 9999 }}",
    "tags of html": "{{ ('<a' * 400000)|striptags }}",
    "urls": "{{ ('http://' * 100000)|urlize }}",
    "white space in a tag": "{{" + " " * 1_000_000,
    "raw without an end": "{% raw %}" * 20_000,
    "comments without an end": "{#" * 200_000,
    "a too long template": "x" * 6_000_000,
}


@pytest.mark.parametrize("template", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_template_ends_in_a_placed_problem(template: str) -> None:
    with soon():
        rendering = render_template(template, {"x": True}, format="jinja2")

    assert rendering.problems
    assert all(p.code in ("template-limit", "template-syntax") for p in rendering.problems)
    assert all(p.span.end <= len(template) for p in rendering.problems)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ 'aaa'|truncate(-10) }}", "Expected length >= 3, got -10."),
        ("{{ '\\ud800' }}", "\\ud800 is half of a character; write both halves."),
        ("{{ '\\ud800' ~ 1 }}", "half of a character"),
        ("{% autoescape true %}{{ 1 }}{% endautoescape %}", "'autoescape' has no effect here"),
    ],
)
def test_what_jinja_fails_at_is_a_placed_problem(template: str, message: str) -> None:
    rendering = render_template(f"a {template} b", {}, format="jinja2")
    (problem,) = rendering.problems
    assert message in problem.message
    assert problem.span.start >= 2
    assert rendering.text.startswith("a ")
    assert rendering.text.endswith(" b")


@pytest.mark.parametrize("path", ["x" + ".a" * 10_000, "x" + "[0]" * 200 + ".a" * 5_000])
def test_the_fields_of_a_long_path_are_followed_to_a_bound(path: str) -> None:
    with soon():
        document = parse(f"---\ninputs: {{x: {{kind: object}}}}\n---\nuser:\n{{{{ {path} }}}}\n")
    assert max((len(use.path) for use in document.fields), default=0) <= MOST_PARTS


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from Linux")
def test_hostile_templates_stay_small_in_memory() -> None:
    resource = pytest.importorskip("resource")
    program = (
        "from pathlib import Path\n"
        "from studio.core.prompty.templates import render_template\n"
        "from tests.core.prompty.templates.test_bounds import HOSTILE\n"
        "for template in HOSTILE.values():\n"
        "    render_template(template, {'x': True}, format='jinja2')\n"
        # Not `ru_maxrss`: a child begins with that of the process that forked it.
        "lines = Path('/proc/self/status').read_text(encoding='utf-8').splitlines()\n"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[4],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)),
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500_000, "more than 500 MB"


def _rendered(template: str, bounds: Bounds) -> Rendering:
    return render_template(template, {"xs": list(range(50))}, format="jinja2", bounds=bounds)


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        (Bounds(steps=20), "20 steps"),
        (Bounds(output=10), "10 characters"),
        (Bounds(seconds=-1.0), "longer than"),
        (Bounds(template=5), "most"),
    ],
)
def test_each_bound_says_which_it_is(bounds: Bounds, reason: str) -> None:
    rendering = _rendered(
        "{% for x in xs %}{{ x }},{% for y in xs %}{% endfor %}{% endfor %}", bounds
    )

    assert [problem.code for problem in rendering.problems] == ["template-limit"]
    assert reason in rendering.problems[0].message


def test_what_was_rendered_before_a_bound_stays() -> None:
    rendering = _rendered("first {{ xs[0] }} {{ 'x' * 10**9 }} last", Bounds())

    assert rendering.text == "first 0 "


@pytest.mark.parametrize("format_", ["mustache", "fstring"])
def test_bounds_hold_for_the_other_languages(format_: str) -> None:
    template = {
        "mustache": "{{#xs}}{{#xs}}{{#xs}}{{#xs}}x{{/xs}}{{/xs}}{{/xs}}{{/xs}}",
        "fstring": "{xs:999999999}{xs!r:>999999999}",
    }[format_]
    rendering = render_template(
        template,
        {"xs": list(range(100))},
        format=format_,  # type: ignore[arg-type]
        bounds=Bounds(steps=10_000),
    )

    assert rendering.problems[-1].code == "template-limit"


def test_ordinary_large_inputs_are_no_bound() -> None:
    """A list of 2,000 items with ten values each is a prompt that people write."""
    items = [{f"k{i}": "v" * 20 for i in range(10)} for _ in range(2_000)]
    template = (
        "{% for item in items %}{% for k, v in item.items() %}{{ k }}={{ v|trim }} {% endfor %}\n"
        "{% endfor %}"
    )

    rendering = render_template(
        template, {"items": items}, format="jinja2", bounds=Bounds(seconds=20)
    )

    assert rendering.problems == ()
    assert len(rendering.text) == 2_000 * (10 * 24 + 1)
