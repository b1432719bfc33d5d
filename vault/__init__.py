"""A memory of Markdown notes in a git repository: written at once, committed safely, readable with plain git.

It knows nothing of agents or models.  `Vault.open(path).draft()` gives the notes of one run.
"""

from vault.author import Author
from vault.draft import Draft
from vault.errors import (
    Busy,
    Clash,
    Corrupt,
    NoSuchNote,
    NoSuchProposal,
    NotAVault,
    NotReady,
    Refused,
    Unwritable,
    VaultError,
)
from vault.git import Change, Commit
from vault.note import Note, parse, render
from vault.search import Hit
from vault.vault import Vault
from vault.work import Kept

__all__ = [
    "Author",
    "Busy",
    "Change",
    "Clash",
    "Commit",
    "Corrupt",
    "Draft",
    "Hit",
    "Kept",
    "NoSuchNote",
    "NoSuchProposal",
    "NotAVault",
    "NotReady",
    "Note",
    "Refused",
    "Unwritable",
    "Vault",
    "VaultError",
    "parse",
    "render",
]
