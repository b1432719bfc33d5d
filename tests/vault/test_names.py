"""Names of notes on other systems: what Windows or a Mac would take for another note, or not at all."""

from __future__ import annotations

import pytest

from vault import Author, Refused, Vault


@pytest.mark.parametrize(
    "path",
    [
        "people/ANN.md",
        "People/bob.md",
        "heartb~1/evil.md",
        "HEARTB~1.MD/x.md",
        "people/AGENTS~1.md",
        "con.md",
        "people/aux.notes.md",
        "COM1/x.md",
        "people/what?.md",
        'people/"ann".md',
        "people/a|b.md",
        "people/an\ufe0fn.md",
        "AGENTS\u034f.md",
        "people/ann\u3164.md",
        "people/a\u00a0b.md",
        "people/Gro\u0308\u00dfe.md",
    ],
)
def test_a_new_name_means_the_same_on_every_system(vault: Vault, path: str) -> None:
    """A clone on Windows or a Mac would take it for another note, or not at all, and lose one of them there."""
    with pytest.raises(Refused) as refused:
        vault.draft().write(path, "x\n")

    assert "\n" not in str(refused.value)


def test_two_spellings_in_one_run_are_one_note(vault: Vault) -> None:
    """The second spelling is refused with the name of the first, before anything is on the disk."""
    draft = vault.draft()
    draft.write("people/Bob.md", "x\n")

    with pytest.raises(Refused, match=r"there is people/Bob\.md already"):
        draft.append("people/bob.md", "y\n")
    with pytest.raises(Refused, match=r"there is people/ann\.md already"):
        draft.append("people/Ann.md", "y\n")
    with pytest.raises(Refused, match="there is people already"):
        draft.append("PEOPLE/new.md", "y\n")


@pytest.mark.parametrize("name", ["what?.md", "Gro\u0308\u00dfe.md", "con.md", "ANN.md"])
def test_a_persons_own_names_are_written_to(vault: Vault, author: Author, name: str) -> None:
    """A note that a person has named so is read and appended to as any other."""
    (vault.root / "people" / name).write_text("By hand.\n")
    draft = vault.draft()
    draft.append(f"people/{name}", "The agent's.\n")

    assert draft.commit("ours", {}, author) is not None
    assert (vault.root / "people" / name).read_text() == "By hand.\nThe agent's.\n"
