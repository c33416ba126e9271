"""Operations on argument schemas."""

from __future__ import annotations

from studio.core.tools.forms import required_names
from studio.core.tools.python_server.schemas import inline_references, without_titles
from studio.core.tools.toolbox import with_constraints, without_properties


def test_references_are_put_in_place() -> None:
    schema = {
        "$defs": {
            "P": {"type": "object", "properties": {"q": {"$ref": "#/$defs/Q"}}},
            "Q": {"type": "string"},
        },
        "properties": {"a": {"$ref": "#/$defs/P", "description": "told"}},
    }
    assert inline_references(schema) == {
        "properties": {
            "a": {
                "type": "object",
                "properties": {"q": {"type": "string"}},
                "description": "told",
            }
        }
    }


def test_recursive_references_are_kept() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}
    inlined = inline_references({"$defs": {"N": node}, "properties": {"n": {"$ref": "#/$defs/N"}}})
    assert inlined["$defs"] == {"N": node}


def test_titles_go_and_a_property_of_that_name_stays() -> None:
    schema = {
        "title": "f",
        "properties": {"title": {"title": "Title", "type": "string"}, "x": {"title": "X"}},
    }
    assert without_titles(schema) == {"properties": {"title": {"type": "string"}, "x": {}}}


def test_constraints_come_from_the_implementation_where_none_are_declared() -> None:
    declared = {"properties": {"a": {"type": "string", "enum": ["x"]}, "b": {"type": "integer"}}}
    implemented = {
        "properties": {
            "a": {"enum": ["x", "y"], "pattern": "^x"},
            "b": {"minimum": 1, "description": "theirs"},
            "c": {"type": "string"},
        }
    }
    assert with_constraints(declared, implemented) == {
        "properties": {
            "a": {"type": "string", "enum": ["x"], "pattern": "^x"},
            "b": {"type": "integer", "minimum": 1},
        }
    }


def test_bound_parameters_leave_properties_and_required() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    assert without_properties(schema, ["b"]) == {
        "type": "object",
        "properties": {"a": {}},
        "required": ["a"],
    }
    assert "required" not in without_properties(schema, ["a", "b"])
    assert required_names(schema) == ("a", "b")
    assert required_names({"required": "a"}) == ()
