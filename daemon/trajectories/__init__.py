"""The database, and the exports by name."""

EXPORTS = {
    "jsonl": "daemon.trajectories.jsonl:JsonLines",
}
