"""Every way a vault says no: VaultError for a repository that cannot be used, Refused for a write against the rules.

The message is one line that says what, where and what helps; a person or a model can act on it.
"""

from __future__ import annotations


class VaultError(Exception):
    """The vault cannot do what was asked."""


class NotAVault(VaultError):
    """There is no ordinary git repository with a worktree here."""


class NotReady(VaultError):
    """The repository is in the middle of a person's work: a merge, a detached HEAD, another branch."""


class Unwritable(VaultError):
    """The disk or its permissions do not let us write."""


class Corrupt(VaultError):
    """An object or a reference that must be there cannot be read."""


class Busy(VaultError):
    """Another process holds a lock for longer than we wait."""


class Refused(VaultError):
    """A read or a write against the rules; the text says what to do instead."""


class Clash(Refused):
    """A change touches what somebody else has changed since; nothing was done."""


class NoSuchProposal(VaultError):
    """There is no proposal of this name."""


class NoSuchNote(VaultError):
    """There is no note of this name."""
