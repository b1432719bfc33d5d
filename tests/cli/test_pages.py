"""The generated pages say what the commands say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    """docs/cli.md is generated and up to date."""
    done = subprocess.run(
        [sys.executable, ROOT / "scripts/write_docs.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stdout + done.stderr)


def test_the_readme_names_only_files_that_exist() -> None:
    """Every relative link of README.md and CONTRIBUTING.md leads somewhere."""
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        links = [part.split(")")[0].split("#")[0] for part in text.split("](")[1:]]

        assert [] == [link for link in links if "://" not in link and link and not (ROOT / link).exists()]
