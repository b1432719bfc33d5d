"""What goes wrong with a local model: its process dies or hangs, its file is not one.  The daemon goes on."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
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


def struck(model: LlamaCpp, number: signal.Signals) -> Callable[[str], bool]:
    """A `stop` that hits the model's process with a signal as soon as it speaks."""

    def stop(_: str) -> bool:
        assert model.pid is not None
        os.kill(model.pid, number)
        return False

    return stop


@pytest.mark.model
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT])
def test_a_death_while_speaking_is_one_line_and_the_next_reply_says_so(
    with_model: With, number: signal.Signals
) -> None:
    """A process that dies in the middle of a reply costs that reply; a new one rebuilds the thread and says why."""

    async def body(model: LlamaCpp) -> tuple[Reply, Reply]:
        await model.check()
        first = model.pid
        with pytest.raises(ModelUnavailable, match=f"local: the model process died after \\d+ pieces.*{number.name}"):
            await ask(model, struck(model, number))
        assert first is not None
        assert not Path(f"/proc/{first}").exists()
        return await ask(model), await ask(model)

    after, later = with_model(body, temperature=2.0, max_tokens=500, seed=3)
    assert number.name in after.note
    assert "restarted" in after.note
    assert after.usage.reused == 0
    assert later.note == ""
    assert later.usage.reused > 0


@pytest.mark.model
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stop_of_the_whole_service_leaves_the_model_to_the_daemon(with_model: With, number: signal.Signals) -> None:
    """The signals that a service manager or a terminal sends to everyone do not end a reply in the middle."""

    async def body(model: LlamaCpp) -> Reply:
        return await ask(model, struck(model, number))

    reply = with_model(body, max_tokens=20)
    assert reply.finish in ("stop", "length")
    assert reply.note == ""


@pytest.mark.model
def test_a_death_between_two_calls_is_mended_in_the_next(with_model: With) -> None:
    """A process that was killed while it was idle is replaced without an error, and the reply says so."""

    async def body(model: LlamaCpp) -> Reply:
        await ask(model)
        assert model.pid is not None
        os.kill(model.pid, signal.SIGKILL)
        return await ask(model)

    reply = with_model(body, max_tokens=5)
    assert "restarted (killed by signal 9 (SIGKILL))" in reply.note
    assert reply.usage.prompt > 0


@pytest.mark.model
def test_a_death_before_the_first_word_is_asked_again(with_model: With) -> None:
    """A process that dies while it reads the prompt has said nothing, so the call is repeated in a fresh one."""

    async def body(model: LlamaCpp) -> Reply:
        await model.check()
        assert model.pid is not None
        os.kill(model.pid, signal.SIGSTOP)  # it will not get as far as an answer
        task = asyncio.create_task(ask(model))
        await asyncio.wait([task], timeout=0.1)
        os.kill(model.pid, signal.SIGKILL)
        return await task

    assert "restarted" in with_model(body, max_tokens=5).note


@pytest.mark.model
def test_a_hung_process_is_killed_and_replaced(with_model: With) -> None:
    """A process that is silent past its deadline and the grace is killed; the next reply comes from another one."""

    async def body(model: LlamaCpp) -> tuple[int | None, int | None, Reply]:
        await model.check()
        first = model.pid
        with pytest.raises(ModelUnavailable, match=r"hung and was killed 0\.2 s after the deadline"):
            await ask(model, struck(model, signal.SIGSTOP), seconds=0.3)
        reply = await ask(model)
        return first, model.pid, reply

    first, second, reply = with_model(body, temperature=2.0, max_tokens=500, seed=3, grace=0.2)
    assert first != second
    assert "hung" in reply.note


@pytest.mark.model
def test_everyone_who_waits_hears_of_a_death_and_one_process_follows(with_model: With) -> None:
    """When several replies are open, all are answered after a death, by one new process and not by several."""

    async def body(model: LlamaCpp) -> tuple[list[Reply | BaseException], int]:
        await model.check()
        first = model.pid
        prompts = [Prompt(f"t{i}", PROMPT.messages) for i in range(4)]
        speaking = ask(model, struck(model, signal.SIGKILL), prompt=prompts[0])
        waiting = [ask(model, prompt=prompt) for prompt in prompts[1:]]
        answers = await asyncio.gather(speaking, *waiting, return_exceptions=True)
        assert model.pid != first
        mine = [child for child in psutil.Process().children() if "daemon.models.llama_child" in child.cmdline()]
        return list(answers), len(mine)

    answers, running = with_model(body, temperature=2.0, max_tokens=200, seed=3)
    assert isinstance(answers[0], ModelUnavailable)
    assert all(isinstance(answer, Reply) for answer in answers[1:])
    assert running == 1


@pytest.mark.model
def test_closing_ends_everything_for_good(with_model: With) -> None:
    """`close` may come twice, also while the model speaks; after it there is no answer and no process."""

    async def body(model: LlamaCpp) -> None:
        speaking = asyncio.create_task(ask(model, lambda _: False))
        await model.check()
        await model.close()
        await model.close()
        with pytest.raises(ModelUnavailable):
            await speaking
        with pytest.raises(ModelUnavailable, match="closed"):
            await ask(model)
        assert model.pid is None

    with_model(body, temperature=2.0, max_tokens=4000, context=4096)


@pytest.mark.model
def test_the_process_does_not_outlive_its_parent(tmp_path: Path) -> None:
    """When the daemon is killed with SIGKILL, the kernel ends the model's process as well."""
    program = (
        "import asyncio, os, signal, sys\n"
        "from pathlib import Path\n"
        "from daemon.models.llama_cpp import LlamaCpp\n"
        "async def main():\n"
        "    model = LlamaCpp('local', LlamaCpp.Options(), Path(sys.argv[1]))\n"
        "    await model.check()\n"
        "    sys.stderr.write(f'child={model.pid}\\n')\n"
        "    sys.stderr.flush()\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False)
    child = Path("/proc") / done.stderr.partition("child=")[2].strip()

    assert done.returncode == -signal.SIGKILL
    for _ in range(2_000):
        if not (child / "stat").exists() or (child / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        os.sched_yield()
    pytest.fail("the model's process is still there")


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
    (tmp_path / "nan.gguf").write_bytes(raw[:-300_000] + b"\xff" * 300_000)

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
