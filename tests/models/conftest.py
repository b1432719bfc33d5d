"""Fixtures of the local model: a real llama.cpp process with the shipped file, closed again whatever happens."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

from daemon.models.llama_cpp import LlamaCpp

T = TypeVar("T")


class With(Protocol):
    """Runs a body with a model of these options and returns what the body returns."""

    def __call__(self, body: Callable[[LlamaCpp], Awaitable[T]], **options: Any) -> T: ...


@pytest.fixture
def with_model(tmp_path: Path) -> With:
    """Give a runner whose model is closed at the end; its process must then be gone."""

    def run(body: Callable[[LlamaCpp], Awaitable[T]], **options: Any) -> T:
        grace = options.pop("grace", 10.0)
        chosen = LlamaCpp.Options.model_validate({"seed": 1, "threads": 1, **options})

        async def whole() -> T:
            model = LlamaCpp("local", chosen, tmp_path, grace)
            try:
                return await body(model)
            finally:
                pid = model.pid
                await model.close()
                assert pid is None or not Path(f"/proc/{pid}").exists()

        return asyncio.run(whole())

    return run
