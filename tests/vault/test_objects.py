"""Git's objects made as bytes: plain git reads from them what was put in."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable

import pytest

from vault import Vault
from vault.objects import Tree, is_folder, named, put, tree_of

Git = Callable[..., str]


@pytest.mark.parametrize("size", [0, 1, 500, 65_520, 65_524, 65_525, 65_535, 65_536, 300_000])
def test_plain_git_reads_an_object_of_any_size(vault: Vault, git: Git, size: int) -> None:
    """Those that are stored as they are and those that are pressed, at the limit between them too."""
    data = random.Random(size).randbytes(size)
    identity, file = named("blob", data)
    put(vault.root / ".git/objects", identity, file)

    call = ["git", "cat-file", "blob", identity]
    assert subprocess.run(call, cwd=vault.root, capture_output=True, check=True).stdout == data
    git("fsck", "--full", "--strict")


def test_a_tree_changed_in_place_is_the_tree_made_anew() -> None:
    """Files and folders that change, come, go and take each other's name, some of which may be run."""
    dice = random.Random(2)
    names = [b"a", b"a.md", b"a-b", b"a0", b"b", b"x 100644 a.md", b"\xff"]
    tree, entries = Tree.of(b""), dict[bytes, tuple[bytes, bytes]]()
    for _ in range(400):
        changes = dict[bytes, tuple[bool, str | None]]()
        for name in dice.sample(names, dice.randint(1, 3)):
            folder, identity = dice.random() < 0.3, dice.randbytes(20) if dice.random() < 0.8 else None
            changes[name] = folder, None if identity is None else identity.hex()
            mode, _ = entries.pop(name, (b"", b""))
            if identity is not None:
                kept = mode == b"100755" and not folder
                entries[name] = (mode if kept else b"40000" if folder else b"100644"), identity
        tree = tree.changed(changes)
        assert tree.raw == tree_of(entries)
        assert Tree.of(tree.raw) == tree
        for name in names:
            mode, identity = entries.get(name, (b"", b""))
            assert tree.folder(name) == (identity.hex() if is_folder(mode) else None)
            assert tree.entry(name) == ((int(mode, 8), identity.hex()) if mode else None)
        if b"a" in entries and entries[b"a"][0] == b"100644" and dice.random() < 0.3:
            entries[b"a"] = b"100755", entries[b"a"][1]
            tree = Tree.of(tree_of(entries))


def test_a_damaged_tree_is_no_tree() -> None:
    """Bytes between, before or after the entries are refused, whole entries are not."""
    whole = tree_of({b"a": (b"100644", bytes(20)), b"b": (b"40000", bytes(range(20)))})
    assert Tree.of(whole).raw == whole
    for damaged in (whole[:-1], whole + b"1", b"x" + whole, whole[:28] + b"x" + whole[28:]):
        with pytest.raises(ValueError, match="damaged"):
            Tree.of(damaged)
