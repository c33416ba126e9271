"""Jinja2 templates: read by Jinja's own grammar, run step by step, each piece with its place.

Only this package imports jinja2. Its lexer rules, parser, filters, tests and sandbox do the work;
its compiler is not used: compiled output forgets where it came from, cannot be bounded, and costs
more than all else together at a keystroke (measured at 6,000 lines: 227 ms, against 20 ms here).
"""
