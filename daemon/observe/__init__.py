"""Who watches: the metrics, the page that they are read from, and what systemd is told."""
