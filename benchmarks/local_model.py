"""The local model in ratios: an appended heartbeat against a cold prompt, our tokens per second against the library's.

Run `python benchmarks/local_model.py [--rounds N] [--json]`.  Everything is measured in one process tree, interleaved
and repeated, because times on a shared machine mean little alone.  Exit code 0 only when both expectations are met.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from llama_cpp import Llama

from daemon.models import shipped
from daemon.models.llama_cpp import LlamaCpp
from daemon.types import Message, Prompt, Reply

LINE = "Disk / is 61 percent full, load 0.42, memory 3.1 of 7.8 GiB, no failed units. "
THREAD_TOKENS = 2_000
SPOKEN, TURNS = 300, 8
HOT = {
    "temperature": 1.5,
    "top_p": 0.95,
    "min_p": 0.0,
    "top_k": 40,
}  # long replies: the shipped model ends early otherwise
THREADS = max(1, (os.cpu_count() or 2) - 1)


async def timed(model: LlamaCpp, prompt: Prompt) -> tuple[Reply, float, float]:
    """Return the reply, the seconds to its first piece of text, and the seconds from there to its end."""
    times = [time.perf_counter()]

    def heard(_: str) -> bool:
        times.append(time.perf_counter())
        return False

    reply = await model.reply(prompt, stop=heard, seconds=300)
    times.append(time.perf_counter())
    return reply, times[1] - times[0], times[-1] - times[1]


async def append(model: LlamaCpp, number: int) -> tuple[float, float]:
    """Return the seconds to the first word of a cold thread, and of the same thread with a heartbeat behind it."""
    messages = [Message("system", f"Watch number {number}."), Message("user", LINE)]
    while await model.count(messages) < THREAD_TOKENS:
        messages[1] = Message("user", messages[1].text + LINE * 8)
    prompt = Prompt(f"append {number}", tuple(messages))
    reply, cold, _ = await timed(model, prompt)
    _, warm, _ = await timed(model, prompt.plus(reply.message(), Message("user", "Heartbeat 12:05. Look again.")))
    return cold, warm


async def speak(model: LlamaCpp, library: Llama, number: int) -> list[float]:
    """Return tokens behind the first and the seconds for them: through trimtab, then llama-cpp-python by itself."""
    prompt = Prompt(f"speak {number}", (Message("user", f"Write a long report about host {number}."),))
    reply, _, seconds = await timed(model, prompt)
    assert reply.sample is not None
    ids = list(reply.sample.prompt_ids)
    stream = library.create_completion(ids, stream=True, max_tokens=SPOKEN, seed=number, repeat_penalty=1.0, **HOT)
    times = [time.perf_counter() for _ in stream]
    return [reply.usage.completion - 1, seconds, library.n_tokens - len(ids) - 1, times[-1] - times[0]]


async def measure(rounds: int) -> dict[str, float]:
    options = {"threads": THREADS, "max_tokens": SPOKEN, **HOT}
    library = Llama(str(shipped.PATH), n_ctx=4096, n_threads=THREADS, n_threads_batch=THREADS, verbose=False)
    colds, warms, ratios, rates = [], [], [], []
    with tempfile.TemporaryDirectory() as home:
        model = LlamaCpp("bench", LlamaCpp.Options.model_validate(options), Path(home))
        try:
            await model.check()
            for number in range(rounds):
                cold, warm = await append(model, number)
                colds.append(cold)
                warms.append(warm)
                turns = [await speak(model, library, TURNS * number + turn) for turn in range(TURNS)]
                said, seconds, others, other_seconds = map(sum, zip(*turns, strict=True))
                rates.append(said / seconds)
                ratios.append(said / seconds / (others / other_seconds))
        finally:
            await model.close()
            library.close()
    return {
        "cold_seconds": statistics.median(colds),
        "appended_seconds": statistics.median(warms),
        "appended_to_cold": statistics.median(warm / cold for warm, cold in zip(warms, colds, strict=True)),
        "tokens_per_second": statistics.median(rates),
        "speed_to_library": statistics.median(ratios),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    found = asyncio.run(measure(arguments.rounds))
    if arguments.json:
        print(json.dumps([found]))
    else:
        print(f"medians of {arguments.rounds} rounds, {THREADS} thread(s), {THREAD_TOKENS} tokens in the thread")
        print(f"  cold prompt, to the first word       {1000 * found['cold_seconds']:8.1f} ms")
        print(f"  appended heartbeat, to the first word{1000 * found['appended_seconds']:8.1f} ms")
        print(f"  appended / cold                      {found['appended_to_cold']:8.3f}     expected under 0.050")
        print(f"  tokens per second through trimtab    {found['tokens_per_second']:8.0f}")
        print(f"  trimtab / llama-cpp-python alone     {found['speed_to_library']:8.2f}     expected at least 0.95")
    return 0 if found["appended_to_cold"] < 1 / 20 and found["speed_to_library"] >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
