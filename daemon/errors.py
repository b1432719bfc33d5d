"""Every error that a person may see, each with the exit code that its kind deserves.

    TrimtabError                 1  something failed
    ├── ConfigError             78  a file that a person wrote is wrong (EX_CONFIG: systemd does not restart on it)
    ├── UsageError               2  a command was called wrongly
    ├── AlreadyRunning          75  another daemon holds this agent directory (EX_TEMPFAIL)
    ├── StorageError            74  the disk or the database does not work (EX_IOERR)
    ├── ModelError               1  the model answered, but not usefully
    │   └── ModelUnavailable     1  no answer can be had from it now
    └── ToolError                1  a tool call that the model should hear about; never ends a run

The message is one line that says what, where and what was expected.
"""

from __future__ import annotations


class TrimtabError(Exception):
    """Something failed."""

    exit_code = 1


class ConfigError(TrimtabError):
    """A file that a person wrote is wrong."""

    exit_code = 78

    def __init__(self, file: object, key: str, expected: str) -> None:
        self.file, self.key, self.expected = str(file), key, expected
        super().__init__(f"{file}: {key}: {expected}" if key else f"{file}: {expected}")


class UsageError(TrimtabError):
    """A command was called wrongly."""

    exit_code = 2


class AlreadyRunning(TrimtabError):
    """Another daemon holds this agent directory."""

    exit_code = 75


class StorageError(TrimtabError):
    """The disk or the database does not work."""

    exit_code = 74


class ModelError(TrimtabError):
    """The model answered, but not usefully."""


class ModelUnavailable(ModelError):
    """No answer can be had from the model now."""


class ToolError(TrimtabError):
    """A tool call that the model should hear about; it becomes a failed result and never ends a run."""
