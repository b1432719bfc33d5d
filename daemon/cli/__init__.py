"""The command line: one file per group of commands; this one finds the agent directory and says what went wrong."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run `trimtab`; a failure is one line on standard error and an exit code that says of which kind it was."""
    _import_structlog_plainly()
    from daemon.cli.root import command, directory_first
    from daemon.errors import TrimtabError

    try:
        sys.exit(command(directory_first(sys.argv[1:])))
    except TrimtabError as failed:
        print(f"trimtab: {failed}", file=sys.stderr)
        sys.exit(failed.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.exit(130)


def _import_structlog_plainly() -> None:
    """Import structlog without the pretty tracebacks that it would load rich for: 50 ms and 5 MB of every start."""
    if "rich" in sys.modules:
        return
    sys.modules["rich"] = None  # type: ignore[assignment]  # an import of it now fails, as if it were not installed
    try:
        import structlog  # noqa: F401
    finally:
        del sys.modules["rich"]
