"""Who watches: metrics now, notifications later."""
