"""The database, and the exports by name."""

EXPORTS = {
    "jsonl": "daemon.trajectories.jsonl:JsonLines",
    "pairs": "daemon.trajectories.pairs:Pairs",
}
