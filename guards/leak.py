"""What a model's machinery looks like when it leaks into its words: LaTeX, tool calls, JSON, inner fields, chat roles,
control tokens.

Code, tables and quotes are left out, and so is what a text only talks about (guards/mention.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from typing import TypeAlias

from guards.history import is_talk
from guards.mention import is_named, is_quoted, without_hollow_ends, without_quoted_json
from guards.reading import Reading
from guards.text import TRAILER

Mention: TypeAlias = Callable[[str, re.Match[str]], bool]
"""Whether a tag in a text is only talked about."""

MOST = 5
"""Spans kept as evidence."""
LONGEST_SPAN = 80

_CODE = re.compile(r"(`{1,3})[^`\n]*\1")
_LATEX = re.compile(
    r"(?<![\w\\:/.])\\(?!f[BIPR])[A-Za-z]{2,20}\{[^{}\n]{0,40}\}?"
    r"|(?<![\w\\:/.])\\(?:alpha|approx|beta|begin|boxed|cdots?|delta|d?frac|end|epsilon|gamma|geq|infty|lambda|ldots"
    r"|left[(\[|]|leq|mathbb|mathbf|mathrm|neq|prod|quad|right[)\]|]|rightarrow|sigma|sqrt|sum|theta|times)(?![\w\\])"
    r"|\\\((?:[^\\\n]|\\[A-Za-z{}]){0,60}?(?:[=^_{]|\\[A-Za-z]{2})(?:[^\\\n]|\\[A-Za-z{}]){0,60}?\\\)"
    r"|\\\[(?=\s|\\[A-Za-z]{2})[^\]]{1,200}\\\]"
    r"|(?<![\w$\\])\$\$?[^$`\n]{0,100}[\\^][^$`\n]{0,100}\$\$?(?!\w)"
)
_TOOL = re.compile(
    r"</?(?:tool_(?:calls?|use|code|request|response|results?|output)|function_(?:calls?|results?|response)|tool▁\w+)>"
    r"|<(?:\w+:)?(?:invoke|parameter|function|tool)(?: name)?=[^<>\n]{1,60}>"
    r"|\[/?TOOL_(?:CALLS?|REQUEST|RESULTS?)\]|<(?:\||｜)(?:python_tag|(?:plugin|action_start|tool)[^<>\n]{0,40}(?:\||｜))>?"
    r"|\bto=functions\.\w{1,60}|\bfunctions\.\w{1,60}:\d+"
)
_CLOSED = re.compile(r"</([a-z]{2,20}(?:_[a-z]{2,20}){1,3})>")
_CALL = re.compile(
    r"\"(?:name|tool|tool_name|function|action)\"\s{0,9}:\s{0,9}\"[^\"\n]{1,60}\"\s{0,9},\s{0,9}"
    r"\"(?:arguments|args|parameters|params|input|tool_input|action_input)\"\s{0,9}:"
)
_JSON = re.compile(r"\{\s{0,20}([\"'])[\w $.:/-]{1,40}\1\s{0,9}:[^\n]{0,40}")
_INNER_TAG = re.compile(
    r"</?(?:think|thinking|thoughts?|scratchpad|reflection|reasoning|inner_monologue|answer|final_answer|analysis)>"
)
_INNER = re.compile(
    r"(?:inner )?thoughts?|final answer|action input|scratch ?pad|chain of thought"
    r"|tool (?:calls?|input|output|result)|system (?:prompt|message)|self (?:critique|reflection)"
    r"|(?:inner|internal) monologue|internal (?:notes?|reasoning)"
)
_NAME = re.compile(r"[a-z]{2,20}(?:_[a-z0-9]{1,20}){1,4}")
_SPEAKERS = frozenset({"human", "user", "assistant", "ai", "bot", "system"})
_LAST = re.compile(
    r"[\"*]*(?:thought|answer|input|output|result|calls?|scratch|pad|prompt|message|critique|reflection|monologue"
    r"|notes?|reasoning|human|user|assistant|ai|bot|system|\w+_\w)",
    re.IGNORECASE,
)
"""How the last word of a label begins: asked first, because most colons follow another word."""
LONGEST_LABEL, MOST_LABELS = 40, 200
_HEAD = re.compile(r"(\A(?!.{39})|[.!?…)]\s+|\n\s*)[\"*]*([^\W\d]\w*(?: \w+){0,3})[ \t*\"]*\Z", re.DOTALL)
"""A label: from the beginning, a sentence's end or a line's head to the colon."""

SPECIAL = re.compile(
    r"<\|[A-Za-z][\w/ .-]{0,38}\|>|<｜[^｜<>\n]{1,40}｜>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|</s>"
    r"|<(?:bos|eos|pad|unk|unused\d{1,6}|extra_id_\d{1,4}|0x[0-9A-F]{2})>"
)
_RESERVED = re.compile(r"(<unused\d{1,6}>|<\|reserved_special_token_\d{1,4}\|>|<extra_id_\d{1,4}>)\s?\1")
_RUN = re.compile(rf"(?:(?:{SPECIAL.pattern})\s?)+")
_SPEAKER = re.compile(r"(?:assistant|user|system|human|model|tool)\b", re.IGNORECASE)
_STOPS = ".!?…。！？"
_RUN_ON = re.compile(r"[!?…！？](?:assistant|user|system)[ \t]*(?:\n|\Z)|[.。]assistant[ \t]*\n[ \t]*\n")
_TURNS = ("assistant", "user", "system")
_RUNS_ON = (*(mark + who for mark in "!?…！？" for who in _TURNS), ".assistant", "。assistant")
_NEXT_TURN = re.compile(r"\n[ \t]*\n(?:human|user|assistant)[ \t]{0,4}:\s*\Z", re.IGNORECASE)
_GLUED = re.compile(r"[a-z][A-Z]")
_SCRIPTS = tuple(
    re.compile(f"[{letters}]")
    for letters in (
        "\u0370-\u03ff", "\u0400-\u052f", "\u0590-\u05ff", "\u0600-\u06ff", "\u0900-\u097f",
        "\u0e00-\u0e7f", "\u3040-\u30ff", "\u4e00-\u9fff", "\uac00-\ud7af",
    )
)  # fmt: skip


def bare(reading: Reading) -> str:
    """Return the prose without code spans, and a trailer in the last line: what the text says, not what it quotes."""
    prose = reading.prose
    last = reading.text.rstrip().rpartition("\n")[2]
    if TRAILER.match(last) and not prose.rstrip().endswith(last):
        prose = f"{prose}\n{last}"
    return _CODE.sub(" ", prose) if "`" in prose else prose


def _spans(pattern: re.Pattern[str], text: str, is_mention: Mention | None = None) -> list[str]:
    found = (m for m in pattern.finditer(text) if is_mention is None or not is_mention(text, m))
    return [m[0].strip()[:LONGEST_SPAN] for m in islice(found, MOST)]


def leaks(said: str, text: str = "", mentions: bool = False) -> dict[str, list[str]]:
    r"""Return what leaks in the bare prose of a text: up to five spans for each class that is there.

    With `mentions` tags and JSON count that are only talked about.

    >>> leaks(r"The answer is \boxed{42} and costs $5 to $6.")
    {'latex': ['\\boxed{42}']}
    >>> leaks("Thought: the tide turns.\nHe saw: nothing.")
    {'field': ['Thought:']}
    """
    inner, speakers = _labels(said, text or said) if ":" in said else ([], [])
    tags = "<" in said
    quoted, named = (None, None) if mentions else (is_quoted, is_named)
    data = said if mentions else without_quoted_json(said)
    marked = without_hollow_ends(said) if tags else said
    found = {
        "latex": _spans(_LATEX, said) if "\\" in said or ("$" in said and "^" in said) else [],
        "tool": _tool(marked, named) if tags or "[TOOL" in said or "[/TOOL" in said or "functions." in said else [],
        "json": _spans(_JSON, data) if "{" in said else [],
        "field": inner + (_spans(_INNER_TAG, marked, named) if tags else []),
        "role": speakers,
        "token": _spans(SPECIAL, said, quoted) if tags or "INST]" in said else [],
    }
    found["tool"] += calls(data)
    return {name: spans[:MOST] for name, spans in found.items() if spans}


def calls(text: str) -> list[str]:
    """Return objects that are tool calls: a name and arguments."""
    return _spans(_CALL, text) if '":' in text or '" :' in text else []


def _tool(said: str, is_mention: Mention | None) -> list[str]:
    closed = [m[0] for m in islice(_CLOSED.finditer(said), MOST) if f"<{m[1]}>" in said] if "</" in said else []
    return _spans(_TOOL, said, is_mention) + closed


def _labels(said: str, text: str) -> tuple[list[str], list[str]]:
    """Return the labels of inner fields (or three and more names_with_underscores) and of at least two speakers."""
    inner, names, speakers, who = [], [], [], set()
    for piece in said.split(":")[:MOST_LABELS]:
        tail = piece[-LONGEST_LABEL:]
        last = tail.split()[-1:]
        if not last or not _LAST.match(last[0]) or not (head := _HEAD.search(tail)):
            continue
        known = head[2].lower().replace("_", " ")
        if _INNER.fullmatch(known):
            inner.append(head[2] + ":")
        elif known in _SPEAKERS:
            speakers.append(head[2] + ":")
            who.add(known)
        elif "_" in head[2] and not head[1].strip() and _NAME.fullmatch(head[2]):
            names.append(head[2])
    if len(who) > 1 and is_talk(text):
        who.clear()
    if len(names) > 2:  # entries of a list are explained, not leaked
        names = [name for name in names if f"\n{name}" in f"\n{text}"]
    return inner + (names if len(names) > 2 else []), speakers if len(who) > 1 else []


def escaped_token(said: str, text: str = "") -> str:
    """Return a control token that stands where the machinery puts one, not where a sentence talks about it.

    That is: glued to the end of a word or sentence; after a sentence or in a line of its own, with nothing or a
    speaker's name after it; at the head of several lines.

    >>> escaped_token("All boats are in.<|im_end|>")
    '<|im_end|>'
    >>> escaped_token("Stop at <|im_end|> as the template says.")
    ''
    """
    heads = 0
    struck = "<s>" in said  # HTML, not the end of a sequence
    for m in _RUN.finditer(said):
        run = m[0].strip()
        if struck and run == "</s>":
            continue
        before = said[max(0, m.start() - 20) : m.start()]
        at_head = not before.strip(" \t") or before.rstrip(" \t")[-1] == "\n"
        at_head = at_head and f"\n{run}" in f"\n{text or said}"  # no entry of a list of tokens
        heads += at_head
        if before[-1:].isalnum() or before[-1:] in tuple(_STOPS) or heads > 1:
            return run
        ends = "\n" in m[0][len(run) :] or m.end() == len(said) or said[m.end()] == "\n"
        if (at_head or before.rstrip()[-1:] in tuple(_STOPS)) and (ends or _SPEAKER.match(said, m.end())):
            return run
    return ""


def reserved(text: str) -> str:
    """Return a token that no one writes about, twice in a row, wherever it stands."""
    found = _RESERVED.search(text) if "><" in text or "> <" in text else None
    return str(found[0]) if found else ""


def run_on(said: str) -> str:
    """Return the place where the output goes on into somebody else's turn.

    >>> run_on("Shall we play a game?assistant\\n\\nYes, let us play.")
    '?assistant'
    """
    found = _NEXT_TURN.search(said[-40:]) if ":" in said[-40:] else None
    if found is None and any(who in said for who in _TURNS) and any(mark in said for mark in _RUNS_ON):
        found = _RUN_ON.search(said)
    return found[0].strip() if found else ""


def garbled(said: str) -> str:
    """Return a word that is glued out of pieces, in a text of several scripts that makes no sentence."""
    if said.isascii():
        return ""
    words = said.split()
    if len(words) < 25 or sum(said.count(mark) for mark in ".!?。！？,，、:") > len(words) / 30:
        return ""
    glued = [word for word in words if _GLUED.search(word)]
    foreign = sum(script.search(said) is not None for script in _SCRIPTS)
    if foreign < 2 or len(glued) < max(3, 0.08 * len(words)):
        return ""
    return max(glued, key=len)[:LONGEST_SPAN]
