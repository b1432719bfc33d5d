"""Every metric of trimtab: its name, kind, labels and meaning.  Names are a contract; docs/metrics.md is made of this.

`python -m daemon.observe.catalogue` prints the table of that page.
"""

from __future__ import annotations

import sys
from typing import Final, Literal, NamedTuple


class Family(NamedTuple):
    """One metric; the name of a counter ends in `_total`."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    text: str


RUNS: Final = Family("trimtab_runs_total", "counter", ("heartbeat", "outcome"), "Runs that ended, by how they ended.")
RUN_SECONDS: Final = Family("trimtab_run_seconds", "histogram", ("heartbeat",), "Wall time of runs in seconds.")
LAST_SUCCESS: Final = Family(
    "trimtab_heartbeat_last_success_timestamp_seconds",
    "gauge",
    ("heartbeat",),
    "When a run last ended ok, Unix time; absent until one did.",
)
NEXT: Final = Family(
    "trimtab_heartbeat_next_timestamp_seconds",
    "gauge",
    ("heartbeat",),
    "When the heartbeat is due next, Unix time; absent while it is paused or never due again.",
)
INTERVAL: Final = Family(
    "trimtab_heartbeat_interval_seconds",
    "gauge",
    ("heartbeat",),
    "Seconds between the last two due times; absent until there are two.",
)
MISSED: Final = Family(
    "trimtab_occurrences_missed_total", "counter", ("heartbeat", "reason"), "Due times that did not run, and why."
)
STEPS: Final = Family("trimtab_steps_total", "counter", ("model",), "Model calls that gave a reply.")
TOKENS: Final = Family(
    "trimtab_tokens_total",
    "counter",
    ("model", "kind"),
    "Tokens: prompt is all that were sent, reused the part of them that needed no new evaluation, completion what was "
    "written. Do not add prompt and reused.",
)
COST: Final = Family("trimtab_cost_usd_total", "counter", ("model",), "What the model calls cost, in US dollars.")
BUDGET: Final = Family(
    "trimtab_budget_remaining_ratio",
    "gauge",
    ("scope",),
    "Share left of the tightest limit (steps, tokens, seconds, dollars); scope run: of the run that last took a step.",
)
SCORE: Final = Family(
    "trimtab_guard_score", "gauge", ("thread", "guard"), "Score of a guard in the latest step; it trips at 1."
)
VERDICTS: Final = Family("trimtab_verdicts_total", "counter", ("guard", "level"), "Verdicts of guards on replies.")
BREAKER: Final = Family(
    "trimtab_breaker_state",
    "gauge",
    ("thread", "guard"),
    "State of a breaker: 0 closed, 1 half-open (a probe is running or next), 2 open.",
)
RECOVERIES: Final = Family(
    "trimtab_recoveries_total", "counter", ("rung", "result"), "What each rung of recovery achieved."
)
TOOL_CALLS: Final = Family("trimtab_tool_calls_total", "counter", ("tool", "result"), "Tool calls, by how they ended.")
COMMITS: Final = Family(
    "trimtab_vault_commits_total",
    "counter",
    ("kind",),
    "Commits to the vault: run for what a run wrote, proposal for what it proposed, person for changes that a person "
    "had made.",
)
UNREVIEWED: Final = Family(
    "trimtab_vault_unreviewed_commits",
    "gauge",
    (),
    "The agent's commits since the `reviewed` mark, at most 1000; NaN until they were counted.",
)
APPROVALS: Final = Family(
    "trimtab_approvals_pending",
    "gauge",
    (),
    "Proposals of the agent's that wait for a person's approval; NaN until they were counted.",
)
OLDEST_APPROVAL: Final = Family(
    "trimtab_approvals_oldest_timestamp_seconds",
    "gauge",
    (),
    "Since when the oldest proposal waits for a person's approval, Unix time; NaN while none waits.",
)
SYNCED: Final = Family(
    "trimtab_vault_sync_last_success_timestamp_seconds",
    "gauge",
    (),
    "When an exchange with the vault's remote last came about, Unix time; NaN until one did.",
)
SYNC_FAILURES: Final = Family(
    "trimtab_vault_sync_failures_total",
    "counter",
    ("reason",),
    "Exchanges with the vault's remote that did not come about, and why.",
)
SYNC_COMMITS: Final = Family(
    "trimtab_vault_sync_commits_total",
    "counter",
    ("direction",),
    "Commits that came from the vault's remote (taken) and went there (pushed).",
)
LAG: Final = Family(
    "trimtab_scheduler_lag_seconds", "gauge", (), "How late the last occurrence was dispatched, in seconds."
)
MODEL_UP: Final = Family(
    "trimtab_model_up",
    "gauge",
    ("model",),
    "Whether the model answered when it was last asked or checked; absent until then.",
)
BUILD: Final = Family("trimtab_build_info", "gauge", ("version", "python"), "Always 1; the labels say what is running.")

FAMILIES: Final = (
    RUNS, RUN_SECONDS, LAST_SUCCESS, NEXT, INTERVAL, MISSED, STEPS, TOKENS, COST, BUDGET, SCORE, VERDICTS, BREAKER,
    RECOVERIES, TOOL_CALLS, COMMITS, UNREVIEWED, APPROVALS, OLDEST_APPROVAL, SYNCED, SYNC_FAILURES, SYNC_COMMITS,
    LAG, MODEL_UP, BUILD,
)  # fmt: skip


def table() -> str:
    """Return the families as a Markdown table."""
    rows = [
        f"| `{family.name}` | {family.kind} | {', '.join(f'`{label}`' for label in family.labels)} | {family.text} |"
        for family in FAMILIES
    ]
    return "\n".join(["| metric | kind | labels | meaning |", "|---|---|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
