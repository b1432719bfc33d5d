"""The hands: the tools by name."""

TOOLS = {
    "host": "daemon.tools.host:Host",
    "vault": "daemon.tools.vault:VaultTool",
    "clock": "daemon.tools.clock:ClockTool",
    "repo": "daemon.tools.repo:Repo",
    "tidy": "daemon.tools.tidy:Tidy",
}
