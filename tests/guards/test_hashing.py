"""Verdicts are the same in every process, whatever seed its hashes have."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
STORY = """
import json, random
from guards import Call, CallResult, Output, Panel
from tests.guards import speech
panel, said = Panel.standard(), []
chance = random.Random(5)
for i, text in enumerate(speech.talk(3, 120, 8)):
    if i > 60:
        phrase = "in the old harbour town"
        parts = [part for part in text.split(".") if part]
        text = " ".join(f"{part}, {phrase if chance.random() < 0.7 else 'so they say'}." for part in parts)
    panel_said = panel.update(Output(text, (Call("look", {"where": f"pier {i % 3}"}),) * (i % 2)))
    panel_said += panel.observe([CallResult(i % 5 > 0, f"{i % 7} boats")] * (i % 2))
    said += [(i, v.guard, int(v.level), v.score, v.reason, v.evidence) for v in panel_said]
print(json.dumps([said, panel.state()]))
"""


def test_a_stream_gives_the_same_verdicts_and_the_same_memory_whatever_the_hash_seed() -> None:
    """No verdict, score, reason or evidence, and nothing remembered, depends on the order of a set."""
    told = [
        subprocess.run(
            [sys.executable, "-c", STORY],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert told[0] == told[1] == told[2]
    assert '"catchphrase"' in told[0]
