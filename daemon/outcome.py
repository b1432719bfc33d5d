"""How a run that came to its own end is called: `ok` only when what the heartbeat expects really happened."""

from __future__ import annotations

from collections.abc import Sequence

from daemon.types import Heartbeat, Outcome, Reply, ToolResult, ToolSpec
from guards.expect import names


def concluded(
    heartbeat: Heartbeat, offered: Sequence[ToolSpec], results: Sequence[ToolResult], last: Reply
) -> tuple[Outcome, str]:
    """Return the outcome and, unless it is ok, the reason in one line.

    The postcondition is `expect:` (each named tool, or action of a tool, succeeded at least once).  A heartbeat that
    names none must have had a successful call, or words where it was offered no tools: a model that says "all good" and
    looked at nothing did nothing.
    """
    if last.finish == "deadline":
        return Outcome.TIMED_OUT, f"the time was over while {last.model or 'the model'} was speaking"
    if last.finish == "length":
        return Outcome.FAILED, "the last reply was cut off at the token limit"
    worked = {name for result in results if result.ok for name in names(result.call.name, result.call.args)}
    missing = [name for name in heartbeat.expect if name not in worked]
    if missing:
        return Outcome.FAILED, f"expected a successful call of {', '.join(missing)}, and there was none"
    if not last.text.strip():
        return (
            (Outcome.NOTHING_TO_DO, "no words and no calls") if not results else (Outcome.FAILED, "no words at the end")
        )
    if results and not worked:
        return Outcome.FAILED, f"every tool call failed; the last one: {results[-1].text[:200]}"
    if offered and not results:
        return Outcome.NOTHING_TO_DO, "words only: no tool was called"
    return Outcome.OK, ""
