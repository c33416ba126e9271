"""The frozen program's first line."""

from __future__ import annotations

import sys

from studio.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
