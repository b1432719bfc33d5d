"""Who wrote something, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Author:
    """A name, an address and a moment (aware), as they stand in a commit."""

    name: str
    email: str
    when: datetime
