"""A patch taken apart: lines, and the words that changed in them."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from vault import Author, Vault
from vault.edit import Edit
from vault.patch import lines

TEXTS = some.lists(
    some.sampled_from(
        ["-- a", "++ b", "@@ -1 +1 @@", "\\ No", "", " x y z", "x y z", "diff --git", "\u2028", "\r", "é"]
    ),
    max_size=7,
)


def patch_of(vault: Vault, number: int, before: str, after: str) -> str:
    """The patch of a commit that changes a note so."""
    author = Author("trimtab", "t@localhost", datetime(2026, 11, 20, tzinfo=UTC))
    path = f"{number}.md"
    vault.commit({path: Edit(text=before.encode())}, "before", author, {})
    kept = vault.commit({path: Edit(before.encode(), text=after.encode())}, "after", author, {})
    found = vault.git.find(kept.commit) if kept else None
    return "" if found is None else next(iter(vault.git.changes(found))).patch


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(before=TEXTS, after=TEXTS)
def test_no_line_of_a_note_passes_for_a_part_of_the_patch(vault: Vault, before: list[str], after: list[str]) -> None:
    """The removed and kept lines are the old text, the added and kept ones the new, whatever they look like."""
    number = len(list(vault.root.glob("*.md")))
    old, new = "".join(f"{x}\n" for x in ["start", *before]), "".join(f"{x}\n" for x in ["start", *after, "end"])
    shown = list(lines(patch_of(vault, number, old, new)))

    body = [line for line in shown if line.sort in " -+"]
    assert all(line.text in old.split("\n") for line in body if line.sort != "+")
    assert [line.text for line in body if line.sort == "+" or line.sort == " "][-1] == "end"
    added, removed = (sum(line.sort == sort for line in body) for sort in "+-")
    assert added - removed == len(new.split("\n")) - len(old.split("\n"))


def test_changed_words_are_marked(vault: Vault) -> None:
    """In a line that was changed only the words that differ are; a wholly new line has no marks."""
    shown = [
        x for x in lines(patch_of(vault, 1, "Ann likes tea a lot.\nBob.\n", "Ann likes cake a lot.\nBob.\nEve.\n"))
    ]

    changed = {line.sort: [text for text, marked in line.parts if marked] for line in shown if line.marked}
    assert changed == {"-": ["tea"], "+": ["cake"]}
    assert ("+", "Eve.", False) in [(line.sort, line.text, line.marked) for line in shown]


def test_a_missing_newline_at_the_end_is_no_line(vault: Vault) -> None:
    """Git's remark about it is not taken for text."""
    shown = list(lines(patch_of(vault, 1, "one", "two words here")))

    assert [line.text for line in shown if line.sort == "+"] == ["two words here"]


def test_what_cannot_be_shown_says_so(vault: Vault, tmp_path: Path) -> None:
    """A binary file, a large one, a link: no patch, and a reason; attributes hide nothing."""
    (vault.root / ".gitattributes").write_text("*.md -diff -text binary\n")
    (vault.root / "people/ann.md").write_text("Ann likes cake.\n")
    (vault.root / "picture.md").write_bytes(b"\x00\x01")
    (vault.root / "large.md").write_bytes(b"x\n" * 2_000_000)
    (vault.root / "link.md").symlink_to("/etc/passwd")
    for command in (["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", *command], cwd=vault.root, check=True)
    newest = next(iter(vault.git.history(vault.head)))
    changes = {change.path: change for change in vault.git.changes(newest)}

    assert "+Ann likes cake." in changes["people/ann.md"].patch
    assert changes["picture.md"].unshown.startswith("a binary file: 0 bytes before, 2 after")
    assert changes["large.md"].unshown.startswith("too large to show")
    assert changes["link.md"].unshown == "a link or a nested repository"
    assert not any(changes[path].patch for path in ("picture.md", "large.md", "link.md"))
