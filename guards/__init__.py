"""Pure detectors of collapse in a stream of outputs: standard library only, no clock, no I/O.

>>> from guards import Level, Output, Panel
>>> panel = Panel.standard()
>>> phrase = "The harbour lights are steady tonight and nothing at all moves on the dark water."
>>> levels = [max(v.level for v in panel.update(Output(phrase))) for _ in range(6)]
>>> Level.TRIP in levels
True
"""

from guards.base import Call, CallResult, Guard, Json, Level, Output, Spend, Verdict, Watch
from guards.breaker import Breaker
from guards.panel import GUARDS, Panel, worst

__all__ = [
    "GUARDS",
    "Breaker",
    "Call",
    "CallResult",
    "Guard",
    "Json",
    "Level",
    "Output",
    "Panel",
    "Spend",
    "Verdict",
    "Watch",
    "worst",
]
