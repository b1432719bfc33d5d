"""What a text only talks about: tags and JSON that it quotes, and tags around which a sentence goes on."""

from __future__ import annotations

import re

NEAR = 12
"""Characters before a tag that are looked at: a mark, or a word's end, a line's end and an indent."""

_OPENING = re.compile(r"(?:[“„‘«「『(/]|(?<![^\s(\[{=:,])['\"`”’»])\Z")
"""What quotes may follow a space or a bracket; the same mark right behind a word or a stop closes."""
_INSIDE = re.compile(r"[\w,;][ \n][^\S\n]{0,9}\Z")
_GOES_ON = re.compile(r"[,;:.!?)/]|[^\S\n]{0,9}\n?[^\S\n]{0,9}(?<=\s)(?:[A-Z]{2}|[^\W\dA-Z_]|[(–—])")
_QUOTED_JSON = re.compile(r"(['\"])\{[^{}].{0,1000}?\}\1", re.DOTALL)
_HOLLOW = re.compile(r"(<[\w-]{1,40}>)(?:\.{3}|…)</[\w-]{1,40}>")


def is_quoted(text: str, tag: re.Match[str]) -> bool:
    """Return whether a quotation mark, a bracket or a slash opens right before a tag."""
    return _OPENING.search(text[max(0, tag.start() - NEAR) : tag.start()]) is not None


def is_named(text: str, tag: re.Match[str]) -> bool:
    """Return whether a tag is only talked about: it is quoted, or a sentence goes on around it.

    That is, a word or a comma stands before it, and behind it a mark or a word that begins no sentence.  A tag alone in
    its line belongs to no sentence; one that is glued to what it holds is used.

    >>> [is_named(text, re.search("<.*>", text)) for text in ("It prints <think> tags.", "It is lit. <think> so I go")]
    [True, False]
    """
    if is_quoted(text, tag):
        return True
    inside = _INSIDE.search(text[max(0, tag.start() - NEAR) : tag.start()])
    on = _GOES_ON.match(text, tag.end()) if inside else None
    return inside is not None and on is not None and not ("\n" in inside[0] and "\n" in on[0])


def without_quoted_json(text: str) -> str:
    """Return a text without the objects that stand in quotation marks, as in a command.

    >>> without_quoted_json("It is asked with -d '{\\"date\\": 7}' each day, and says {\\"boats\\": 3}.")
    'It is asked with -d   each day, and says {"boats": 3}.'
    """
    return _QUOTED_JSON.sub(" ", text) if "'{" in text or '"{' in text else text


def without_hollow_ends(text: str) -> str:
    """Return a text with `<think>` for `<think>...</think>`: a pair around three dots is a name.

    >>> without_hollow_ends("It strips <think>...</think> blocks.")
    'It strips <think> blocks.'
    """
    return _HOLLOW.sub(r"\1", text) if ">..." in text or ">…" in text else text
