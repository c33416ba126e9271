"""Start the server: `PYTHON path/to/python_server FILE`, with any Python from 3.9 on.

This file also runs with older versions, so that they can report that they are too old.
"""

import os
import sys


def _serve():  # type: ignore[no-untyped-def] # noqa: ANN202 - older ones read it
    """Import this folder under a separate name, so that no other module can replace its own."""
    import importlib
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != here]
    if sys.path and sys.path[0] == "":
        del sys.path[0]
    sys.dont_write_bytecode = True  # of another Python, beside the studio's
    spec = importlib.util.spec_from_file_location(
        "prompt_studio_tools", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["prompt_studio_tools"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("prompt_studio_tools.serve").main()


if __name__ == "__main__":
    if sys.version_info < (3, 9):
        sys.exit("tools run in Python 3.9 or later, this is " + sys.version.split()[0])
    sys.exit(_serve())  # type: ignore[no-untyped-call]
