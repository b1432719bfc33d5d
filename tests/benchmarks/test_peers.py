"""The side-by-side run: scopes, prompts, what counts as found, and what is said of a system that is absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import peer_setup
import peer_worker
import peers
import pytest
from peer_streams import Case

from guards.base import Output
from guards.replay import Row


class Counting:
    """A detector that stops at the third output since its last reset."""

    def __init__(self) -> None:
        self.seen = 0

    def reset(self) -> None:
        self.seen = 0

    def take(self, asked: dict[str, Any]) -> bool:
        self.seen += 1
        return self.seen >= 3


def asked(*, carried: bool, begin: bool) -> dict[str, Any]:
    return {"carried": carried, "begin": begin, "fresh": True}


@pytest.mark.parametrize(("carried", "flags"), [(False, [False] * 4), (True, [False, False, True, True])])
def test_native_forgets_at_each_prompt(carried: bool, flags: list[bool]) -> None:
    """A native detector is reset before each new prompt, a carried one is not."""
    kept: dict[bool, peer_worker.Detector] = {}
    said = [peer_worker.answer(Counting, kept, asked(carried=carried, begin=i == 0))["flag"] for i in range(4)]
    assert said == flags


def test_another_stream_begins_anew() -> None:
    """A carried detector does not carry from one stream into the next."""
    kept: dict[bool, peer_worker.Detector] = {}
    said = [peer_worker.answer(Counting, kept, asked(carried=True, begin=i % 2 == 0))["flag"] for i in range(6)]
    assert not any(said)


def rows(*turns: str | None) -> list[Row]:
    return [Row(Output("text", turn=turn)) for turn in turns]


@pytest.mark.parametrize(
    ("name", "turns", "fresh"),
    [
        ("healthy/a", (None, None, None), [True, True, True]),
        ("healthy/a", ("1", "1", "2"), [True, False, True]),
        ("agents/mini_swe_a", (None, None, None), [True, False, False]),
    ],
)
def test_prompts(name: str, turns: tuple[str | None, ...], fresh: list[bool]) -> None:
    """Each output answers its own prompt, but outputs of one turn and the steps of one coding run share theirs."""
    assert [new for _, new in Case(name, "healthy", rows(*turns)).prompts()] == fresh


def test_a_flag_that_comes_without_the_collapse_too_finds_nothing() -> None:
    """A detection is a flag from the onset on that the healthy stream does not get at the same output."""
    base = Case("base", "healthy", rows(*[None] * 9))
    made = Case("made", "loops", base.rows, 4, "base")
    assert peers.Score.of({"made": {2, 5}, "base": {5}}, [made]).found["loops"] == 0
    found = peers.Score.of({"made": {2, 5, 6}, "base": {5}}, [made])
    assert (found.found["loops"], found.delays) == (1, [3])


def test_outputs_flagged_in_a_row_are_one_false_trip() -> None:
    """A detector that stays down until its next reset has tripped once."""
    score = peers.Score.of({"base": {2, 3, 4, 7}}, [Case("base", "healthy", rows(*[None] * 9))])
    assert (score.streams, score.trips) == (1, 2)


def test_nothing_is_downloaded_unasked(tmp_path: Path) -> None:
    """Without --install a system that is not in the cache folder is absent, and nothing is written there."""
    with pytest.raises(peer_setup.Absent, match="--install"):
        peer_setup.command("openhands", tmp_path, install=False)
    assert not list(tmp_path.iterdir())


def test_versions_are_those_of_the_systems_own_packages() -> None:
    """A version is read from names with and without a scope."""
    assert {peer: peer_setup.version(peer)[:2] for peer in ("gemini-cli", "hermes-agent")} == {
        "gemini-cli": "0.",
        "hermes-agent": "0.",
    }
