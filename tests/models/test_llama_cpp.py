"""The local model as the loop sees it: warm threads, exact tokens, streaming, stopping, deadlines and calls."""

from __future__ import annotations

import asyncio
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from daemon.errors import ModelError, ModelUnavailable
from daemon.models import shipped
from daemon.models.llama_cpp import LlamaCpp
from daemon.models.llama_engine import Engine
from daemon.types import Message, Prompt, Reply
from tests.models.watching import HOST, HOT, ask, prompt

if TYPE_CHECKING:
    from tests.models.conftest import With

pytestmark = pytest.mark.model

LINE = "Disk / is 61 percent full, load 0.42, memory 3.1 of 7.8 GiB, no failed units. "


async def turns(model: LlamaCpp, what: Prompt, count: int) -> list[Reply]:
    replies = []
    for number in range(count):
        replies.append(await ask(model, what))
        what = what.plus(replies[-1].message(), Message("user", f"Look again, number {number}."))
    return replies


def test_what_was_sampled_is_replayed_exactly(with_model: With) -> None:
    """Each prompt of a thread begins with the last one and with the very ids that were sampled, even of word salad."""

    async def body(model: LlamaCpp) -> list[Reply]:
        return await turns(model, prompt(tools=(HOST,)), 6)

    replies = with_model(body, **HOT, max_tokens=80)
    for before, after in itertools.pairwise(replies):
        assert before.sample is not None
        assert after.sample is not None
        said = before.sample.completion_ids[: -1 if before.finish == "stop" else None]
        kept = before.sample.prompt_ids + said
        assert after.sample.prompt_ids[: len(kept)] == kept
        assert after.usage.reused >= len(kept) - 1
        assert len(before.sample.logprobs) == len(before.sample.completion_ids) == before.usage.completion


def test_a_prompt_sent_again_costs_one_token(with_model: With) -> None:
    """A two-turn thread that is sent again needs no more than its last token evaluated."""

    async def body(model: LlamaCpp) -> tuple[Reply, Reply]:
        first = await ask(model, prompt(text=LINE * 20))
        second = prompt(text=LINE * 20).plus(first.message(), Message("user", "And now?"))
        await ask(model, second)
        return first, await ask(model, second)

    first, again = with_model(body, max_tokens=30)
    assert first.usage.reused == 0
    assert again.usage.reused >= 0.99 * again.usage.prompt


def test_threads_stay_warm_side_by_side_and_the_oldest_is_evicted(with_model: With) -> None:
    """Two threads that alternate keep their prefixes; a third one takes the place of the one used longest ago."""

    async def body(model: LlamaCpp) -> dict[str, Any]:
        texts = {"a": "alpha " * 200, "b": "bravo " * 200, "c": "charlie " * 200}
        threads = {name: Prompt(name, (Message("user", text),)) for name, text in texts.items()}

        async def reused(name: str) -> float:
            usage = (await ask(model, threads[name])).usage
            return usage.reused / usage.prompt

        return {"cold": [await reused("a"), await reused("b")], "warm": [await reused("a"), await reused("b")],
                "third": await reused("c"), "evicted": await reused("a")}  # fmt: skip

    seen = with_model(body, parallel_threads=2, max_tokens=5)
    assert max(*seen["cold"], seen["third"], seen["evicted"]) < 0.1
    assert min(seen["warm"]) > 0.99


def test_a_new_thread_takes_over_a_shared_beginning(with_model: With) -> None:
    """A fresh context with the same system message copies what another thread has evaluated."""

    async def body(model: LlamaCpp) -> Reply:
        long = Message("system", LINE * 20)
        await ask(model, Prompt("one", (long, Message("user", "How is the disk?"))))
        return await ask(model, Prompt("two", (long, Message("user", "What is the load?"))))

    reply = with_model(body, max_tokens=5)
    assert 0.9 < reply.usage.reused / reply.usage.prompt < 1


def test_log_probabilities_are_those_of_the_raw_model(with_model: With) -> None:
    """Evaluating the ids again gives each token the log-probability that the reply states, whatever the settings."""

    async def body(model: LlamaCpp) -> Reply:
        return await ask(model, prompt(tools=(HOST,)))

    sample = with_model(body, temperature=1.3, top_k=5, max_tokens=40).sample
    assert sample is not None
    engine = Engine(shipped.PATH, 2048, 1, 1)
    warm = engine.sequence("x", sample.prompt_ids)
    engine.prefill(warm, sample.prompt_ids)
    for token, stated in zip(sample.completion_ids, sample.logprobs, strict=True):
        logits = engine.logits().astype(np.float64)
        again = logits[token] - np.logaddexp.reduce(logits)
        assert stated == pytest.approx(again, abs=0.02)
        engine.decode(warm, [token])
    assert sample.model == shipped.SHA256
    assert sample.sampling["temperature"] == 1.3
    assert {len(sample.tokenizer), len(sample.template)} == {64}


def test_greedy_and_seeded_replies_repeat(with_model: With) -> None:
    """The same seed, or temperature 0, says the same thing again in another process; another seed does not."""

    def said(**options: Any) -> str:
        async def body(model: LlamaCpp) -> str:
            return (await ask(model, prompt(text="Tell me what you see."))).text

        return with_model(body, max_tokens=40, **options)

    assert said(temperature=0, seed=1) == said(temperature=0, seed=2)
    assert said(**HOT, seed=1) == said(**HOT, seed=1) != said(**HOT, seed=2)


def test_several_threads_may_ask_at_once(with_model: With) -> None:
    """Replies to several threads come one after the other, each for its own prompt."""

    async def body(model: LlamaCpp) -> list[Reply]:
        return await asyncio.gather(*(ask(model, prompt(f"thread {i}", f"Number {i}. " * (i + 1))) for i in range(5)))

    replies = with_model(body, max_tokens=10, parallel_threads=3)
    sizes = [reply.usage.prompt for reply in replies]
    assert sizes == sorted(set(sizes))


def test_a_count_is_the_size_of_the_prompt(with_model: With) -> None:
    """`count` says exactly how many tokens a reply will be asked with, and `window` how many there is room for."""

    async def body(model: LlamaCpp) -> tuple[int, int, Reply]:
        what = prompt(tools=(HOST,))
        return await model.count(what.messages, what.tools), await model.window(), await ask(model, what)

    counted, window, reply = with_model(body, max_tokens=5, context=1024)
    assert counted == reply.usage.prompt
    assert window == 1024


def test_a_prompt_that_is_too_long_is_refused_with_the_numbers(with_model: With) -> None:
    """A prompt beyond the context is an error that names both sizes, and nothing else breaks."""

    async def body(model: LlamaCpp) -> Reply:
        with pytest.raises(ModelError, match=r"local: the prompt has \d{3} tokens and the context holds 256") as wrong:
            await ask(model, prompt(text=LINE * 12))
        assert not isinstance(wrong.value, ModelUnavailable)
        return await ask(model, prompt())

    assert with_model(body, context=256, max_tokens=400).usage.prompt < 256


def test_the_context_is_filled_and_not_passed(with_model: With) -> None:
    """A reply ends with "length" where the context ends, without harm to the process."""

    async def body(model: LlamaCpp) -> Reply:
        return await ask(model, prompt(text="ab " * 10))

    reply = with_model(body, **HOT, context=64, max_tokens=5_000, seed=4)
    assert reply.usage.prompt + reply.usage.completion <= 64


def test_the_process_has_a_group_of_its_own(with_model: With) -> None:
    """Ctrl-C in a terminal reaches the daemon's group only, and the model is the first to go when memory is short."""

    async def body(model: LlamaCpp) -> tuple[int, str]:
        await model.check()
        assert model.pid is not None
        return os.getpgid(model.pid), Path(f"/proc/{model.pid}/oom_score_adj").read_text()

    group, score = with_model(body)
    assert group != os.getpgid(0)
    assert int(score) >= 500


def test_a_loosened_attempt_says_something_else_and_changes_nothing_after_it(with_model: With) -> None:
    """At temperature 0 the same prompt gives the same words, but for the attempt that is told to avoid them."""
    what = prompt(text="Continue the watch log.")

    async def body(model: LlamaCpp) -> tuple[Reply, list[Reply], Reply]:
        usual = await ask(model, what)
        others = [await model.loosened([usual.text]).reply(what, stop=lambda _: False, seconds=60) for _ in range(2)]
        return usual, others, await ask(model, what)

    usual, others, after = with_model(body, temperature=0.0, max_tokens=60)
    assert usual.sample is not None
    assert {usual.text} == {after.text}
    for other in others:
        assert other.sample is not None
        assert (0.8, 0.8) == (other.sample.sampling["temperature"], other.sample.sampling["dry"])
        assert other.sample.sampling["dry_length"] > 2
        longest = max(len(words) for words in _runs_of(other.text.split(), usual.text.split()))
        assert longest <= 5
    assert (0.0, 0.0) == (usual.sample.sampling["temperature"], usual.sample.sampling["dry"])


def _runs_of(said: list[str], before: list[str]) -> list[list[str]]:
    """Return every run of words that both have, and an empty one."""
    places = [(i, j) for i in range(len(said)) for j in range(len(before))]
    lengths = [next((n for n in range(60) if said[i : i + n + 1] != before[j : j + n + 1]), 60) for i, j in places]
    return [[], *(said[i : i + n] for (i, _), n in zip(places, lengths, strict=True))]
