"""`make model`: tokenizer, training run, GGUF, its SHA-256, evaluation. One command, one seed, from nothing."""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
from pathlib import Path

from training.corpus.conversation import TEMPLATE

SHIPPED = TEMPLATE.parent
TOKENS = 12_000_000
"""About what the shipped model saw (tokens, packing included)."""


def _run(*command: str) -> None:
    """Each stage is a process of its own: torch's memory is given back before llama.cpp measures."""
    subprocess.run([sys.executable, "-m", *command], check=True)


def record_sha256(model: Path, package: Path) -> str:
    """Write the hash of the model into the package that ships it."""
    sha256 = hashlib.sha256(model.read_bytes()).hexdigest()
    package.write_text(re.sub(r'SHA256 = "[0-9a-f]*"', f'SHA256 = "{sha256}"', package.read_text()))
    return sha256


def main() -> None:
    """Command line of the build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/model"))
    parser.add_argument("--tokens", type=float, default=TOKENS)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    target = SHIPPED / "watchkeeper.gguf"
    _run("training.train", "--build", str(given.build), "--tokens", str(given.tokens), "--seed", str(given.seed))
    _run("training.export", "--build", str(given.build), "--target", str(target))
    print("sha256", record_sha256(target, SHIPPED / "__init__.py"))
    _run("training.evaluate", "--model", str(target))


if __name__ == "__main__":
    main()
