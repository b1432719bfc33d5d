"""Model files that are cut short, damaged, of another kind or too large: one line each, whatever llama.cpp does."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from daemon.errors import ConfigError, ModelUnavailable
from daemon.models import shipped
from daemon.models.llama_cpp import LlamaCpp
from daemon.models.llama_engine import memory_available
from daemon.types import Message, Prompt, Reply, Stop

if TYPE_CHECKING:
    from tests.models.conftest import With

PROMPT = Prompt("watch", (Message("system", "You keep watch."), Message("user", "Tell me what you see. " * 30)))


async def ask(model: LlamaCpp, stop: Stop = lambda _: False, seconds: float = 60, prompt: Prompt = PROMPT) -> Reply:
    return await model.reply(prompt, stop=stop, seconds=seconds)


@pytest.mark.model
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda raw: raw[: len(raw) // 2], "llama.cpp"),
        (lambda raw: raw[:-1_000], "llama.cpp"),
        (lambda raw: raw[:5_000], "llama.cpp"),
        (lambda raw: raw[:12], "llama.cpp"),
        (lambda raw: raw[:4] + b"\xff\xff\xff\xff" + raw[8:], "llama.cpp"),
        (lambda raw: raw[:8] + bytes(8) + raw[16:], "llama.cpp"),
        (
            lambda raw: raw.replace(b"\x05\0\0\0\0\0\0\0llama", b"\x05\0\0\0\0\0\0\0lemma", 1),
            "unknown model architecture",
        ),
        (lambda raw: raw.replace(b"context_length\x04\0\0\0", b"context_length\x04\0\0\0\0\0\0\x7f", 1), "llama.cpp"),
    ],
    ids=["half", "tail-cut", "header-cut", "magic-only", "version", "vocabulary-only", "architecture", "shifted"],
)
def test_a_damaged_file_is_one_line(
    with_model: With, tmp_path: Path, damage: Callable[[bytes], bytes], says: str
) -> None:
    """A file that is cut short, of an unknown kind or without weights is a configuration error that names it."""
    (tmp_path / "bad.gguf").write_bytes(damage(shipped.PATH.read_bytes()))

    async def body(model: LlamaCpp) -> None:
        with pytest.raises(ConfigError) as wrong:
            await model.check()
        assert str(wrong.value).startswith(f"{tmp_path}/bad.gguf: expected a model that llama.cpp can load")
        assert says in str(wrong.value)
        assert "\n" not in str(wrong.value)
        with pytest.raises(ConfigError):
            await ask(model)

    with_model(body, path="bad.gguf")


@pytest.mark.model
def test_random_damage_never_reaches_the_parent(with_model: With, tmp_path: Path) -> None:
    """Random bytes in the header or the weights give an error or an answer, whatever happens to the process."""
    whole, rng = shipped.PATH.read_bytes(), random.Random(11)

    async def body(model: LlamaCpp) -> str:
        try:
            return f"finish {(await ask(model, seconds=20)).finish}"
        except (ConfigError, ModelUnavailable) as wrong:
            return str(wrong)

    for number in range(8):
        raw = bytearray(whole)
        for _ in range(16):
            raw[rng.randrange(8, 60_000 if number % 2 else len(raw))] = rng.randrange(256)
        (tmp_path / f"{number}.gguf").write_bytes(raw)
        told = with_model(body, path=f"{number}.gguf", max_tokens=5)
        assert told.startswith("finish") or f"{number}.gguf" in told or "local" in told
        assert "\n" not in told


@pytest.mark.model
def test_weights_that_are_no_numbers_are_noticed(with_model: With, tmp_path: Path) -> None:
    """A model whose weights are not numbers does not talk nonsense: it is unavailable, and says why."""
    raw = shipped.PATH.read_bytes()
    (tmp_path / "nan.gguf").write_bytes(raw[: len(raw) // 2] + b"\xff" * (len(raw) - len(raw) // 2))

    async def body(model: LlamaCpp) -> None:
        with pytest.raises(ModelUnavailable, match="its weights are damaged"):
            await ask(model)

    with_model(body, path="nan.gguf")


@pytest.mark.model
def test_a_file_that_was_replaced_is_another_model(with_model: With, tmp_path: Path) -> None:
    """After a restart on a file that changed meanwhile, replies carry the new file's hash."""
    (tmp_path / "m.gguf").write_bytes(shipped.PATH.read_bytes())

    async def body(model: LlamaCpp) -> tuple[Reply, Reply]:
        first = await ask(model)
        (tmp_path / "m.gguf").unlink()
        (tmp_path / "m.gguf").write_bytes(shipped.PATH.read_bytes() + bytes(64))
        assert model.pid is not None
        os.kill(model.pid, signal.SIGKILL)
        return first, await ask(model)

    first, second = with_model(body, path="m.gguf", max_tokens=3)
    assert first.sample is not None
    assert second.sample is not None
    assert first.sample.model == shipped.SHA256 != second.sample.model


@pytest.mark.model
def test_more_context_than_memory_is_refused_before_it_is_taken(with_model: With, tmp_path: Path) -> None:
    """A context that does not fit into memory is refused with both sizes instead of waking the kernel's killer."""
    raw = shipped.PATH.read_bytes()
    at = raw.index(b"llama.context_length") + len("llama.context_length") + 4
    (tmp_path / "long.gguf").write_bytes(raw[:at] + (2**31 - 1).to_bytes(4, "little") + raw[at + 4 :])

    async def body(model: LlamaCpp) -> None:
        with pytest.raises(ConfigError, match=r"needs [\d,]+ MiB .* are free: lower `context`"):
            await model.check()

    with_model(body, path="long.gguf", context=2**30)


def test_memory_is_read_where_the_system_says(tmp_path: Path) -> None:
    """Free memory comes from the kernel's own table; where there is none, nothing is refused for it."""
    (tmp_path / "meminfo").write_text("MemTotal: 100 kB\nMemAvailable:    2048 kB\n")

    assert memory_available(tmp_path / "meminfo") == 2 * 2**20
    assert memory_available(tmp_path / "nothing") == float("inf")
