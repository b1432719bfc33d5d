"""The process that fetches a model file from the Hugging Face hub and tells its progress as JSON lines.

A process of its own, because a download in a thread could not be ended with the daemon.  It fetches one named file into
one folder; huggingface_hub writes it beside its place and moves it there when it is whole.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import httpx
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    LocalEntryNotFoundError,
    RepositoryNotFoundError,
)
from tqdm.auto import tqdm  # type: ignore[import-untyped]

TELL_EVERY_SECONDS = 0.5


class _Progress(tqdm):  # type: ignore[misc]
    """Says on standard output how far it is, instead of drawing."""

    _told = 0.0

    def display(self, *_: Any, **__: Any) -> bool:
        now = time.monotonic()
        if self.n == self.total or now - self._told >= TELL_EVERY_SECONDS:
            self._told = now
            _say({"done": int(self.n), "total": int(self.total or 0)})
        return True


def _say(report: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(report) + "\n")
    sys.stdout.flush()


def main(repository: str, name: str, folder: str) -> int:
    """Fetch the file; 0 when it is in its place."""
    try:
        hf_hub_download(repository, name, local_dir=folder, tqdm_class=_Progress)
    except GatedRepoError:
        fault = "the repository asks for a login: set HF_TOKEN"
    except LocalEntryNotFoundError:
        fault = "no network, and the file is not here yet"
    except RepositoryNotFoundError:
        fault = "there is no such repository (or it is private: set HF_TOKEN)"
    except EntryNotFoundError:
        fault = "the repository has no such file"
    except (HfHubHTTPError, httpx.HTTPError, OSError) as error:
        fault = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    else:
        return 0
    _say({"error": fault})
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
