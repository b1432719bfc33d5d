"""The guards measured: run it as `python benchmarks/guards.py [FOLDER...]`; the tables are made in measure.py.

Its name is that of the package it measures: scripts beside it that say `import guards` find this file first, and it
steps aside for the package.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def _step_aside() -> None:
    here, kept = Path(__file__).resolve().parent, list(sys.path)
    sys.path[:] = [entry for entry in kept if Path(entry or ".").resolve() != here]
    del sys.modules[__name__]
    try:
        importlib.import_module(__name__)
    finally:
        sys.path[:] = kept


if __name__ == "guards":
    _step_aside()

if __name__ == "__main__":
    importlib.import_module("measure").main()
