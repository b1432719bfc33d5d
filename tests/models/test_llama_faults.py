"""What goes wrong with a local model: its process dies or hangs, its file is not one.  The daemon goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from daemon.errors import ModelUnavailable
from daemon.models.llama_cpp import LlamaCpp
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
