"""Made collapses of agents that call tools: silence, claims without a call, the same call again, cycles, errors.

The rows before the onset get healthy calls of their own (another one each time, most of them successful) unless the
host has calls already.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from collapse_edits import language, vocabulary
from collapse_markup import CLAIMS
from collapse_phrases import half

from guards.base import Call, CallResult
from guards.replay import Row

NAMES = ("read_file", "search", "list_folder", "write_file", "queue_status", "fetch_page", "run_tests")
OFFERED = frozenset(NAMES)
REFUSED = (
    "Error: permission denied for {}",
    "Error: could not open {}: no such file",
    "Traceback (most recent call last): ValueError: bad value {}",
    "HTTP 503: service unavailable ({})",
    "fatal: {} is not a repository",
    "Error: timed out after 30 s while reading {}",
)
NOT_THERE = ("send_pigeon", "consult_oracle", "self_reflect", "open_portal", "summon_report", "deep_think")


def _healthy(rows: Sequence[Row], onset: int, rng: random.Random) -> list[Row]:
    """Return the rows with the tools that are offered, and with a call in three of four of those before the onset."""
    own = vocabulary(rows, 500)
    known = any(row.output.calls for row in rows[:onset])

    def equipped(i: int, row: Row) -> Row:
        offered = replace(row, output=replace(row.output, offered=OFFERED | {c.name for c in row.output.calls}))
        if known or i >= onset or rng.random() < 0.25:
            return offered
        call = Call(rng.choice(NAMES), {"path": f"{rng.choice(own)}/{rng.choice(own)}-{i}.md"})
        text = " ".join(rng.choice(own) for _ in range(rng.randint(3, 25)))
        return _calls(offered, (call,), (CallResult(rng.random() < 0.93, text),))

    return [equipped(i, row) for i, row in enumerate(rows)]


def _calls(row: Row, calls: tuple[Call, ...], results: tuple[CallResult, ...], text: str | None = None) -> Row:
    output = replace(row.output, calls=calls, text=row.output.text if text is None else text)
    return replace(row, output=output, results=results)


def _from(rows: Sequence[Row], onset: int, rng: random.Random, sick: Callable[[int, Row], Row]) -> list[Row]:
    equipped = _healthy(rows, onset, rng)
    return [*equipped[:onset], *(sick(k, row) for k, row in enumerate(equipped[onset:]))]


def _brief(row: Row, rng: random.Random) -> str:
    """What the host says beside a call: a sentence of its own output."""
    sentences = [part for line in row.output.text[:4000].split("\n") for part in line.split(". ") if len(part) > 20]
    return rng.choice(sentences)[:200] if sentences else row.output.text[:200]


def _call(rng: random.Random, own: Sequence[str], i: int) -> tuple[Call, CallResult]:
    words = [rng.choice(own) for _ in range(12)]
    return Call(rng.choice(NAMES), {"path": f"{words[0]}/{words[1]}-{i}.txt"}), CallResult(True, " ".join(words[2:]))


def silent(
    rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, share: float = 0.97
) -> list[Row]:
    """Calls that work, with no words about them in almost every output."""
    own = vocabulary(rows, 500)

    def mute(k: int, row: Row) -> Row:
        call, result = _call(rng, own, k)
        return _calls(row, (call,), (result,), "" if rng.random() < share else None)

    return _from(rows, onset, rng, mute)


def claim(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """Outputs that say that something was done; nothing was called, or the call failed."""
    own, forms = vocabulary(rows, 500), half(CLAIMS[language(rows)], held_out)

    def done(k: int, row: Row) -> Row:
        text = f"{rng.choice(forms).format(rng.choice(own))} {_brief(row, rng)}".strip()
        if rng.random() < 0.7:
            return _calls(row, (), (), text)
        call, _ = _call(rng, own, k)
        return _calls(row, (call,), (CallResult(False, rng.choice(REFUSED).format(rng.choice(own))),), text)

    return _from(rows, onset, rng, done)


def cycle(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False, period: int = 1) -> list[Row]:
    """The same calls with the same results in the same order, whatever is said beside them."""
    own = vocabulary(rows, 500)
    wheel = [_call(rng, own, i) for i in range(period)]
    wheel = [(Call(NAMES[i % len(NAMES)], call.args), result) for i, (call, result) in enumerate(wheel)]

    def again(k: int, row: Row) -> Row:
        call, result = wheel[k % period]
        return _calls(row, (call,), (result,), _brief(row, rng))

    return _from(rows, onset, rng, again)


def churn(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """One tool with ever other arguments, and always the same nothing as its result."""
    own = vocabulary(rows, 500)
    name, nothing = rng.choice(("search", "fetch_page", "list_folder")), rng.choice(("No results.", "[]", "not found"))

    def other(k: int, row: Row) -> Row:
        call = Call(name, {"query": f"{rng.choice(own)} {rng.choice(own)} {k}"})
        return _calls(row, (call,), (CallResult(True, nothing),), _brief(row, rng))

    return _from(rows, onset, rng, other)


def cascade(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """Every call fails, of whichever tool."""
    own, refused = vocabulary(rows, 500), half(REFUSED, held_out)

    def fails(k: int, row: Row) -> Row:
        call, _ = _call(rng, own, k)
        return _calls(row, (call,), (CallResult(False, rng.choice(refused).format(rng.choice(own))),), _brief(row, rng))

    return _from(rows, onset, rng, fails)


def unknown(rows: Sequence[Row], onset: int, rng: random.Random, held_out: bool = False) -> list[Row]:
    """Calls of tools that do not exist."""
    own, names = vocabulary(rows, 500), half(NOT_THERE, held_out)

    def invents(k: int, row: Row) -> Row:
        call = Call(rng.choice(names), {"about": rng.choice(own)})
        return _calls(row, (call,), (CallResult(False, f"unknown tool {call.name}"),), _brief(row, rng))

    return _from(rows, onset, rng, invents)


CALLS: dict[str, tuple[Callable[..., list[Row]], str, int]] = {
    "silent_97": (silent, "silence tools", 20),
    "claim_without_call": (claim, "claims silence catchphrase opener template", 20),
    "same_call": (cycle, "tools", 20),
    "cycle_2": (partial(cycle, period=2), "tools", 20),
    "cycle_3": (partial(cycle, period=3), "tools", 20),
    "cycle_5": (partial(cycle, period=5), "tools", 30),
    "argument_churn": (churn, "tools", 20),
    "error_cascade": (cascade, "tools", 20),
    "unknown_tool": (unknown, "tools", 20),
}
"""Name: how it is made, which guards may name it, the most outputs to its detection."""
