"""What a run shows to the guards of its thread, as JSON: shown again in the same order, it leaves the same memory.

A run that keeps what it showed need not write what every guard made of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from guards import Call, CallResult, Output, Panel, Spend, Verdict


@dataclass(slots=True)
class Hearing:
    """A panel during one run; `events` is what it was shown, in order."""

    panel: Panel
    events: list[dict[str, Any]] = field(default_factory=list)

    def update(self, output: Output) -> tuple[Verdict, ...]:
        """Show an output to every guard."""
        spend, offered = output.spend, output.offered
        self.events.append(
            {
                "said": output.text,
                "calls": [[call.name, dict(call.args)] for call in output.calls],
                "turn": output.turn,
                "ts": output.ts,
                "model": output.model,
                "spend": [spend.tokens, spend.usd, spend.seconds],
                "offered": None if offered is None else sorted(offered),
                "prompt": output.prompt,
            }
        )
        return self.panel.update(output)

    def observe(self, results: Sequence[CallResult]) -> tuple[Verdict, ...]:
        """Let every guard hear what came back for the calls of the last output."""
        self.events.append({"came": [[result.ok, result.text] for result in results]})
        return self.panel.observe(results)


def hear_again(panel: Panel, events: Iterable[Any]) -> None:
    """Show a panel what it was shown after the states that it has loaded.  Raises ValueError at what is no event."""
    for event in events:
        match event:
            case {"said": str()}:
                panel.again(_output(event))
            case {"came": [*results]}:
                panel.observe(_results(results))
            case {"forgot": str(guard)}:
                panel.forget(guard)
            case _:
                raise ValueError("expected an output, results, or the name of a guard that was forgotten")


def _output(event: Mapping[str, Any]) -> Output:
    try:
        calls = tuple(Call(name, args) for name, args in event["calls"])
        offered = event["offered"]
        return Output(
            text=event["said"],
            calls=calls,
            turn=event["turn"],
            ts=event["ts"],
            model=event["model"],
            spend=Spend(*event["spend"]),
            offered=None if offered is None else frozenset(offered),
            prompt=event["prompt"],
        )
    except (KeyError, TypeError) as wrong:
        raise ValueError(f"expected an output with all its parts: {wrong}") from None


def _results(results: Iterable[Any]) -> list[CallResult]:
    try:
        return [CallResult(ok, text) for ok, text in results]
    except (TypeError, ValueError):
        raise ValueError("expected results, of a call each") from None
