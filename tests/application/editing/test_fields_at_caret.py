"""The fields that are offered at the caret: exact through loops and assignments, else none."""

from __future__ import annotations

import pytest

from studio.application.editing.hover import hover
from studio.application.editing.offers import complete
from studio.core.prompty.parse import parse

FRONT = """---
name: Trip
inputs:
  customer:
    kind: object
    sample: {name: Ana, address: {city: Rome, zip: 1}, orders: [{sku: A, parts: [{id: 1}]}]}
  items:
    kind: array
    default: [{sku: A, parts: [{id: 3}]}, {sku: B, price: 2}]
  grid:
    kind: array
    default: [[{cell: 1}]]
---
user:
"""
ITEM = ["sku", "parts", "price"]
CUSTOMER = ["name", "address", "orders"]

JINJA = [
    ("{{ customer.| }}", CUSTOMER),
    ("{{ customer.address.| }}", ["city", "zip"]),
    ("{{ customer['|'] }}", CUSTOMER),
    ('{{ customer["ad|"] }}', ["address"]),
    ("{{ customer.orders[0].parts[0].| }}", ["id"]),
    ("{{ items[0].| }}", ITEM),
    ("{{ (items | first).| }}", ITEM),
    ("{{ items.| }}", []),
    ("{% for it in items %}{{ it.| }}", ITEM),
    ("{% for it in items %}{% for p in it.parts %}{% if p.| %}", ["id"]),
    ("{% for it in items if it.| %}x{% endfor %}", ITEM),
    ("{% for it in items | sort(attribute='sku') %}{{ it.| }}{% endfor %}", ITEM),
    ("{% for it in items[0].parts %}{{ it.| }}{% endfor %}", ["id"]),
    ("{% for r in grid %}{% for c in r %}{{ c.| }}{% endfor %}{% endfor %}", ["cell"]),
    ("{% set c = customer.address %}{{ c.| }}", ["city", "zip"]),
    ("{% set f = items | first %}{{ f.| }}", ITEM),
    ("{% with a = customer %}{{ a.| }}{% endwith %}", CUSTOMER),
    ("{% for customer in items %}{{ customer.| }}{% endfor %}", ITEM),
    # What changes the shape, or is bound to what nobody knows, has no fields that are known.
    ("{% for it in items | map(attribute='sku') %}{{ it.| }}{% endfor %}", []),
    ("{% for it in items | groupby('sku') %}{{ it.| }}{% endfor %}", []),
    ("{% macro m(customer) %}{{ customer.| }}{% endmacro %}", []),
    ("{% for it in items %}{% endfor %}{{ it.| }}", []),
    ("{# {{ customer.| }} #}", []),
    ("{{ loop.| }}", []),
    ("{{ items | customer.| }}", []),  # the name of a filter
]

MUSTACHE = [
    ("{{customer.|}}", CUSTOMER),
    ("{{#customer}}{{address.|}}{{/customer}}", ["city", "zip"]),
    ("{{#items}}x{{/|}}", ["items"]),
    ("{{/it|}}", []),
    ("{{ customer | up|}}", []),
]


@pytest.mark.parametrize(("body", "labels"), JINJA)
def test_in_jinja(body: str, labels: list[str]) -> None:
    before, _, after = body.rpartition("|")
    text = f"{FRONT}{before}{after}"
    found = complete(text, len(FRONT) + len(before), parse(text), asked=True)
    assert [each.label for each in found.items] == labels


@pytest.mark.parametrize(("body", "labels"), MUSTACHE)
def test_in_mustache(body: str, labels: list[str]) -> None:
    front = FRONT.replace("inputs:", "template: {format: {kind: mustache}}\ninputs:")
    before, _, after = body.rpartition("|")
    text = f"{front}{before}{after}"
    found = complete(text, len(front) + len(before), parse(text), asked=True)
    assert [each.label for each in found.items] == labels


def test_a_section_offers_its_own_fields_first() -> None:
    front = FRONT.replace("inputs:", "template: {format: {kind: mustache}}\ninputs:")
    before = "{{#items}}{{#parts}}{{"
    text = f"{front}{before}}}}}{{{{/parts}}}}{{{{/items}}}}"
    found = complete(text, len(front) + len(before), parse(text), asked=True)
    assert [each.label for each in found.items][:5] == ["id", "sku", "parts", "price", "customer"]


def test_what_a_loop_tells_has_its_documentation() -> None:
    text = f"{FRONT}{{% for it in items %}}{{{{ loop.revindex }}}}{{{{ it.sku }}}}{{% endfor %}}\n"
    document = parse(text)
    assert "How many items are left" in hover(document, (), text.index("revindex") + 2)
    assert "A" in hover(document, (), text.rindex("sku") + 1)
    offers = complete(text, text.index("revindex"), document, asked=True).items
    assert {each.label: each.detail for each in offers}["first"] == "Whether it is the first item."
