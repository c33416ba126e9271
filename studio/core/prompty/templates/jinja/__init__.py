"""Jinja2 templates: read by Jinja's own grammar, run step by step so that every piece keeps its place.

Only this package imports jinja2. Its lexer rules, parser, filters, tests and sandbox do the work;
its compiler is not used, because compiled output forgets where it came from, cannot be bounded, and
costs more than everything else together on a keystroke (measured at 6,000 lines: 227 ms against 20).
"""
