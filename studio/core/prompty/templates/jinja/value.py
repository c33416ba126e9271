"""The type of what a template computes with."""

from __future__ import annotations

from typing import Any, TypeAlias

Value: TypeAlias = Any
"""Inputs are JSON, but filters and methods make anything: iterators, ranges, Jinja's objects."""
