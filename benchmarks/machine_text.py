"""Healthy text that any Debian machine holds, as streams: changelogs, manual pages and message catalogues.

A minimal machine has no manual pages and few catalogues; what is not there is left out.  The same machine gives the
same streams for the same seed.  Manual pages are as a reader sees them, with their headings and the words of their
requests.  Pages that are nearly one text come once: many are generated, one for each function or command of a family,
from a template in which a name changes, and a stream of those is not health that a guard should pass but the very
thing that `repeat` and `template` are to find.
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
ALIKE = 0.6
"""Share of word triples that two pages have in common, of those in either, from which they are nearly one text."""
_TEXT = re.compile(
    r"[.'](?:[BI]|BR|BI|IB|IR|RB|RI|SM|SB|An|Ar|Cm|Dv|Em|Er|Ev|Fa|Fl|Fn|Ft|Ic|Li|Nm|Op|Pa|Ql|Sy|Va|Vt|Xr) +"
)
"""Requests whose arguments are text."""
_HEADING = re.compile(r"[.']S[HShs] +")
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
    found: dict[str, frozenset[tuple[str, ...]]] = {}
    for page in pages[start : start + 200]:
        text = _prose(page)
        words = text[:LONGEST].split()
        triples = frozenset(zip(words, words[1:], words[2:], strict=False))
        if len(text) > 200 and not any(_alike(triples, other) for other in found.values()):
            found[text] = triples
    return list(found)


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)


def _prose(page: Path) -> str:
    lines = [_shown(_ROFF.sub("", line).replace("\\-", "-")) for line in _text(page).split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _shown(line: str) -> str:
    """Return what a line of roff puts on the page."""
    if line[:1] not in (".", "'"):
        return line
    if heading := _HEADING.match(line):
        return f"\n# {_arguments(line[heading.end() :])}"
    if request := _TEXT.match(line):
        return _arguments(line[request.end() :])
    return "\n" if line[:3] in (".PP", ".Pp", ".TP", ".It") else ""


def _arguments(line: str) -> str:
    return line.replace('"', "").strip()


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
