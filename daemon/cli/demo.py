"""`trimtab demo`: the shipped model at temperature 0 on one long thread, until a breaker ends its collapse."""

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


def demo(
    temperature: Annotated[float, typer.Option(help="Sampling temperature; at 0 a small model repeats itself.")] = 0.0,
    beats: Annotated[int, typer.Option(help="How many heartbeats at most.")] = 30,
) -> None:
    """Watch a real collapse and the breaker that ends it, in a directory that is thrown away; exit code 0 if it did."""
    telemetry.setup("error")
    typer.echo(f"The shipped model writes a watch log at temperature {temperature:g}: {beats} heartbeats at most.")
    with tempfile.TemporaryDirectory(prefix="trimtab-demo-") as folder:
        outcomes = asyncio.run(_beats(Path(folder) / "demo", temperature, beats))
    spoke = sum(outcome == "ok" for outcome in outcomes)
    if "tripped" in outcomes:
        typer.echo(
            f"\n{spoke} heartbeats passed. Then the model had collapsed, a hint did not help, and the breaker opened:"
        )
        typer.echo("the heartbeat rests now. A daemon would try a probe after half an hour.")
    else:
        typer.echo(f"\n{spoke} of {len(outcomes)} heartbeats passed and no breaker opened.")
        raise typer.Exit(1)


async def _beats(path: Path, temperature: float, beats: int) -> list[str]:
    from daemon.app import beat_in, opened
    from daemon.cli.story import Story
    from daemon.home import create, plant

    home, notes = create(path, "UTC")
    plant(home, {"AGENTS.md": notes["AGENTS.md"], "heartbeats/watch-log.md": HEARTBEAT})
    home.settings.write_text(SETTINGS.format(temperature=temperature), encoding="utf-8")
    outcomes: list[str] = []
    async with opened(home, [Story()]) as agent:
        while len(outcomes) < beats and "tripped" not in outcomes:
            run = await beat_in(agent, "watch-log")
            outcomes.append(str(run.outcome))
    return outcomes
