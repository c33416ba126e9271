"""Prompt Studio: a desktop studio for prompts and agents kept as files."""

__version__ = "0.3.0"
