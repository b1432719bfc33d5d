"""Guards on a recorded transcript: rows in, trips and warnings out.

Pure: whoever calls it opens files and reads clocks.  A row is
`{"ts", "text", "tool_calls": [{"name", "args"}], "tool_results": [{"ok", "text"}], "model"}`, all but `text` optional.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from guards.base import Call, CallResult, Json, Level, Output, Verdict
from guards.calls import looks_failed
from guards.panel import GUARDS, Panel, guard_class

LONGEST_START = 10_000
MOST_CALLS = 1_000
"""Tool calls, and results, of a row that are looked at: the last ones."""
MOST_KEPT = 100_000
"""Trips, and warnings, that are kept, so that a transcript of any size needs bounded memory."""


class BadRow(ValueError):
    """A row is not what replay reads; the message says which part and what was expected."""


@dataclass(frozen=True, slots=True)
class Row:
    """One output of a transcript with the results of its calls."""

    output: Output
    results: tuple[CallResult, ...] = ()


@dataclass(slots=True)
class Replayed:
    """What the guards said of a transcript, by row, counted from 0: the first MOST_KEPT of each kind."""

    rows: int = 0
    trips: list[tuple[int, Verdict]] = field(default_factory=list)
    warnings: list[tuple[int, Verdict]] = field(default_factory=list)

    def hear(self, verdicts: Iterable[Verdict]) -> None:
        """Take what the guards said of the next row."""
        for verdict in verdicts:
            kept = self.trips if verdict.level is Level.TRIP else self.warnings
            if verdict.level > Level.PASS and len(kept) < MOST_KEPT:
                kept.append((self.rows, verdict))
        self.rows += 1

    @property
    def first_trip(self) -> int | None:
        """The row of the first trip."""
        return self.trips[0][0] if self.trips else None

    def as_json(self, seconds: float) -> dict[str, Json]:
        """Return the object that `trimtab guards replay --json` prints."""
        return {
            "rows": self.rows,
            "first_trip": self.first_trip,
            "trips": [_said(row, verdict) for row, verdict in self.trips],
            "warnings": [_said(row, verdict) for row, verdict in self.warnings],
            "seconds": round(seconds, 3),
        }


def parse(value: object) -> Row:
    """Return the row that a decoded line of JSON stands for; raises BadRow with what was expected."""
    if not isinstance(value, Mapping):
        raise BadRow(f"a row should be an object with a text, not {_kind(value)}")
    text = value.get("text")
    if not isinstance(text, str):
        raise BadRow(f"'text' should be a string, not {_kind(text)}" if "text" in value else "'text' is missing")
    model = value.get("model")
    output = Output(
        text=text,
        calls=tuple(_call(item) for item in _items(value, "tool_calls")),
        ts=_seconds(value.get("ts")),
        model=model if isinstance(model, str) else "",
    )
    return Row(output, tuple(_result(item) for item in _items(value, "tool_results")))


def standard(
    baseline: int | None = None,
    acknowledged: Iterable[str] = (),
    written: Mapping[str, object] | None = None,
) -> Panel:
    """Return a panel for a file that nobody has described; `baseline` is the warm-up of every guard, within its bounds.

    `written` is as for a panel.  Raises ValueError when `baseline` is out of range.
    """
    if baseline is None:
        return Panel.standard(acknowledged=acknowledged, written=written)
    if not 1 <= baseline <= LONGEST_START:
        raise ValueError(f"a start should be of 1 to {LONGEST_START} outputs, not {baseline}")
    options = {}
    for name in GUARDS:
        fields = guard_class(name).Options.__dataclass_fields__
        if "warm_up" in fields:  # as near as the guard allows
            low, high = (fields["warm_up"].metadata[end] for end in ("low", "high"))
            options[name] = {"warm_up": int(min(max(baseline, low), high))}
    return Panel.standard(options, acknowledged, written=written)


def replay(rows: Iterable[Row], panel: Panel) -> Replayed:
    """Show every row to the panel, and go on after a trip as if nothing had been withheld."""
    done = Replayed()
    for _, verdicts in judged(rows, panel):
        done.hear(verdicts)
    return done


def judged(rows: Iterable[Row], panel: Panel) -> Iterator[tuple[Row, tuple[Verdict, ...]]]:
    """Yield each row with each guard's worse verdict of the two moments, before its calls and after."""
    for row in rows:
        before = panel.update(row.output)
        after = {verdict.guard: verdict for verdict in panel.observe(row.results)} if row.results else {}
        yield row, tuple(max(v, after.get(v.guard, v), key=lambda v: (v.level, v.score)) for v in before)


def _said(row: int, verdict: Verdict) -> dict[str, Json]:
    return {"row": row, "guard": verdict.guard, "score": verdict.score, "reason": verdict.reason}


def _items(value: Mapping[str, Any], key: str) -> list[Any]:
    items = value.get(key)
    if items is None:
        return []
    if not isinstance(items, list):
        raise BadRow(f"{key!r} should be a list, not {_kind(items)}")
    return items[-MOST_CALLS:]


def _call(item: object) -> Call:
    if not isinstance(item, Mapping) or not isinstance(item.get("name"), str):
        raise BadRow("each of 'tool_calls' should be an object with a name")
    args = item.get("args", item.get("arguments"))
    return Call(item["name"], args if isinstance(args, Mapping) else {} if args is None else {"": args})


def _result(item: object) -> CallResult:
    if isinstance(item, str):
        return CallResult(not looks_failed(item), item)
    if not isinstance(item, Mapping):
        raise BadRow(f"each of 'tool_results' should be an object with ok and text, not {_kind(item)}")
    text, ok = item.get("text"), item.get("ok")
    shown = text if isinstance(text, str) else "" if text is None else str(text)[:10_000]
    return CallResult(ok if isinstance(ok, bool) else not looks_failed(shown), shown)


def _seconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e15 < value < 1e15:
        return None
    return float(value)


_KINDS = {type(None): "null", bool: "true or false", int: "a number", float: "a number", str: "text", list: "a list"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "an object")
