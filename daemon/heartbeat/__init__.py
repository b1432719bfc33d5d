"""When: the triggers by the key that a heartbeat file names them with."""

TRIGGERS = {
    "every": "daemon.heartbeat.every:Every",
    "cron": "daemon.heartbeat.cron:Cron",
    "at": "daemon.heartbeat.at:At",
}
