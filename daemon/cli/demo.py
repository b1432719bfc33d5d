"""`trimtab demo`: the shipped model at temperature 0 on one long thread, until it collapses and how that is ended."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from daemon import telemetry

HEARTBEAT = """---
every: 1h
tools: []
---
Continue the watch log.
"""
SETTINGS = """name = "demo"
[models.local]
backend = "llama_cpp"
path = "shipped"
temperature = {temperature}
[context]
recall_notes = 0
"""

WAYS = {
    "retry": "the guard's hint was enough to bring it back.",
    "quarantine": "it came back when its infected outputs had left the context.",
    "sampler": "it came back when it was sampled less greedily, once.",
    "rest": "nothing helped: the breaker is open, the heartbeat rests. A daemon would try a probe in half an hour.",
}


def demo(
    temperature: Annotated[float, typer.Option(help="Sampling temperature; at 0 a small model repeats itself.")] = 0.0,
    beats: Annotated[int, typer.Option(help="How many heartbeats at most.")] = 30,
) -> None:
    """Watch a real collapse and the way back, in a directory that is thrown away; exit code 0 if there was one."""
    telemetry.setup("error")
    typer.echo(f"The shipped model writes a watch log at temperature {temperature:g}: {beats} heartbeats at most.")
    with tempfile.TemporaryDirectory(prefix="trimtab-demo-") as folder:
        passed, rung = asyncio.run(_beats(Path(folder) / "demo", temperature, beats))
    if not rung:
        typer.echo(f"\n{passed} of {beats} heartbeats passed and no guard tripped.")
        raise typer.Exit(1)
    typer.echo(f"\n{passed} heartbeats passed. Then the model had collapsed, and {WAYS[rung]}")


async def _beats(path: Path, temperature: float, beats: int) -> tuple[int, str]:
    """Beat until a rung of recovery has helped, or none has; return how many beats passed before, and the rung."""
    from daemon.app import opened
    from daemon.beating import beat_in
    from daemon.cli.story import Story
    from daemon.home import create, plant

    class Witness(Story):
        """Tells the story and remembers which rung ended it."""

        rung = ""

        def recovered(self, rung: str, result: str) -> None:
            if result != "failed":
                self.rung = rung

    home, notes = create(path, "UTC")
    plant(home, {"AGENTS.md": notes["AGENTS.md"], "heartbeats/watch-log.md": HEARTBEAT})
    home.settings.write_text(SETTINGS.format(temperature=temperature), encoding="utf-8")
    witness = Witness()
    async with opened(home, [witness]) as agent:
        for passed in range(beats):
            await beat_in(agent, "watch-log")
            if witness.rung:
                return passed, witness.rung
    return beats, ""
