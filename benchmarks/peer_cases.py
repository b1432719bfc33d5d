"""The whole panel on the cases of ten other systems' own detector tests: which come out as those systems expect.

Run it as `python benchmarks/peer_cases.py [FILE]`; the file is `../shared/streams/pasted/peer_cases.json` when it is
there.  A case is a run-length list of events.  It comes out as expected when the panel at least warns of what the case
calls degenerate (most of the other systems only warn there), and does not trip on what it calls healthy; a second count
asks for a trip.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from guards import Call, CallResult, Level, Output, Panel, Verdict

FILE = Path(__file__).resolve().parents[2] / "shared" / "streams" / "pasted" / "peer_cases.json"
AT_THE_END = ("All-Hands-AI/OpenHands", "OpenHands/software-agent-sdk")
"""Systems that are asked once, after the last event of a case: what counts is what is said of the last output."""
LIMITS = {"max=2: 3rd identical denied": 2, "hardThreshold=3: 3 identical": 2}
"""Cases that set a limit of their own, lower than their system's default, and ours for the same: so many equal calls
are allowed (without results ours trips at one more)."""
PIECE = 40
"""Characters of a streamed text at a time."""
FORM = "{:<44} {:>5} {:>11} {:>8}"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: its place in the file, where it comes from, what is expected, and its events."""

    index: int
    source: str
    name: str
    degenerate: bool
    at_the_end: bool
    streamed: bool
    events: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """What the panel said of a case: the most serious verdict, None when every guard passed."""

    case: Case
    worst: Verdict | None

    @property
    def level(self) -> Level:
        """The level of the worst verdict."""
        return Level.PASS if self.worst is None else self.worst.level

    @property
    def expected(self) -> bool:
        """Whether it came out as the case says."""
        return self.level >= Level.WARN if self.case.degenerate else self.level < Level.TRIP

    @property
    def strictly(self) -> bool:
        """Whether it tripped exactly if the case says that it is degenerate."""
        return self.case.degenerate == (self.level is Level.TRIP)


ARGUED: dict[str, str] = {
    "8 distinct read-only git overview commands in a row": (
        "the calls differ and what they brought is not recorded; it takes a list of one program's harmless commands"
    ),
    "whitespace-only difference": "two equal outputs: limits of two stop healthy agents",
    "empty steps neither count nor reset": "two equal outputs of one word, as above",
    "3 identical rounds": "results are not recorded: a warning at the third, a trip at the fifth",
    "repeated EMPTY calls": "results are not recorded: a warning at the third, a trip at the fifth",
    "interleaved other tools do not reset": (
        "a search again after each of two reads, results not recorded: a command again after each step is work"
    ),
    "argument key order": "two equal calls: a limit of two stops healthy agents; order is not looked at, see the tests",
    "exact repeat 3": "a warning at the third, as the other system gives; healthy cases have three equal calls too",
    "ping-pong 8 with changing results": "results that change each time are progress: so work a test and its fix",
    "ping-pong 8 with varying args": "neither a call nor a result comes twice: only two names alternate",
}
"""Cases that are left as they are, with the reason."""


def read(path: Path) -> list[Case]:
    """Return the cases of a file."""
    return [_case(index, value) for index, value in enumerate(json.loads(path.read_text()))]


def _case(index: int, value: Mapping[str, Any]) -> Case:
    events = tuple(part["event"] for part in value["input_stream"] for _ in range(part["times"]))
    return Case(
        index,
        value["source"].split("@")[0].split(" ")[0],
        value["case"],
        value["expected_detect"],
        value["source"].startswith(AT_THE_END) and "#" not in value["source"],
        "inside one prompt" in value["granularity"] or "streamed" in value["granularity"],
        events,
    )


def outputs(case: Case) -> Iterator[tuple[Output, tuple[CallResult, ...]]]:
    """Yield a case as outputs with their results: one call is one output, and a text that was streamed is one too.

    Outputs name no turn, as in a transcript: a message of the user is no event here.  What neither says nor calls
    anything is an empty output, except between the pieces of a stream.
    """
    text = ""
    for event in case.events:
        kind = event["type"]
        if kind == "user":
            continue
        if case.streamed and kind != "tool_call":
            text += event.get("text", "")
            continue
        if text:
            yield Output(text), ()
            text = ""
        calls = (Call(event["name"], event["args"]),) if kind == "tool_call" else ()
        yield Output(event.get("text", ""), calls), _results(event)
    if text:
        yield Output(text), ()


def _results(event: Mapping[str, Any]) -> tuple[CallResult, ...]:
    if "error" in event:
        return (CallResult(False, str(event["error"])),)
    return (CallResult(True, str(event["result"])),) if "result" in event else ()


def judge(case: Case) -> Finding:
    """Replay a case through a fresh panel: what it says while a text streams, of each output and of its results."""
    panel = Panel.standard({"tools": {"same": LIMITS[case.name]}} if case.name in LIMITS else {})
    said: list[Verdict] = []
    for output, results in outputs(case):
        if case.at_the_end:
            said.clear()
        watch = panel.watch()
        pieces = (output.text[i : i + PIECE] for i in range(0, len(output.text), PIECE))
        said += [verdict for piece in pieces if (verdict := watch.feed(piece)) is not None][:1]
        said += panel.update(output)
        said += panel.observe(results) if results else ()
    serious = [verdict for verdict in said if verdict.level > Level.PASS]
    return Finding(case, max(serious, key=lambda verdict: (verdict.level, verdict.score), default=None))


def table(findings: list[Finding]) -> str:
    """Return the counts by system, and each disagreement with what was said and why it stays."""
    total, agreed = Counter(f.case.source for f in findings), Counter(f.case.source for f in findings if f.expected)
    strict = Counter(f.case.source for f in findings if f.strictly)
    lines = [FORM.format("system", "cases", "as expected", "by trips")]
    lines += [FORM.format(source[:44], total[source], agreed[source], strict[source]) for source in sorted(total)]
    lines.append(FORM.format("all", total.total(), agreed.total(), strict.total()))
    return "\n".join([*lines, *(line for f in findings if not f.strictly for line in _disagreement(f))])


def _disagreement(finding: Finding) -> list[str]:
    case, worst = finding.case, finding.worst
    said = "nothing" if worst is None else f"{worst.guard} {worst.level.name}: {worst.reason}"
    kind, outcome = "degenerate" if case.degenerate else "healthy", "as" if finding.expected else "NOT as"
    return [
        f"\n{case.index} {case.source}: {case.name}",
        f"  {kind}, {outcome} expected: {said}",
        f"  {ARGUED.get(case.name, 'not argued')}",
    ]


def main(path: Path) -> None:
    """Print the table."""
    if not path.is_file():
        print(f"{path} is not there: nothing to measure, skipped")
        return
    print(table([judge(case) for case in read(path)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
