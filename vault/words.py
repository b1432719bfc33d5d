"""How a text becomes words that can be found, and how a question becomes words to find: the same way for both.

Case, accents and compatibility forms are folded.  Scripts without spaces between words are cut into overlapping pairs
of characters.  No language is known: a word also finds those that begin with it, a plural ending is tried without.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

MOST_ASKED: Final = 4_000
"""How many characters of a question are read."""

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]+"
)  # Thai, Lao, Burmese, Khmer, kana, Han; Hangul, whose words carry their particles
_OUTSIDE_ASCII = re.compile(r"[^\w\x00-\x7f]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_ASKED = re.compile(r'"([^"]*)"|(\S+)')
_WHOLE_WORD_BELOW = 4
_ENDINGS = ("en", "es", "s")
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![^\W_])", r"(?![^\W_])"


@dataclass(frozen=True, slots=True)
class Term:
    """Something to find: as it was asked, as FTS5 wants it, and the pattern that finds it in a folded text.

    A `required` one must stand in every note found.
    """

    asked: str
    match: str
    pattern: str
    required: bool = False


def folded(text: str) -> str:
    """Return a text as it is compared.

    >>> folded("Ｃafé STRASSE Straße")
    'cafe strasse strasse'
    """
    if text.isascii():
        return text.lower()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def indexed(text: str) -> str:
    """Return the words of a text for the index, apart by spaces or by ASCII characters that are no letters or digits.

    >>> indexed("Das 天气预报")
    'das  天气 气预 预报 报 '
    """
    compared = folded(text)
    if compared.isascii():
        return compared
    words = _OUTSIDE_ASCII.sub(lambda found: found[0] if _is_mark(found[0]) else " ", compared)
    return _UNSPACED.sub(lambda run: f" {_pairs(run[0])} {run[0][-1]} ", words)


def plain(question: str) -> list[Term]:
    """Return what to find for a text of which nothing is syntax, such as a model's or a task."""
    chunks = folded(question[:MOST_ASKED]).split()
    terms = [term for chunk in chunks for term in _terms(chunk)]
    return _distinct(terms) or _distinct([_word(word) for chunk in chunks for word in _tokens(chunk)])


def typed(question: str) -> list[Term]:
    """Return what to find for what a person typed: "a phrase" must stand there, `word*` is the beginning of a word."""
    terms = list[Term]()
    for phrase, chunk in _ASKED.findall(folded(question[:MOST_ASKED])):
        if phrase:
            terms += [_phrase(words, required=True)] if (words := _tokens(phrase)) else []
        elif chunk.endswith("*") and len(words := _tokens(chunk)) == 1:
            terms.append(_beginning(words[0]))
        else:
            terms += plain(chunk)
    return _distinct(terms)


def _terms(chunk: str) -> list[Term]:
    """What a piece between blanks asks for: `inc-4711` as it stands, and each of its words."""
    words = _tokens(chunk)
    whole = [_phrase(words)] if len(words) > 1 else []
    return whole + [term for word in words for term in _words(word)]


def _words(word: str) -> list[Term]:
    terms, end = list[Term](), 0
    for run in _UNSPACED.finditer(word):
        terms += _spaced(word[end : run.start()]) + _unspaced(run[0])
        end = run.end()
    return terms + _spaced(word[end:])


def _spaced(word: str) -> list[Term]:
    return [_word(word)] if len(word) > 1 else []


def _unspaced(run: str) -> list[Term]:
    whole = [_phrase([run])] if len(run) > 2 else []
    return whole + [_phrase([run[at : at + 2]]) for at in range(max(1, len(run) - 1))]


def _word(word: str) -> Term:
    if _UNSPACED.fullmatch(word):
        return _phrase([word])
    if len(word) < _WHOLE_WORD_BELOW or not word.isalpha():
        return Term(word, f'"{word}"', _NO_LETTER_BEFORE + re.escape(word) + _NO_LETTER_AFTER)
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _WHOLE_WORD_BELOW), "")
    root = word.removesuffix(ending)
    return Term(word, f'("{word}" OR "{root}" *)', _NO_LETTER_BEFORE + re.escape(root))


def _beginning(word: str) -> Term:
    match = _matched(word) if _UNSPACED.search(word) else f'"{word}" *'
    return Term(f"{word}*", match, _NO_LETTER_BEFORE + re.escape(word))


def _phrase(words: list[str], *, required: bool = False) -> Term:
    pattern = r"[\W_]+".join(re.escape(word) for word in words)
    if not _UNSPACED.match(words[0]):
        pattern = _NO_LETTER_BEFORE + pattern
    if not _UNSPACED.match(words[-1][-1]):
        pattern += _NO_LETTER_AFTER
    return Term(" ".join(words), _matched(*words), pattern, required)


def _matched(*words: str) -> str:
    """An FTS5 phrase.  A run without spaces ends with its last character in the index; a question may end before."""
    text = " ".join(words)

    def cut(run: re.Match[str]) -> str:
        last = "" if run.end() == len(text) and len(run[0]) > 1 else run[0][-1]
        return f" {_pairs(run[0])} {last} "

    only_one = len(text) == 1 and _UNSPACED.match(text)
    return f'"{" ".join(_UNSPACED.sub(cut, text).split())}"' + (" *" if only_one else "")


def _pairs(run: str) -> str:
    return " ".join(run[at : at + 2] for at in range(len(run) - 1))


def _tokens(text: str) -> list[str]:
    return "".join(c if c.isalnum() or _is_mark(c) else " " for c in text).split()


def _is_mark(character: str) -> bool:
    """Whether it is a sign that belongs to the letter before it."""
    return unicodedata.category(character) in {"Mn", "Mc"}


def _distinct(terms: list[Term]) -> list[Term]:
    return list({term.match: term for term in terms}.values())
