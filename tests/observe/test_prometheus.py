"""What is counted, under which labels, and what can never grow."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import isnan

import pytest
from prometheus_client.parser import text_string_to_metric_families

from daemon.observe.catalogue import FAMILIES
from daemon.observe.prometheus import MOST_HEARTBEATS, MOST_OPEN_RUNS, MOST_THREADS, Metrics, Names
from daemon.types import Occurrence, Outcome, Reply, Run, Step, ToolCall, ToolResult, Usage
from guards import Level, Verdict

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
NAMES = Names(
    ["host-watch"],
    ["local", "frontier"],
    ["loop", "budget"],
    ["host", "vault"],
    ["skipped: still running", "missed_down"],
)
RUN = Run("r1", Occurrence(1, "host-watch", START), "main", START)


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(NAMES, version="9.9")


def values(metrics: Metrics) -> dict[str, float]:
    """Every sample of ours as `name{label="value"}`, labels in order of name, without the prefix."""
    found = {}
    for family in text_string_to_metric_families(metrics.render().decode()):
        for sample in family.samples:
            labels = ",".join(f'{key}="{value}"' for key, value in sorted(sample.labels.items()))
            found[sample.name.removeprefix("trimtab_") + (f"{{{labels}}}" if labels else "")] = sample.value
    return found


def step(number: int = 1, *verdicts: Verdict, model: str = "local", results: tuple[ToolResult, ...] = ()) -> Step:
    reply = Reply("text", usage=Usage(100, 80, 20, 0.25, 1.0), model=model)
    return Step(number, START, (), reply, verdicts, results)


def result(name: str, ok: bool = True) -> ToolResult:
    return ToolResult(ToolCall("1", name, {}), ok, "text")


def test_every_known_label_set_of_a_counter_begins_at_zero(metrics: Metrics) -> None:
    """Before anything happened each counter shows 0 for heartbeats, outcomes, models, guards, tools and reasons."""
    seen = values(metrics)

    expected = [
        *(f'runs_total{{heartbeat="host-watch",outcome="{outcome}"}}' for outcome in Outcome),
        *(f'occurrences_missed_total{{heartbeat="host-watch",reason="{reason}"}}' for reason in NAMES.reasons),
        *(f'verdicts_total{{guard="{g}",level="{level}"}}' for g in ("loop", "budget", "other") for level in Level),
        *(f'tool_calls_total{{result="{r}",tool="{t}"}}' for t in ("host", "vault", "other") for r in ("ok", "failed")),
        *(f'tokens_total{{kind="{k}",model="{m}"}}' for m in NAMES.models for k in ("prompt", "reused", "completion")),
        *(f'{name}{{model="{m}"}}' for name in ("steps_total", "cost_usd_total") for m in NAMES.models),
        *(f'vault_commits_total{{kind="{kind}"}}' for kind in ("run", "proposal", "person")),
        'recoveries_total{result="worked",rung="retry"}',
        'recoveries_total{result="failed",rung="retry"}',
        'recoveries_total{result="opened",rung="rest"}',
        'run_seconds_count{heartbeat="host-watch"}',
        "scheduler_lag_seconds",
    ]
    assert dict.fromkeys(expected, 0.0) == {name: seen[name] for name in expected}


def test_the_page_exports_exactly_what_the_catalogue_names(metrics: Metrics) -> None:
    """Every family of the catalogue is on the page with its kind and text, and no other of ours is."""
    page = {
        family.name + ("_total" if family.type == "counter" else ""): (family.type, family.documentation)
        for family in text_string_to_metric_families(metrics.render().decode())
        if family.name.startswith("trimtab_")
    }

    assert {family.name: (family.kind, family.text) for family in FAMILIES} == page


def test_nothing_of_the_moment_is_shown_before_it_is_known(metrics: Metrics) -> None:
    """Due times, successes, budgets and whether a model is up are absent at first: 0 would be a lie."""
    absent = ("heartbeat_next", "heartbeat_last", "heartbeat_interval", "model_up", "budget_remaining")

    assert [] == [name for name in values(metrics) if name.startswith(absent)]


def test_the_build_names_the_version(metrics: Metrics) -> None:
    """`trimtab_build_info` is 1 and carries the version."""
    (name,) = [name for name in values(metrics) if name.startswith("build_info")]

    assert 'version="9.9"' in name


def test_a_finished_run_is_counted_once_under_its_outcome(metrics: Metrics) -> None:
    """A run counts under heartbeat and outcome with its seconds, and only `ok` moves the last success."""
    metrics.run_finished(replace(RUN, ended_at=START + timedelta(seconds=7), outcome=Outcome.OK))
    metrics.run_finished(replace(RUN, ended_at=START + timedelta(seconds=60), outcome=Outcome.FAILED))

    seen = values(metrics)
    assert seen['runs_total{heartbeat="host-watch",outcome="ok"}'] == 1
    assert seen['runs_total{heartbeat="host-watch",outcome="failed"}'] == 1
    assert seen['run_seconds_sum{heartbeat="host-watch"}'] == 67
    assert seen['run_seconds_bucket{heartbeat="host-watch",le="10.0"}'] == 1
    assert seen['heartbeat_last_success_timestamp_seconds{heartbeat="host-watch"}'] == START.timestamp() + 7


def test_a_clock_that_jumped_back_makes_no_negative_duration(metrics: Metrics) -> None:
    """A run that ended before it began by the clock counts with 0 seconds."""
    metrics.run_finished(replace(RUN, ended_at=START - timedelta(hours=1), outcome=Outcome.OK))

    assert values(metrics)['run_seconds_sum{heartbeat="host-watch"}'] == 0


def test_a_step_counts_model_tokens_and_cost(metrics: Metrics) -> None:
    """A step counts one call with its tokens by kind and its price, and shows that the model is up."""
    metrics.step_done(RUN, step(1))
    metrics.step_done(RUN, step(2))

    seen = values(metrics)
    assert seen['steps_total{model="local"}'] == 2
    assert [seen[f'tokens_total{{kind="{k}",model="local"}}'] for k in ("prompt", "reused", "completion")] == [
        200,
        160,
        40,
    ]
    assert seen['cost_usd_total{model="local"}'] == 0.5
    assert seen['model_up{model="local"}'] == 1


def test_a_step_heard_again_counts_only_what_is_new(metrics: Metrics) -> None:
    """The recorder writes a step once without results and once with them: neither reply nor verdicts count twice."""
    said = Verdict("loop", Level.PASS)
    heard = Verdict("loop", Level.TRIP, 1.0)
    metrics.step_done(RUN, step(1, said))
    metrics.step_done(RUN, step(1, said, heard, results=(result("host"), result("vault", ok=False))))
    metrics.step_done(RUN, step(1, said, heard, results=(result("host"), result("vault", ok=False))))

    seen = values(metrics)
    assert seen['steps_total{model="local"}'] == 1
    assert seen['verdicts_total{guard="loop",level="pass"}'] == 1
    assert seen['verdicts_total{guard="loop",level="trip"}'] == 1
    assert seen['tool_calls_total{result="ok",tool="host"}'] == 1
    assert seen['tool_calls_total{result="failed",tool="vault"}'] == 1


def test_runs_that_never_finish_do_not_fill_the_memory(metrics: Metrics) -> None:
    """The counting of steps remembers a bounded number of runs, and a finished run is forgotten."""
    for number in range(MOST_OPEN_RUNS * 3):
        metrics.step_done(replace(RUN, id=f"r{number}"), step(1))
    assert len(metrics._counted) == MOST_OPEN_RUNS

    for number in range(MOST_OPEN_RUNS * 3):
        metrics.run_finished(replace(RUN, id=f"r{number}", outcome=Outcome.OK))
    assert len(metrics._counted) == 0


def test_the_score_of_a_guard_is_the_highest_of_the_step(metrics: Metrics) -> None:
    """Of two verdicts of a guard in a step the higher score is shown; the next step replaces it."""
    metrics.step_done(RUN, step(1, Verdict("loop", Level.WARN, 0.9), Verdict("loop", Level.PASS, 0.1)))
    assert values(metrics)['guard_score{guard="loop",thread="main"}'] == 0.9

    metrics.step_done(RUN, step(2, Verdict("loop", Level.PASS, 0.2)))
    assert values(metrics)['guard_score{guard="loop",thread="main"}'] == 0.2


@pytest.mark.parametrize(("score", "left"), [(0.0, 1.0), (0.25, 0.75), (1.5, 0.0)])
def test_what_is_left_of_a_budget_is_what_its_guard_says(metrics: Metrics, score: float, left: float) -> None:
    """The share left is one less the score of the budget guard, never below 0."""
    metrics.step_done(RUN, step(1, Verdict("budget", Level.PASS, score)))

    assert values(metrics)['budget_remaining_ratio{scope="run"}'] == left


def test_what_a_model_makes_up_becomes_other(metrics: Metrics) -> None:
    """Names of tools, models, guards and rungs that nobody configured fold into `other`."""
    metrics.step_done(RUN, step(1, Verdict('x"}\n', Level.PASS), model="gpt-unknown", results=(result("rm -rf /\n"),)))
    metrics.recovered("magic", "worked")
    metrics.vault_committed("run")
    metrics.vault_committed("strange")
    metrics.breaker_changed("main", "unknown", 2)

    seen = values(metrics)
    assert seen['tool_calls_total{result="ok",tool="other"}'] == 1
    assert seen['steps_total{model="other"}'] == 1
    assert seen['verdicts_total{guard="other",level="pass"}'] == 1
    assert seen['recoveries_total{result="other",rung="other"}'] == 1
    assert seen['vault_commits_total{kind="run"}'] == 1
    assert seen['vault_commits_total{kind="other"}'] == 1
    assert seen['breaker_state{guard="other",thread="main"}'] == 2


def test_the_page_does_not_grow_past_its_bounds(metrics: Metrics) -> None:
    """Ten times the bound of heartbeats, threads and reasons gives no more series than the bound."""
    for number in range(10 * MOST_THREADS):
        metrics.breaker_changed(f"t{number}", "loop", 0)
        metrics.occurrence_missed(f"h{number}", f"why{number}: detail {number}", 1)
        metrics.next_due(f"h{number}", START + timedelta(hours=1), 0)

    seen = values(metrics)
    assert (
        len([name for name in seen if name.startswith("breaker_state") and 'guard="loop"' in name]) == MOST_THREADS + 1
    )
    assert len([name for name in seen if name.startswith("heartbeat_next")]) == MOST_HEARTBEATS - 1
    assert seen['occurrences_missed_total{heartbeat="other",reason="other"}'] > 0


def test_the_reason_of_a_miss_is_what_stands_before_its_colon(metrics: Metrics) -> None:
    """A reason such as `breaker_open: loop` counts as `breaker_open`; one that was named at start keeps its text."""
    metrics.occurrence_missed("host-watch", "breaker_open: loop", 3)
    metrics.occurrence_missed("host-watch", "skipped: still running", 2)

    seen = values(metrics)
    assert seen['occurrences_missed_total{heartbeat="host-watch",reason="breaker_open"}'] == 3
    assert seen['occurrences_missed_total{heartbeat="host-watch",reason="skipped: still running"}'] == 2


def test_the_next_due_time_and_the_interval_follow_the_schedule(metrics: Metrics) -> None:
    """The interval is the gap between the last two due times, and absent before there are two."""
    metrics.next_due("host-watch", START + timedelta(seconds=40), 0.5)
    seen = values(metrics)
    assert seen['heartbeat_next_timestamp_seconds{heartbeat="host-watch"}'] == START.timestamp() + 40
    assert 'heartbeat_interval_seconds{heartbeat="host-watch"}' not in seen
    assert seen["scheduler_lag_seconds"] == 0.5

    metrics.next_due("host-watch", START + timedelta(seconds=340), 0.0)
    assert values(metrics)['heartbeat_interval_seconds{heartbeat="host-watch"}'] == 300

    metrics.next_due("host-watch", START + timedelta(seconds=340), 0.0)
    assert values(metrics)['heartbeat_interval_seconds{heartbeat="host-watch"}'] == 300


def test_a_due_time_without_a_dispatch_says_nothing_of_lag(metrics: Metrics) -> None:
    """The lag of the last dispatch stays when a due time is only made known."""
    metrics.next_due("host-watch", START, 2.5)
    metrics.next_due("host-watch", START + timedelta(seconds=40), None)

    seen = values(metrics)
    assert seen["scheduler_lag_seconds"] == 2.5
    assert seen['heartbeat_next_timestamp_seconds{heartbeat="host-watch"}'] == START.timestamp() + 40


def test_commits_to_review_are_shown_once_they_were_counted(metrics: Metrics) -> None:
    """Before the first count the gauge is not a number, because 0 would say that all is reviewed."""
    assert isnan(values(metrics)["vault_unreviewed_commits"])

    metrics.vault_unreviewed(7)
    assert values(metrics)["vault_unreviewed_commits"] == 7


def test_proposals_that_wait_are_shown_once_they_were_counted(metrics: Metrics) -> None:
    """Before the first count the gauge is not a number, because 0 would say that none waits."""
    assert isnan(values(metrics)["approvals_pending"])

    metrics.approvals_pending([START, START + timedelta(days=1)])
    assert values(metrics)["approvals_pending"] == 2
    assert values(metrics)["approvals_oldest_timestamp_seconds"] == START.timestamp()

    metrics.approvals_pending([])
    assert isnan(values(metrics)["approvals_oldest_timestamp_seconds"])


def test_a_heartbeat_that_is_never_due_shows_no_due_time(metrics: Metrics) -> None:
    """A paused heartbeat has no next time, so that it cannot be overdue."""
    metrics.next_due("host-watch", START + timedelta(seconds=40), 0)
    metrics.next_due("host-watch", None, 0)

    assert [] == [name for name in values(metrics) if name.startswith(("heartbeat_next", "heartbeat_interval"))]


def test_a_deleted_heartbeat_leaves_no_series(metrics: Metrics) -> None:
    """After `heartbeat_removed` nothing on the page names the heartbeat, and watching it again starts at 0."""
    metrics.next_due("host-watch", START + timedelta(seconds=40), 0)
    metrics.run_finished(replace(RUN, ended_at=START, outcome=Outcome.OK))
    metrics.heartbeat_removed("host-watch")
    assert "host-watch" not in metrics.render().decode()

    metrics.watch("host-watch")
    assert values(metrics)['runs_total{heartbeat="host-watch",outcome="ok"}'] == 0


def test_a_forgotten_thread_leaves_no_series(metrics: Metrics) -> None:
    """After `forget_thread` no guard or breaker of the thread is on the page."""
    metrics.step_done(RUN, step(1, Verdict("loop", Level.PASS, 0.5)))
    metrics.breaker_changed("main", "loop", 2)
    metrics.forget_thread("main")

    assert 'thread="main"' not in metrics.render().decode()


def test_a_model_that_cannot_be_had_is_down_until_it_answers(metrics: Metrics) -> None:
    """A run that ended for want of a model marks it as down; its next step marks it as up."""
    metrics.run_finished(replace(RUN, ended_at=START, outcome=Outcome.MODEL_UNAVAILABLE, model="local"))
    assert values(metrics)['model_up{model="local"}'] == 0

    metrics.step_done(RUN, step(1))
    assert values(metrics)['model_up{model="local"}'] == 1
