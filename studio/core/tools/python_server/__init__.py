"""The server of a Python file of tools, for any Python from 3.9 on.

It is started by the interpreter of the user's own environment, so this folder may only use the
standard library, and pydantic if that environment has it.
"""
