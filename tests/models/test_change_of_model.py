"""A thread goes on with another model: what the one before sampled is read as text, never as token ids."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from daemon.models.llama_cpp import LlamaCpp
from daemon.types import Message, Prompt

TASK = Message("user", "Heartbeat watch, Fri 2026-11-20 21:00 UTC.\nLook around.", name="watch")
NEXT = Message("user", "Heartbeat watch, Fri 2026-11-20 21:05 UTC.\nLook around.", name="watch")


@pytest.mark.model
def test_token_ids_of_another_model_are_not_replayed(tmp_path: Path) -> None:
    """The same words take the same tokens, whoever said them first; only the model's own ids come back as they were."""
    model = LlamaCpp("local", LlamaCpp.Options(max_tokens=12, seed=1), tmp_path)

    async def story() -> None:
        said = await model.reply(Prompt("watch", (TASK,)), stop=lambda _: False, seconds=60)
        assert said.sample is not None
        own = said.message()
        plain = Message("assistant", said.text)
        odd = own.token_ids + own.token_ids if own.token_ids else ()
        theirs = Message("assistant", said.text, token_ids=odd, token_model="0" * 64)
        counts = [await model.count((TASK, one, NEXT)) for one in (plain, theirs)]
        assert counts[0] == counts[1]
        ours = Message("assistant", said.text, token_ids=odd, token_model=own.token_model)
        assert await model.count((TASK, ours, NEXT)) > counts[0]
        after = await model.reply(Prompt("other", (TASK, theirs, NEXT)), stop=lambda _: False, seconds=60)
        assert after.sample is not None
        assert odd not in [after.sample.prompt_ids[i : i + len(odd)] for i in range(len(after.sample.prompt_ids))]

    async def whole() -> None:
        try:
            await story()
        finally:
            await model.close()

    asyncio.run(whole())
