"""Names that cannot be printed: the page of metrics stays whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from daemon.observe.prometheus import Metrics, Names
from daemon.types import Occurrence, Outcome, Reply, Run, Step, ToolCall, ToolResult
from guards import Level, Verdict

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
RUN = Run("r1", Occurrence(1, "host-watch", START), "main", START)


def said(name: str) -> Step:
    """A step in which model, guard and tool have that name."""
    results = (ToolResult(ToolCall("1", name, {}), True, "text"),)
    return Step(1, START, (), Reply("text", model=name), (Verdict(name, Level.PASS),), results)


def test_names_that_are_not_utf8_do_not_take_the_page_away() -> None:
    """A file name with a stray byte, as Python reads it, is shown escaped, and its series can be dropped again."""
    metrics, odd = Metrics(Names(), version="1"), "caf\udce9\n\x00"
    metrics.next_due(odd, START, 0)
    metrics.run_finished(replace(RUN, occurrence=Occurrence(2, odd, START), outcome=Outcome.OK, ended_at=START))
    metrics.occurrence_missed(odd, f"{odd}: {odd}", 1)
    metrics.breaker_changed(odd, odd, 2)
    metrics.step_done(replace(RUN, thread=odd), said(odd))
    metrics.model_state(odd, up=False)
    assert metrics.render().decode().count(r'heartbeat="caf\\udce9\\n\\x00"') > 0

    metrics.heartbeat_removed(odd)
    metrics.forget_thread(odd)
    assert 'heartbeat="caf' not in metrics.render().decode()
    assert 'thread="caf' not in metrics.render().decode()


def test_names_given_at_start_may_be_odd_too() -> None:
    """A heartbeat, model or tool that was configured under such a name is counted under its escaped form."""
    metrics = Metrics(Names(["\udcff"], ["\udcff"], ["\udcff"], ["\udcff"], ["\udcff"]), version="1")
    metrics.step_done(RUN, said("\udcff"))

    assert r'trimtab_steps_total{model="\\udcff"} 1.0' in metrics.render().decode()
