"""A llama.cpp grammar for replies: free text, or whole valid calls of the tools at hand, and never half a call.

Text in, text out: it does not load llama.cpp, and it does not know which wrapper a model family was trained on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from daemon.models.llama_schema import Rules, literal


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How a model family writes calls: `marker` never stands in free text, and `args` is the key of the arguments."""

    marker: str
    opening: str
    between: str
    closing: str
    args: str = "arguments"


HERMES = Wrapper("<tool_call>", "\n", "\n</tool_call>\n<tool_call>\n", "\n</tool_call>")
MISTRAL = Wrapper("[TOOL_CALLS]", "[", ", ", "]")
BARE = Wrapper("", "", "", "", args="parameters")


def build(tools: Sequence[Mapping[str, Any]], wrapper: Wrapper = HERMES) -> str:
    """Return the grammar of "text or calls" for these tools ({"name", "parameters"}); any schema gives a grammar."""
    rules = Rules()
    calls = rules.add(" | ".join(rules.call(tool, wrapper.args) for tool in tools))
    if wrapper.marker:
        more = f" ({literal(wrapper.between)} {calls}){{0,7}}" if wrapper.between else ""
        block = rules.add(f"{literal(wrapper.opening)} {calls}{more} {literal(wrapper.closing)}")
        text = _text_then(wrapper.marker, block)
    else:
        text = {"root": f"{calls} | [^{{] any | {literal('')}", "any": f"[^\\x00] any | {literal('')}"}
    return "\n".join(f"{name} ::= {body}" for name, body in {**text, **rules.used()}.items())


def _text_then(marker: str, block: str) -> dict[str, str]:
    """Free text that may end at any point, and in which a whole `marker` leads into `block`.

    One state for each part of the marker read so far.  The first character of a marker stands nowhere else in it, so a
    mismatch falls back to the first state or to the beginning.
    """
    first, rules = marker[0], {"root": "text0"}
    for i, char in enumerate(marker):
        following = f"text{i + 1}" if i + 1 < len(marker) else block
        again = f" | {literal(first)} text1" if i else ""
        others = "".join(_in_class(c) for c in sorted({first, char}))
        rules[f"text{i}"] = f"{literal(char)} {following}{again} | [^{others}] text0 | {literal('')}"
    return rules


def _in_class(char: str) -> str:
    return "\\" + char if char in "[]\\^-" else char
