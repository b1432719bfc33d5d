"""The database, and the exports by name."""

EXPORTS = {
    "feedback": "daemon.trajectories.feedback_lines:FeedbackLines",
    "jsonl": "daemon.trajectories.jsonl:JsonLines",
    "pairs": "daemon.trajectories.pairs:Pairs",
}
