"""What is the same about two tool calls and two results: canonical arguments, and texts without what changes by itself.

The order of arguments, identifiers, times and durations do not count; everything else does.
"""

from __future__ import annotations

import json
import re
from zlib import crc32

from guards.base import Call, CallResult
from guards.text import fingerprint

HEAD, TAIL = 1_000, 500
"""Characters of a result that are read for what changes by itself; what lies between is compared as it is."""
SHORT = 500
"""An answer of more characters than this says more than that nothing was found."""
EMPTY = frozenset(("", "[]", "{}", "()", "null", "None", '""'))
"""Answers that hold nothing.  Whoever asked got none; whoever did something, or ran a command, may have succeeded."""

_VOLATILE = re.compile(  # begins with one set of characters, so that the engine skips what can be no start
    r"[0-9a-fA-F](?<![0-9A-Za-z_].)(?:(?<=[0-9])(?:"
    r"[0-9]{3}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
    r"|[0-9]:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?|x[0-9a-fA-F]+\b|[0-9]{8,}\b"
    r"|[0-9]{0,20}(?:\.[0-9]{1,20})? ?(?:ms|s|sec|seconds)\b)"  # durations
    r"|[0-9a-fA-F]{7}-[0-9a-fA-F]{4}-[0-9a-fA-F-]{20,30}\b"  # identifiers
    r"|(?:(?<=[0-9])|(?=[a-fA-F]{0,40}[0-9]))[0-9a-fA-F]{7,63}\b)"
)
_NAMED_ID = re.compile(r"\"\w{0,40}[iI][dD]\"\s{0,9}:\s{0,9}\"[^\"]{0,100}\"")
_ECHO = re.compile(r"\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|`[^`\n]{0,200}`|[^\s\"'`]{0,100}[/\\][^\s\"'`]{0,100}")
_ERROR = re.compile(
    r"\W{0,9}(?:<[^>]{0,40}>\s{0,9})?(?:\w{0,40}(?:error|exception)\b|err:|failed|failure|traceback|fatal|denied"
    r"|permission denied|timed? ?out|invalid|connection (?:refused|reset)|(?:http )?(?:status )?[45]\d\d\b)",
    re.IGNORECASE,
)
_NOTHING = re.compile(  # on a text in lower case; begins with one set of characters, as above
    r"[netf45](?<!\w.)(?:(?<=n)o(?:thing| (?:results?|match(?:es)?|changes?|such|files?|data|entries)|t found|ne)\b"
    r"|(?<=e)(?:mpty|rror)\b|(?<=[45])0[0-9]\b|(?<=t)imed? ?out|(?<=f)ailed\b)"
)
_UNCHANGED = re.compile(
    r"\balready (?:says?|contains?|has|holds?|up[ -]to[ -]date|applied|set|saved)\b|\bunchanged\b|\bno[- ]op\b"
    r"|\bnothing (?:to (?:write|change|save|update|commit|apply|replace)|(?:has |was )?changed)\b|\bidentical\b"
    r"|\bno (?:changes?|edits?|modifications?|replacements?)\b|\b(?:not|n't) change[ds]?\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:unknown|unrecogni[sz]ed|unregistered|nonexistent|no such) (?:tool|function)\b"
    r"|(?:tool|function) [\"'`]?[\w.:-]{1,60}[\"'`]? (?:is )?(?:not (?:found|available|registered|defined)"
    r"|does not exist|unknown)|\bnot a (?:valid|known|registered) (?:tool|function)|\btool not found"
    r"|\bno tool (?:named|called)\b",
    re.IGNORECASE,
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_COMMANDS = frozenset(("command", "cmd", "commands", "script"))
_WAITING = re.compile(r"\b(?:poll|polls|polling|wait|waits|waiting|sleep|monitor|watch|yield|heartbeat)\b")
_ASKING = re.compile(r"\b(?:status|progress|inbox|queue|ping|pending|ready)\b|(?<!\|)(?<!\| )\btail\b")
"""The end of a file is asked for while it grows; behind a pipe it only cuts short what a command says."""
_ACTING = re.compile(
    r"\b(?:add|append|apply|commit|create|delete|edit|insert|modify|move|notify|overwrite|patch|post|publish|put|remove"
    r"|rename|replace|reply|save|send|set|store|update|upload|write)\b"
)


def canonical(call: Call) -> str:
    """Return a call as text, its arguments in one order whatever order they came in."""
    try:
        args = json.dumps(call.args, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except ValueError:  # a number of more digits than Python writes out
        args = ",".join(sorted(key[:100] for key in call.args))
    return f"{call.name}({args})"


def steady(text: str) -> str:
    """Return a text of at most HEAD + TAIL characters without identifiers, times and durations."""
    text = _VOLATILE.sub("#", text)
    return _NAMED_ID.sub("#", text) if 'd"' in text or 'D"' in text else text


def result_key(result: CallResult) -> int:
    """Return a fingerprint of what a call brought, blind to identifiers, times and durations near both its ends."""
    text = result.text.strip()
    middle = ""
    if len(text) > HEAD + TAIL:
        text, middle = text[:HEAD] + text[-TAIL:], str(crc32(text[HEAD:-TAIL].encode("utf-8", "surrogatepass")))
    return fingerprint(f"{result.ok} {steady(text)}{middle}")


def shape_key(result: CallResult) -> int:
    """Return a fingerprint of a short answer that is also blind to quotes and paths in it: often the arguments."""
    return fingerprint(f"{result.ok} {_ECHO.sub('#', steady(result.text[:SHORT].strip()))}")


def looks_failed(text: str) -> bool:
    """Return whether a result whose success nobody recorded begins like an error."""
    return bool(_ERROR.match(text[:200]))


def brings_nothing(result: CallResult) -> bool:
    """Return whether a result says that there was nothing to be had."""
    return not result.ok or bool(_NOTHING.search(result.text[:300].lower()))


def is_empty(result: CallResult) -> bool:
    """Return whether an answer has no content at all."""
    return len(result.text) < HEAD and result.text.strip() in EMPTY


def says_nothing(result: CallResult) -> bool:
    """Return whether there is no text, as where a call succeeded in silence or nobody kept what it brought."""
    return result.ok and len(result.text) < HEAD and not result.text.strip()


def changes_nothing(result: CallResult) -> bool:
    """Return whether the answer to an edit says that all is as it was before."""
    return len(result.text) <= SHORT and bool(_UNCHANGED.search(result.text))


def names_no_tool(result: CallResult) -> bool:
    """Return whether a failure, or a short result, says that the tool does not exist."""
    return (not result.ok or len(result.text) < 200) and bool(_UNKNOWN.search(result.text[:600]))


def takes_a_command(call: Call) -> bool:
    """Return whether a call hands a whole command line to a shell, where trying things is the work."""
    return any(key.lower() in _COMMANDS for key in call.args)


def patience(text: str) -> int:
    """Return 2 where the words of a canonical call say that it waits, 1 where it asks how far something is, else 0."""
    plain = _plain(text[:400])
    return 2 if _WAITING.search(plain) else 1 if _ASKING.search(plain) else 0


def acts(call: Call) -> bool:
    """Return whether a call would change something, by its name or its action."""
    action = call.args.get("action")
    return bool(_ACTING.search(_plain(f"{call.name[:100]} {action[:100] if isinstance(action, str) else ''}")))


def _plain(name: str) -> str:
    """Return a name as words: `waitFor` and `wait_for` as `wait for`."""
    return _HUMP.sub(" ", name).replace("_", " ").lower()
