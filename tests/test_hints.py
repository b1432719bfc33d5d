"""How long a hint is shown: it quotes what was withheld, so that no later run may see it."""

from __future__ import annotations

import asyncio

from tests.test_loop import CHANT, LOOK, Stage


def test_a_hint_is_shown_until_the_run_ends_and_not_to_the_next() -> None:
    """The model goes on calling under the hint; the thread keeps what it did, without the hint."""
    stage = Stage([CHANT, LOOK, LOOK, "I saw a lamp."])
    stage.run()
    assert stage.model is not None
    shown = [[message.name for message in prompt.messages].count("hint") for prompt in stage.model.prompts]

    assert [0, 1, 1, 1] == shown
    assert "hint" not in [message.name for message in asyncio.run(stage.recorder.threads.live("watch"))]
