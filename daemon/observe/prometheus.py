"""The metrics of one daemon: an observer that counts what it hears and renders it for Prometheus.

The only file that knows prometheus_client.  A counter starts at 0 for every label set that is known, because the first
increase of a series that appears out of nothing is lost.  A gauge of a moment (a due time, whether a model is up) is
absent until it is known: 0 would be a lie.  Nothing here survives a restart; Prometheus expects that of counters.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple, get_args

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from daemon.observe import catalogue
from daemon.observe.catalogue import Family
from daemon.observe.labels import OTHER, Bounded, Known, printable
from daemon.types import Outcome, Run, Step
from guards import Level
from vault.transport import Reason

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each counter, which no rule here reads

MOST_HEARTBEATS: Final = 100
MOST_THREADS: Final = 100
MOST_REASONS: Final = 20
MOST_OPEN_RUNS: Final = 64

TOKEN_KINDS: Final = ("prompt", "reused", "completion")
TOOL_RESULTS: Final = ("ok", "failed")
COMMIT_KINDS: Final = ("run", "proposal", "person", OTHER)
TRIED: Final = ("retry", "quarantine", "sampler", "model")
RECOVERIES: Final = (
    *((rung, result) for rung in TRIED for result in ("worked", "failed")),
    ("rest", "opened"),
    (OTHER, OTHER),
)
SYNC_REASONS: Final = (*(reason for reason in get_args(Reason) if reason != OTHER), OTHER)
SYNC_DIRECTIONS: Final = ("taken", "pushed")
SECONDS: Final = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
BUDGET_GUARD: Final = "budget"


@dataclass(frozen=True, slots=True)
class Names:
    """What is known at start, so that label sets can begin at 0; other models, guards and tools count as `other`."""

    heartbeats: Iterable[str] = ()
    models: Iterable[str] = ()
    guards: Iterable[str] = ()
    tools: Iterable[str] = ()
    reasons: Iterable[str] = ()


class Metrics:
    """An observer; it needs no clock, because what it hears brings its own times."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, names: Names, *, version: str) -> None:
        self._models, self._guards, self._tools = Known(names.models), Known(names.guards), Known(names.tools)
        self._heartbeats, self._threads = Bounded(MOST_HEARTBEATS), Bounded(MOST_THREADS)
        self._reasons = Bounded(MOST_REASONS, names.reasons)
        self._due: dict[str, float] = {}
        self._counted: dict[str, _Counted] = {}
        self._registry = CollectorRegistry()
        self._runs = self._counter(catalogue.RUNS)
        self._run_seconds = self._histogram(catalogue.RUN_SECONDS, SECONDS)
        self._success = self._gauge(catalogue.LAST_SUCCESS)
        self._next = self._gauge(catalogue.NEXT)
        self._interval = self._gauge(catalogue.INTERVAL)
        self._missed = self._counter(catalogue.MISSED)
        self._steps = self._counter(catalogue.STEPS)
        self._tokens = self._counter(catalogue.TOKENS)
        self._cost = self._counter(catalogue.COST)
        self._budget = self._gauge(catalogue.BUDGET)
        self._score = self._gauge(catalogue.SCORE)
        self._verdicts = self._counter(catalogue.VERDICTS)
        self._breaker = self._gauge(catalogue.BREAKER)
        self._recovered = self._counter(catalogue.RECOVERIES)
        self._calls = self._counter(catalogue.TOOL_CALLS)
        self._commits = self._counter(catalogue.COMMITS)
        self._unreviewed = self._gauge(catalogue.UNREVIEWED)
        self._approvals = self._gauge(catalogue.APPROVALS)
        self._oldest = self._gauge(catalogue.OLDEST_APPROVAL)
        self._synced = self._gauge(catalogue.SYNCED)
        for gauge in (self._unreviewed, self._approvals, self._oldest, self._synced):
            gauge.set(float("nan"))  # without labels it cannot be absent, and 0 would say that all is reviewed
        self._sync_failures = self._counter(catalogue.SYNC_FAILURES)
        self._sync_commits = self._counter(catalogue.SYNC_COMMITS)
        self._lag = self._gauge(catalogue.LAG)
        self._up = self._gauge(catalogue.MODEL_UP)
        self._gauge(catalogue.BUILD).labels(version, platform.python_version()).set(1)
        ProcessCollector(registry=self._registry)
        self._begin()
        for heartbeat in names.heartbeats:
            self.watch(heartbeat)

    def _counter(self, family: Family) -> Counter:
        return Counter(family.name, family.text, family.labels, registry=self._registry)

    def _gauge(self, family: Family) -> Gauge:
        return Gauge(family.name, family.text, family.labels, registry=self._registry)

    def _histogram(self, family: Family, buckets: tuple[float, ...]) -> Histogram:
        return Histogram(family.name, family.text, family.labels, buckets=buckets, registry=self._registry)

    def _begin(self) -> None:
        """Start what is known at 0."""
        for model in self._models:
            self._steps.labels(model)
            self._cost.labels(model)
            for kind in TOKEN_KINDS:
                self._tokens.labels(model, kind)
        for guard in self._guards:
            for level in Level:
                self._verdicts.labels(guard, str(level))
        for tool in self._tools:
            for result in TOOL_RESULTS:
                self._calls.labels(tool, result)
        sync = ((self._sync_failures, SYNC_REASONS), (self._sync_commits, SYNC_DIRECTIONS))
        for counter, known in ((self._commits, COMMIT_KINDS), *sync):
            for each in known:
                counter.labels(each)
        for rung, result in RECOVERIES:
            self._recovered.labels(rung, result)

    def watch(self, heartbeat: str) -> str:
        """Begin the series of a heartbeat at 0, if they have not begun, and return its label."""
        new = heartbeat not in self._heartbeats
        label = self._heartbeats.label(heartbeat)
        if new:
            self._run_seconds.labels(label)
            for outcome in Outcome:
                self._runs.labels(label, outcome.value)
            for reason in self._reasons:
                self._missed.labels(label, reason)
        return label

    def _thread(self, thread: str) -> str:
        """Begin the series of a thread, all guards quiet and closed, if they have not begun; return its label."""
        new = thread not in self._threads
        label = self._threads.label(thread)
        if new:
            for guard in self._guards:
                self._score.labels(label, guard)
                self._breaker.labels(label, guard)
        return label

    def forget(self, heartbeat: str) -> None:
        """Drop every series of a heartbeat whose file is gone."""
        for metric in (self._runs, self._run_seconds, self._success, self._next, self._interval, self._missed):
            metric.remove_by_labels({"heartbeat": printable(heartbeat)})
        self._heartbeats.forget(heartbeat)
        self._due.pop(heartbeat, None)

    def heartbeat_removed(self, heartbeat: str) -> None:
        """Drop what was shown of a heartbeat whose file is gone, so that nothing waits for it."""
        self.forget(heartbeat)

    def forget_thread(self, thread: str) -> None:
        """Drop every series of a thread that will not be used again."""
        for metric in (self._score, self._breaker):
            metric.remove_by_labels({"thread": printable(thread)})
        self._threads.forget(thread)

    def run_finished(self, run: Run) -> None:
        """Count a run that has an outcome."""
        label, outcome = self.watch(run.occurrence.heartbeat), run.outcome or Outcome.INTERRUPTED
        self._runs.labels(label, outcome.value).inc()
        if run.ended_at is not None:
            self._run_seconds.labels(label).observe(max(0.0, (run.ended_at - run.started_at).total_seconds()))
            if outcome is Outcome.OK:
                self.succeeded(run.occurrence.heartbeat, run.ended_at)
        if outcome is Outcome.MODEL_UNAVAILABLE and run.model:
            self.model_state(run.model, up=False)
        self._counted.pop(run.id, None)

    def step_done(self, run: Run, step: Step) -> None:
        """Count a step; hearing of it again, with more verdicts or results, counts only what is new."""
        before = self._counted.pop(run.id, None)
        if before is None or before.step != step.number:
            before = _Counted(step.number, 0, 0)
            self._count_reply(step)
        if len(self._counted) >= MOST_OPEN_RUNS:
            self._counted.pop(next(iter(self._counted)))
        self._counted[run.id] = _Counted(step.number, len(step.verdicts), len(step.results))
        for verdict in step.verdicts[before.verdicts :]:
            self._verdicts.labels(self._guards.label(verdict.guard), str(verdict.level)).inc()
        for done in step.results[before.results :]:
            self._calls.labels(self._tools.label(done.call.name), "ok" if done.ok else "failed").inc()
        self._show_scores(run.thread, step)

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None:
        """Count due times that did not run; of a reason that is not known, what follows its colon is left out."""
        label, known = self.watch(heartbeat), reason in self._reasons
        self._missed.labels(label, self._reasons.label(reason if known else reason.partition(":")[0])).inc(count)

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None:
        """Note when a heartbeat is due next; `at` None for never again, or while it is paused.

        `lag_seconds` is how late an occurrence was dispatched just now, None when none was.
        """
        label = self.watch(heartbeat)
        if lag_seconds is not None:
            self._lag.set(max(0.0, lag_seconds))
        if label == OTHER:
            return  # one due time cannot stand for many heartbeats
        if at is None:
            self._due.pop(heartbeat, None)
            for metric in (self._next, self._interval):
                metric.remove_by_labels({"heartbeat": label})
            return
        due = at.timestamp()
        if (interval := due - self._due.get(heartbeat, due)) > 0:
            self._interval.labels(label).set(interval)
        self._due[heartbeat] = due
        self._next.labels(label).set(due)

    def breaker_changed(self, thread: str, guard: str, state: int) -> None:
        """Note where a breaker stands: 0 closed, 1 half-open (a probe is running or next), 2 open."""
        self._breaker.labels(self._thread(thread), self._guards.label(guard)).set(state)

    def recovered(self, rung: str, result: str) -> None:
        """Count what a rung of recovery achieved."""
        self._recovered.labels(*((rung, result) if (rung, result) in RECOVERIES else (OTHER, OTHER))).inc()

    def succeeded(self, heartbeat: str, at: datetime) -> None:
        """Note when a heartbeat last ended ok; at start this is what the database remembers."""
        label = self.watch(heartbeat)
        if label != OTHER:
            self._success.labels(label).set(at.timestamp())

    def model_state(self, model: str, up: bool) -> None:
        """Note whether a model answers."""
        self._up.labels(self._models.label(model)).set(int(up))

    def vault_committed(self, kind: str) -> None:
        """Count a commit to the vault: `run` for what a run wrote, `person` for what a person had changed."""
        self._commits.labels(kind if kind in COMMIT_KINDS else OTHER).inc()

    def vault_unreviewed(self, count: int) -> None:
        """Note how many of the agent's commits no person has reviewed."""
        self._unreviewed.set(max(0, count))

    def approvals_pending(self, since: Sequence[datetime]) -> None:
        """Note since when each proposal waits for a person, the longest first."""
        self._approvals.set(len(since))
        self._oldest.set(since[0].timestamp() if since else float("nan"))

    def synced(self, at: datetime, taken: int = 0, pushed: int = 0) -> None:
        """Note an exchange with the vault's remote, and count its commits."""
        self._synced.set(at.timestamp())
        for direction, count in zip(SYNC_DIRECTIONS, (taken, pushed), strict=True):
            self._sync_commits.labels(direction).inc(count)

    def sync_failed(self, reason: str) -> None:
        """Count an exchange with the vault's remote that did not come about."""
        self._sync_failures.labels(reason if reason in SYNC_REASONS else OTHER).inc()

    def render(self) -> bytes:
        """Return everything in the text format that `content_type` names."""
        return generate_latest(self._registry)

    def _count_reply(self, step: Step) -> None:
        model, usage = self._models.label(step.reply.model), step.reply.usage
        self._steps.labels(model).inc()
        for kind, tokens in zip(TOKEN_KINDS, (usage.prompt, usage.reused, usage.completion), strict=True):
            self._tokens.labels(model, kind).inc(max(0, tokens))
        self._cost.labels(model).inc(max(0.0, usage.usd))
        self._up.labels(model).set(1)

    def _show_scores(self, thread: str, step: Step) -> None:
        label, scores = self._thread(thread), dict[str, float]()
        for verdict in step.verdicts:
            scores[verdict.guard] = max(verdict.score, scores.get(verdict.guard, verdict.score))
        for guard, score in scores.items():
            self._score.labels(label, self._guards.label(guard)).set(score)
        if BUDGET_GUARD in scores:
            self._budget.labels("run").set(min(1.0, max(0.0, 1.0 - scores[BUDGET_GUARD])))


class _Counted(NamedTuple):
    """How much of a run's latest step has been counted."""

    step: int
    verdicts: int
    results: int
