"""The server of a Python file of tools, which runs in any Python from 3.9 on.

It is started as a program by the interpreter of the user's own environment, so nothing in this
folder may know anything but the standard library; pydantic is used where that environment has it.
"""
