"""What search costs in a vault of many notes, beside `git grep`, `grep -r` and (where it is there) ripgrep, in one run.

The notes are made of words whose frequencies fall as in a natural language.  Wall time in milliseconds, the best of a
few repetitions with warm caches for everybody; greps only list files, search also ranks them and cuts excerpts.
Usage: python benchmarks/vault_search.py [NOTES]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from vault import Author, Vault
from vault.search import FILE

ENVIRONMENT = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
VOCABULARY, WORDS_A_NOTE, A_FOLDER = 30_000, 120, 200
REPETITIONS = 5


def git(root: Path, *arguments: str, text: bytes = b"") -> None:
    """Run plain git in a repository."""
    subprocess.run(["git", *arguments], cwd=root, env=ENVIRONMENT, input=text, check=True, capture_output=True)


def words(seed: int) -> list[str]:
    """Return made words of two to five syllables, each once."""
    dice = random.Random(seed)
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    made = dict[str, None]()
    while len(made) < VOCABULARY:
        made["".join(dice.choices(syllables, k=dice.randint(2, 5)))] = None
    return list(made)


def notes(count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Give (path, text) of so many notes; the last one holds the only mention of INC-4711."""
    dice, vocabulary = random.Random(seed), words(seed)
    weights = [1 / (rank + 2) for rank in range(VOCABULARY)]
    for number in range(count):
        said = dice.choices(vocabulary, weights, k=WORDS_A_NOTE)
        lines = "\n".join(" ".join(said[at : at + 12]) + "." for at in range(0, WORDS_A_NOTE, 12))
        more = "\nINC-4711 was closed by Ann.\n" if number == count - 1 else "\n"
        yield f"folder-{number // A_FOLDER}/note-{number}.md", f"# {said[0]} {number}\n\n{lines}{more}"


def filled(root: Path, count: int) -> Path:
    """Make a repository of so many notes, written by one `git fast-import` and checked out."""
    git(root.parent, "init", "-q", "-b", "main", str(root))
    parts = [b"commit refs/heads/main\ncommitter a <a@b> 1790000000 +0000\ndata 5\nbegin\n"]
    for path, text in notes(count):
        data = text.encode()
        parts.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    git(root, "fast-import", "--quiet", text=b"".join(parts))
    git(root, "checkout", "-q", "-f", "main")
    return root


def best(act: Callable[[], object], times: int = REPETITIONS) -> float:
    """Return the least wall time of an act, in milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        act()
        taken.append(time.perf_counter() - began)
    return min(taken) * 1e3


def greps(root: Path, word: str) -> dict[str, float]:
    """Return what it costs others to list the notes with a word, in any case."""
    commands = {
        "git grep": ["git", "grep", "-l", "-i", "-F", word],
        "grep -r": ["grep", "-r", "-l", "-i", "-F", "--exclude-dir=.git", word, "."],
        "ripgrep": ["rg", "-l", "-i", "-F", word],
    }

    def run(command: list[str]) -> None:
        subprocess.run(command, cwd=root, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=False)

    return {name: best(lambda c=command: run(c), 3) for name, command in commands.items() if shutil.which(command[0])}  # type: ignore[misc]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("notes", nargs="?", type=int, default=10_000, help="notes in the vault (10000)")
    count = parser.parse_args().notes
    vocabulary = words(1)
    asked = {
        "one note has it": "INC-4711",
        "a rare word": vocabulary[20_000],
        "a frequent word": vocabulary[200],
        "a task of 40 words": " ".join(vocabulary[10:400:10]),
    }
    with tempfile.TemporaryDirectory() as place:
        root = filled(Path(place, "vault"), count)
        with Vault.open(root) as vault:
            built = best(vault.shelf.rebuild, 1)
            size = (vault.own / FILE).stat().st_size
            text = sum(file.stat().st_size for file in root.glob("folder-*/*.md"))
            looked = best(lambda: vault.shelf.read(lambda _: None), 3)
            found = {what: best(lambda q=query: vault.draft().search(q, 8)) for what, query in asked.items()}  # type: ignore[misc]
            pending = vault.draft()
            pending.write("pending.md", "INC-4712 is open.\n")
            unkept = best(lambda: pending.search("INC-4712", 8))

            each = questions(vocabulary)
            taken_by_each = sorted(best(lambda q=query: vault.draft().search(q, 8), 1) for query in each)  # type: ignore[misc]
            commits = sorted(after_commit(vault, number) for number in range(20))
            edits = sorted(after_edit(vault, number) for number in range(5))
        others = greps(root, asked["one note has it"])
    print(f"{count:,} notes of {WORDS_A_NOTE} words, {text / 1e6:.0f} MB")
    print(f"  the index: {size / 1e6:.0f} MB, built in {built / 1e3:.1f} s")
    for what, taken in found.items():
        print(f"  search: {what:<22} {taken:9.2f} ms")
    print(f"  search: with an unkept note    {unkept:9.2f} ms")
    middle, most = taken_by_each[len(each) // 2], taken_by_each[len(each) * 95 // 100]
    print(f"  {len(each)} questions of 1 to 12 words, each once: p50 {middle:.2f} ms, p95 {most:.2f} ms")
    print(f"  first search after a commit    {commits[10]:9.2f} ms (median: it brings the index up to date)")
    print(f"  a look at every file           {looked:9.2f} ms (these take at most a twentieth of the time)")
    print(f"  one note edited by hand        {edits[2]:9.2f} ms (median: such a look, and the note is read again)")
    for name, taken in others.items():
        ratio = taken / found["one note has it"]
        print(f"  {name:<8}: one note has it      {taken:9.2f} ms   {ratio:8.0f} times as long as search")


def questions(vocabulary: list[str], count: int = 200) -> list[str]:
    """Return questions whose words are as frequent as in the notes."""
    dice, weights = random.Random(2), [1 / (rank + 2) for rank in range(VOCABULARY)]
    return [" ".join(dice.choices(vocabulary, weights, k=dice.randint(1, 12))) for _ in range(count)]


def after_edit(vault: Vault, number: int) -> float:
    """Edit a note by hand, in place; return what a search costs that has to find it, in milliseconds."""
    note = vault.root / f"folder-0/note-{number}.md"
    with note.open("a") as file:
        file.write(f"EDIT-{number} by hand\n")
    began = time.perf_counter()
    hits = vault.shelf.search(f"EDIT-{number}", 8, {}, fresh=True)
    assert hits[0].path == f"folder-0/note-{number}.md"
    return (time.perf_counter() - began) * 1e3


def after_commit(vault: Vault, number: int) -> float:
    """Commit a line of the journal; return what the next search costs, in milliseconds."""
    draft = vault.draft()
    draft.append("journal.md", f"- entry {number}")
    draft.commit("note", {}, Author("a", "a@b", datetime.now(UTC)))
    return best(lambda: vault.draft().search("INC-4711", 8), 1)


if __name__ == "__main__":
    main()
