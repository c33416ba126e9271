"""Jinja2 templates: parsed with Jinja's grammar, run step by step, with the span of each piece.

Only this package imports jinja2. It uses Jinja's lexer rules, parser, filters, tests and sandbox,
but not its compiler: compiled output has no spans, cannot be limited, and takes longer than
everything else at a keystroke (measured at 6,000 lines: 227 ms, against 20 ms here).
"""
