"""The clock tool."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from zoneinfo import ZoneInfo

from daemon.tools.base import Setting
from daemon.tools.clock import ClockTool


def test_the_clock_tells_the_agents_time(setting: Setting) -> None:
    """Date, time, zone and day of the week, where the agent lives."""
    there = replace(setting, timezone=ZoneInfo("Asia/Tokyo"))

    assert asyncio.run(ClockTool().run({}, setting)) == "2026-11-20 21:17 UTC Friday"
    assert asyncio.run(ClockTool().run({}, there)) == "2026-11-21 06:17 JST Saturday"
