"""Prompt token ids of a growing thread, stored as what is new since the step before, and put together again exactly.

A step's ids are `keep` ids of its base (the base's prompt followed by its completion) and then its own `rest`.  Every
64th link is written out in full, so that no chain is long: what a thread costs on disk grows with what is new in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from daemon.trajectories.packing import pack_ids

DEPTH = 64

_WIDTH = 4  # bytes of a packed id


@dataclass(frozen=True, slots=True)
class Link:
    """How the prompt ids of one step lie on disk; `completion` is what followed them."""

    base: int | None
    keep: int
    depth: int
    rest: bytes
    completion: bytes


@dataclass(frozen=True, slots=True)
class Tail:
    """The last step of a thread: all its ids, packed, for the next one to stand on."""

    step: int
    depth: int
    ids: bytes


def link(prompt: tuple[int, ...], completion: tuple[int, ...], before: Tail | None) -> tuple[Link, bytes]:
    """Return how to store a prompt after `before`, and all its ids, packed."""
    packed, said = pack_ids(prompt), pack_ids(completion)
    keep = 0 if before is None or before.depth + 1 >= DEPTH else _shared(before.ids, packed)
    if before is None or not keep:
        return Link(None, 0, 0, packed, said), packed + said
    return Link(before.step, keep, before.depth + 1, packed[keep * _WIDTH :], said), packed + said


def restored(own: Link, fetch: Callable[[int], Link], known: Mapping[int, bytes] | None = None) -> bytes:
    """Return the packed prompt ids of a step.

    `fetch` gives the link of another step by its id; `known` holds all ids of some steps (prompt, then completion) that
    were put together before.
    """
    chain, ids, known = [own], b"", known or {}
    while (base := chain[-1].base) is not None:
        if base in known:
            ids = known[base]
            break
        chain.append(fetch(base))
    prompt = b""
    for each in reversed(chain):
        prompt = ids[: each.keep * _WIDTH] + each.rest
        ids = prompt + each.completion
    return prompt


def _shared(left: bytes, right: bytes) -> int:
    """Return how many leading ids are equal, by halving: comparing bytes is far quicker than a loop."""
    low, high = 0, min(len(left), len(right)) // _WIDTH
    while low < high:
        middle = (low + high + 1) // 2
        if left[low * _WIDTH : middle * _WIDTH] == right[low * _WIDTH : middle * _WIDTH]:
            low = middle
        else:
            high = middle - 1
    return low
