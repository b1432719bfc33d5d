"""Healthy text that any Debian machine holds, as streams: changelogs, manual pages and message catalogues.

A minimal machine has no manual pages and few catalogues; what is not there is left out.  The same machine gives the
same streams for the same seed.
"""

from __future__ import annotations

import gettext
import gzip
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bases import Stream

from guards.base import Output
from guards.replay import Row

SHARE = Path("/usr/share")
LEAST = 30
"""Rows of a stream, at least."""
LONGEST = 6_000
"""Characters of a row."""
WORDS = 6
"""Words of a message at least, or three times as many characters: labels of buttons are no outputs."""
_ENTRY = re.compile(r"^\S+ \([^)\n]+\) [^\n]*$", re.MULTILINE)
_SIGNATURE = re.compile(r"^ -- .*$", re.MULTILINE)
_ROFF = re.compile(r"\\f(?:\(..|\[[^\]]*\]|.)|\\[&/|^,)%]|\\s[-+]?\d|\\\*\([a-z]{2}|\\\(..")


def machine_streams(each: int, rows: int, seed: int, share: Path = SHARE) -> Iterator[Stream]:
    """Yield up to `each` streams of each sort, of `LEAST` to `rows` rows."""
    sorts: tuple[tuple[str, list[Path], Callable[[Path, random.Random], list[str]]], ...] = (
        ("changelog", sorted(share.glob("doc/*/changelog.Debian.gz")), _changelog),
        ("man", sorted(path for path in share.glob("man/man?") if path.is_dir()), _manual),
        ("catalogue", sorted(share.glob("locale/*/LC_MESSAGES/*.mo")), _catalogue),
    )
    for sort, paths, read in sorts:
        rng, found = random.Random(f"{seed} {sort}"), 0
        for path in rng.sample(paths, len(paths)):
            if found == each:
                break
            texts = read(path, rng)
            if len(texts) >= LEAST:
                found += 1
                yield Stream(f"{sort}-{_name(path.relative_to(share))}", _rows(texts[:rows]))


def _name(path: Path) -> str:
    parts = [part for part in path.parts[1:] if not part.startswith(("changelog", "LC_"))]
    return "-".join(parts).removesuffix(".mo")


def _rows(texts: Sequence[str]) -> tuple[Row, ...]:
    return tuple(Row(Output(text[:LONGEST])) for text in texts)


def _changelog(path: Path, _: random.Random) -> list[str]:
    """Return the entries, the oldest first, without who signed them when."""
    entries = _ENTRY.split(_SIGNATURE.sub("", _text(path)))
    return [entry.strip("\n") for entry in reversed(entries) if entry.strip()]


def _manual(path: Path, rng: random.Random) -> list[str]:
    """Return a run of neighbouring pages of a section, without roff's requests; each text once, whatever its names."""
    pages = sorted(page for page in path.glob("*.gz") if not page.is_symlink())
    start = rng.randrange(max(1, len(pages) - 200))
    return list(dict.fromkeys(text for page in pages[start : start + 200] if len(text := _prose(page)) > 200))


def _prose(page: Path) -> str:
    lines = (_ROFF.sub("", line).replace("\\-", "-") for line in _text(page).split("\n"))
    shown = (
        line if line[:1] not in (".", "'") else "\n" if line[:3] in (".PP", ".SH", ".TP") else "" for line in lines
    )
    return re.sub(r"\n{3,}", "\n\n", "\n".join(shown)).strip()


def _catalogue(path: Path, rng: random.Random) -> list[str]:
    """Return the translated messages, in a random order: the file's own is that of the alphabet."""
    try:
        with path.open("rb") as file:
            catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    except (OSError, UnicodeDecodeError, ValueError, LookupError):
        return []
    messages = {text for key, text in catalogue.items() if key}  # the empty key holds the file's own header
    long = sorted(text for text in messages if len(text.split()) >= WORDS or _unspaced(text))
    return rng.sample(long, len(long))


def _unspaced(text: str) -> bool:
    return len(text) >= 3 * WORDS and not text.isascii() and text.count(" ") * 8 < len(text)


def _text(path: Path) -> str:
    try:
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            return file.read(2_000_000)
    except (OSError, EOFError):
        return ""
