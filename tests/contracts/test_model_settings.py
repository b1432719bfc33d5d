"""What every model in the registry promises before it is asked anything: settings, libraries, readiness, an end."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from daemon.errors import ConfigError, ModelUnavailable
from daemon.models import MODELS
from daemon.registry import load
from daemon.settings import validated
from daemon.stages import Model
from daemon.types import Message, Prompt

PROMPT = Prompt("t", (Message("user", "How is the disk?"),))
EVERY = pytest.mark.parametrize("name", sorted(MODELS))
TABLES: dict[str, dict[str, Any]] = {
    "openai": {"url": "http://127.0.0.1:9/v1", "model": "m"},
    "anthropic": {"url": "http://127.0.0.1:9/v1", "model": "m"},
    "scripted": {"replies": ["a"]},
    "llama_cpp": {"path": "nowhere.gguf"},
}


def _never(piece: str) -> bool:
    return False


def _made(name: str, table: dict[str, Any], home: Path = Path()) -> Model:
    backend = load("models.x.backend", MODELS, name)
    model: Model = backend("x", validated(backend.Options, table, "trimtab.toml", "models.x"), home)
    return model


def test_no_backend_is_without_settings() -> None:
    """Whoever adds a backend adds the settings that it is tested with."""
    assert set(TABLES) == set(MODELS)


@EVERY
def test_an_unknown_option_is_one_line(name: str) -> None:
    """A misspelt key names itself, its table and its file."""
    with pytest.raises(ConfigError, match=r"^trimtab\.toml: models\.x\.tempratur: ") as caught:
        _made(name, TABLES[name] | {"tempratur": 1})
    assert "\n" not in str(caught.value)


@EVERY
def test_options_are_closed_and_frozen(name: str) -> None:
    """Settings are pydantic, refuse what they do not know and never change."""
    options = load("models.x.backend", MODELS, name).Options
    assert issubclass(options, BaseModel)
    assert options.model_config.get("extra") == "forbid"
    assert options.model_config.get("frozen") is True


@EVERY
def test_every_model_says_whether_it_keeps_the_prompt_here(name: str, tmp_path: Path) -> None:
    """`local` decides what sensitive work may be shown to."""
    with contextlib.suppress(ConfigError):  # a local file that is not there may be refused at once
        model = _made(name, TABLES[name], tmp_path)
        assert getattr(model, "local", None) is True


@EVERY
def test_closing_twice_is_safe_and_ends_it(name: str, tmp_path: Path) -> None:
    """After `close` the model is unavailable and says why."""

    async def talk() -> None:
        with contextlib.suppress(ConfigError):
            model = _made(name, TABLES[name], tmp_path)
            await model.close()
            await model.close()
            with pytest.raises(ModelUnavailable, match="x: it has been closed"):
                await model.reply(PROMPT, stop=_never, seconds=1)

    asyncio.run(talk())


@EVERY
def test_check_is_one_line_or_a_named_error(name: str, tmp_path: Path) -> None:
    """What is not ready is told in one line as well."""

    async def talk() -> str:
        try:
            model = _made(name, TABLES[name], tmp_path)
        except ConfigError as wrong:
            return str(wrong)
        try:
            return await model.check()
        except (ConfigError, ModelUnavailable) as wrong:
            return str(wrong)
        finally:
            await model.close()

    line = asyncio.run(talk())
    assert line
    assert "\n" not in line


@EVERY
def test_a_missing_library_is_one_line(name: str) -> None:
    """Without its library a backend fails with one line that names the package."""
    library = {"openai": "httpx", "anthropic": "httpx", "llama_cpp": "llama_cpp"}.get(name, "pydantic")
    probe = f"""
import asyncio, sys
sys.modules[{library!r}] = None
from pathlib import Path
from daemon.errors import TrimtabError
from daemon.models import MODELS
from daemon.registry import load
from daemon.types import Message, Prompt
async def talk():
    try:
        backend = load("models.x.backend", MODELS, {name!r})
        model = backend("x", backend.Options(**{TABLES[name]!r}), Path("."))
        try:
            await model.reply(Prompt("t", (Message("user", "hi"),)), stop=lambda piece: False, seconds=5)
        finally:
            await model.close()
    except TrimtabError as told:
        print(told)
asyncio.run(talk())
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1
    if name != "llama_cpp":  # it looks for its file first, and its library only in the child process
        assert repr(library) in done.stdout


@EVERY
def test_loading_a_backend_does_not_load_its_library(name: str) -> None:
    """Naming a model in the settings costs nothing before it is asked."""
    probe = f"""
import sys
from daemon.models import MODELS
from daemon.registry import load
load("models.x.backend", MODELS, {name!r})
print(sorted(set(sys.modules) & {{"httpx", "llama_cpp", "numpy", "tenacity"}}))
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"
