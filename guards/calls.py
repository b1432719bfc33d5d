"""What is the same about two tool calls and two results: canonical arguments, and texts without what changes by itself.

The order of arguments, identifiers, times and durations do not count; everything else does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from guards.base import Call, CallResult
from guards.text import fingerprint

_SEEN = 4_000
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates and times
    r"|\b\d\d:\d\d:\d\d(?:\.\d+)?\b"
    r"|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{20,30}\b|\b0x[0-9a-f]+\b|\b(?=[a-f]{0,40}\d)[0-9a-f]{8,64}\b"  # identifiers
    r"|\b\d{9,}\b"
    r"|\"\w{0,40}_?id\"\s{0,9}:\s{0,9}\"[^\"]{0,100}\"|\b\d+(?:\.\d+)? ?(?:ms|s|sec|seconds)\b",  # durations
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\W{0,9}(?:<[^>]{0,40}>\s{0,9})?(?:\w{0,40}(?:error|exception)\b|err:|failed|failure|traceback|fatal|denied"
    r"|permission denied|timed? ?out|invalid|connection (?:refused|reset)|(?:http )?(?:status )?[45]\d\d\b)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\bno(?:thing| (?:results?|match(?:es)?|changes?|such|files?|data|entries))\b|\bnot found\b|\bempty\b"
    r"|\bunchanged\b|\b40[0-9]\b|\b50[0-9]\b|timed? ?out|\bnone\b|\berror\b|\bfailed\b",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"(?:unknown|unrecogni[sz]ed|unregistered|nonexistent|no such) (?:tool|function)\b"
    r"|(?:tool|function) [\"'`]?[\w.:-]{1,60}[\"'`]? (?:is )?(?:not (?:found|available|registered|defined)"
    r"|does not exist|unknown)|\bnot a (?:valid|known|registered) (?:tool|function)|\btool not found"
    r"|\bno tool (?:named|called)\b",
    re.IGNORECASE,
)
_WAITING = re.compile(r"poll|wait|sleep|status|progress|heartbeat|watch|monitor|inbox|queue|ping", re.IGNORECASE)


def canonical(call: Call) -> str:
    """Return a call as text, its arguments in one order whatever order they came in."""
    try:
        args = json.dumps(call.args, sort_keys=True, ensure_ascii=True, default=_odd, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        args = ",".join(sorted(f"{key!s}"[:100] for key in call.args)) if isinstance(call.args, Mapping) else "?"
    return f"{call.name}({args})"


def _odd(value: object) -> str:
    return type(value).__name__


def result_key(result: CallResult) -> int:
    """Return a fingerprint of what a call brought, blind to identifiers, times and durations."""
    text = result.text
    seen = text if len(text) <= 2 * _SEEN else text[:_SEEN] + text[-_SEEN:]
    return fingerprint(f"{result.ok} {_VOLATILE.sub('#', seen.strip())}")


def looks_failed(text: str) -> bool:
    """Return whether a result whose success nobody recorded begins like an error."""
    return bool(_ERROR.match(text[:200]))


def brings_nothing(result: CallResult) -> bool:
    """Return whether a result says that there was nothing to be had."""
    return not result.ok or bool(_NOTHING.search(result.text[:300]))


def names_no_tool(result: CallResult) -> bool:
    """Return whether a failure, or a short result, says that the tool does not exist."""
    return (not result.ok or len(result.text) < 200) and bool(_UNKNOWN.search(result.text[:600]))


def takes_a_command(call: Call) -> bool:
    """Return whether a call hands a whole command line to a shell, where trying things is the work."""
    return any(str(key).lower() in ("command", "cmd", "commands", "script") for key in call.args)


def waits(call: Call, text: str) -> bool:
    """Return whether a call asks for something that takes its time; it earns patience, never a trip."""
    return bool(_WAITING.search(call.name[:100]) or _WAITING.search(text[:400]))
