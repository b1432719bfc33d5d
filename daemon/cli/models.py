"""`trimtab models`: who can answer, fetching a model file, and how fast a local model is on this machine."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Annotated, Any

import typer

from daemon import settings, telemetry
from daemon.cli.place import home
from daemon.errors import TrimtabError, UsageError
from daemon.models import MODELS
from daemon.registry import load
from daemon.stages import Model
from daemon.types import Message, Prompt, Reply

app = typer.Typer(no_args_is_help=True, help="Who can answer: local models and providers.")

Json = Annotated[bool, typer.Option("--json", help="Print one array of objects.")]


@app.command("list")
def list_models(
    check: Annotated[bool, typer.Option("--check", help="Load or reach each one and say what is ready.")] = False,
    as_json: Json = False,
) -> None:
    """List the models of trimtab.toml; with --check the exit code is 0 only when all are ready."""
    rows = asyncio.run(_listed(check))
    _show(rows, as_json, "  ")
    raise typer.Exit(any(row.get("ready") is False for row in rows))


@app.command()
def pull(name: str) -> None:
    """Fetch the file of a local model and verify it."""
    typer.echo(f"{name}: {asyncio.run(_pulled(_one(name)))}")


@app.command()
def bench(name: str, as_json: Json = False) -> None:
    """Measure a local model here: a cold prompt, the same prompt with something new behind it, and writing."""
    _show([asyncio.run(_measured(_one(name)))], as_json, "\n")


def _configured() -> dict[str, Model]:
    telemetry.setup("warning")
    place, models = home(), dict[str, Model]()
    for name, table in settings.load(place.path).models.items():
        made = load(f"models.{name}.backend", MODELS, str(table.get("backend")), file=place.settings)
        rest = {key: value for key, value in table.items() if key != "backend"}
        models[name] = made(name, settings.validated(made.Options, rest, place.settings, f"models.{name}"), place.path)
    return models


def _one(name: str) -> Model:
    if name not in (models := _configured()):
        raise UsageError(f"{name!r} is not one of the models of trimtab.toml: {', '.join(models)}")
    return models[name]


async def _listed(check: bool) -> list[dict[str, Any]]:
    return [_facts(model) | (await _checked(model) if check else {}) for model in _configured().values()]


def _facts(model: Model) -> dict[str, Any]:
    return {"name": model.name, "backend": type(model).__name__, "local": getattr(model, "local", False)}


async def _checked(model: Model) -> dict[str, Any]:
    try:
        return {"ready": True, "detail": await model.check()}
    except TrimtabError as wrong:
        return {"ready": False, "detail": str(wrong)}
    finally:
        await model.close()


async def _pulled(model: Any) -> str:
    if not hasattr(model, "pull"):
        raise UsageError(f"{model.name!r} has no file to fetch")
    with typer.progressbar(length=1000, label=model.name) as bar:
        return str(await model.pull(lambda done, total: bar.update(1000 * done // (total or done or 1) - bar.pos)))


async def _measured(model: Model) -> dict[str, Any]:
    if not getattr(model, "local", False):
        raise UsageError(f"{model.name!r} is not on this machine: measuring it would cost money")
    line = "Disk 61 percent used, load 0.42, memory 3 of 8 GiB, no failed units, nothing to do. "
    prompt = Prompt("bench", (Message("system", "You keep watch."), Message("user", line * 80)))
    try:
        await model.check()
        cold, first, total = await _asked(model, prompt)
        warm, again, _ = await _asked(model, prompt.plus(cold.message(), Message("user", line)))
    finally:
        await model.close()
    return {
        "name": model.name,
        "prompt_tokens": cold.usage.prompt,
        "cold_seconds": round(first, 4),
        "reused_ratio": round(warm.usage.reused / max(warm.usage.prompt, 1), 4),
        "warm_seconds": round(again, 4),
        "tokens_per_second": round(cold.usage.completion / max(total - first, 1e-6)),
    }


async def _asked(model: Model, prompt: Prompt) -> tuple[Reply, float, float]:
    times = [time.monotonic()]

    def heard(_: str) -> bool:
        times.append(time.monotonic())
        return False

    reply = await model.reply(prompt, stop=heard, seconds=600)
    times.append(time.monotonic())
    return reply, times[1] - times[0], times[-1] - times[0]


def _show(rows: list[dict[str, Any]], as_json: bool, between: str) -> None:
    lines = (between.join(f"{key.replace('_', ' ')}: {value}" for key, value in row.items()) for row in rows)
    typer.echo(json.dumps(rows, indent=2) if as_json else "\n".join(lines))
