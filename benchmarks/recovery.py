"""Real collapses of the shipped model at temperature 0, and what each rung of the way back does about them.

Run `python benchmarks/recovery.py [--cases N] [--after N] [--json] [--tell] [--amiss]`.  Each case is an agent of its
own: a watch log, or a watch over a machine whose load hardly moves, with a wording, a beginning and facts of its own.
It beats on one thread until a guard trips.  A case is recovered when the very run in which it collapsed ended ok: its
last reply passed every guard and did what the heartbeat expects.  Then it goes on, to see how many outputs later a
guard trips again; `--amiss` tells of the runs that did not end ok then.  Exit code 0 when nine tenths recover without a
person.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from pathlib import Path

from recovery_cases import Case, cases

from daemon import telemetry
from daemon.app import Agent, opened
from daemon.beating import beat_in
from daemon.clock import HeldClock
from daemon.home import create, plant
from daemon.tools.host import Host
from daemon.types import Run, Step
from guards import Level
from guards.text import quote

PATIENCE = 40  # heartbeats until a case that does not collapse is given up
RUNGS = ("retry", "quarantine", "sampler", "model", "rest")
HEARTBEAT = """---
every: 1h
tools: [{tools}]
{more}---
{instruction}
"""
SETTINGS = """name = "{name}"
[models.local]
backend = "llama_cpp"
path = "shipped"
temperature = 0.0
seed = {seed}
threads = 1
[context]
recall_notes = 0
"""


@dataclass
class Story:
    """What became of a case; an observer of its agent.  Beats are counted from 0."""

    case: int
    instruction: str
    collapsed_at: int | None = None
    guard: str = ""
    rungs: list[tuple[str, str]] = field(default_factory=list)
    outcome: str = ""
    reason: str = ""
    ended_by: str = ""
    again_after: int | None = None
    followed: int = 0
    tripped_again: int = 0
    well: int = 0
    asked: int = 0
    probe: str = ""
    texts: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    anew: float = 0.0
    amiss: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list, repr=False)

    def step_done(self, run: Run, step: Step) -> None:
        self.steps.append(step)

    def run_finished(self, run: Run) -> None: ...

    def breaker_changed(self, thread: str, guard: str, state: int) -> None: ...

    def recovered(self, rung: str, result: str) -> None: ...

    def model_state(self, model: str, up: bool) -> None: ...

    def vault_committed(self, kind: str) -> None: ...

    def occurrence_missed(self, heartbeat: str, reason: str, count: int) -> None: ...

    def next_due(self, heartbeat: str, at: datetime | None, lag_seconds: float | None) -> None: ...

    def heartbeat_removed(self, heartbeat: str) -> None: ...

    @property
    def recovered_alone(self) -> bool:
        return self.outcome == "ok"


async def told(case: Case, folder: Path, after: int, opening: asyncio.Lock) -> Story:
    """Let one case collapse and return what became of it; `opening` keeps migrations from meeting each other."""
    home, notes = create(folder / f"case-{case.number}", "UTC")
    tools, more = ("host", "expect: [host]\nfacts: [host]\n") if case.machine else ("", "")
    beat = HEARTBEAT.format(tools=tools, more=more, instruction=case.instruction)
    agents = notes["AGENTS.md"].replace(f"case-{case.number}", case.name)
    plant(home, {"AGENTS.md": agents, "heartbeats/watch.md": beat})
    home.settings.write_text(SETTINGS.format(name=case.name, seed=case.number), encoding="utf-8")
    story, clock = Story(case.number, case.instruction), HeldClock(case.start)
    async with contextlib.AsyncExitStack() as stack:
        async with opening:
            agent = await stack.enter_async_context(opened(home, [story], clock=clock))
        agent.folder.look()
        for number in range(PATIENCE + after):
            story.steps = []
            if await agent.resting(agent.folder.heartbeats["watch"]) is not None:
                await clock.advance(24 * 3600)
            run = await beat_in(moving(agent, case, number), "watch")
            await clock.advance(3600)
            if story.collapsed_at is None:
                collapse(story, run, number)
                story.said.append(run.said)
            else:
                follow(story, run)
            if story.outcome and not story.recovered_alone:
                await clock.advance(24 * 3600)
                story.probe = str((await beat_in(moving(agent, case, number + 1), "watch")).outcome)
                break
            if story.followed == after or (story.collapsed_at is None and number >= PATIENCE):
                break
    return story


def moving(agent: Agent, case: Case, number: int) -> Agent:
    """Return the agent with a machine whose load has moved by a hundredth."""
    if case.machine is None:
        return agent
    load = round(case.machine.averages[0] + 0.01 * (number % 7), 2)
    machine = replace(case.machine, averages=(load, *case.machine.averages[1:]))
    return replace(agent, tools={**agent.tools, "host": Host(None, machine)})


def new_share(text: str, before: list[str]) -> float:
    """Return which share of a text's phrases of four words stands in none of the texts before it."""
    known = {phrase for one in before for phrase in phrases(one)}
    own = set(phrases(text))
    return len(own - known) / len(own) if own else 0.0


def phrases(text: str) -> Iterator[tuple[str, ...]]:
    """Yield every four words in a row."""
    words = text.lower().split()
    yield from (tuple(words[i : i + 4]) for i in range(len(words) - 3))


def follow(story: Story, run: Run) -> None:
    """Note a run after the recovery."""
    tripped = any(step.rung for step in story.steps)
    if tripped and story.again_after is None:
        story.again_after = story.followed
    story.followed += 1
    story.tripped_again += tripped
    story.well += run.outcome == "ok"
    story.asked += len(story.steps)
    if run.outcome != "ok":
        story.amiss.append(f"run {story.followed} after it {run.outcome}: {run.reason}")
        story.amiss += [line for step in story.steps for line in stumble(step)]


def stumble(step: Step) -> Iterator[str]:
    """Yield what was said in a step, what tripped it, and the rung that was taken."""
    called = ", ".join(call.name for call in step.reply.calls) or "nothing"
    yield f"  said {quote(step.reply.text, 300)}, called {called}"
    yield from (f"    {v.guard} {v.outcome}: {v.reason}" for v in step.verdicts if v.level is Level.TRIP)
    yield f"    then {step.rung or 'went on'}"


def collapse(story: Story, run: Run, number: int) -> None:
    """Note how a run that collapsed came to its end."""
    stumbles = [step for step in story.steps if step.rung]
    trips = [v for step in stumbles for v in step.verdicts if v.level is Level.TRIP]
    if not any(trip.outcome == "tripped" for trip in trips):
        return
    story.collapsed_at, story.outcome, story.reason = number, str(run.outcome), run.reason
    worst = [max((v for v in s.verdicts if v.level is Level.TRIP), key=lambda v: v.score) for s in stumbles]
    story.guard = next(v.guard for v in worst if v.outcome == "tripped")
    story.rungs = [(v.guard, step.rung) for v, step in zip(worst, stumbles, strict=True)]
    story.ended_by = stumbles[-1].rung if story.recovered_alone else ""
    story.texts = [step.reply.text for step in story.steps]
    story.anew = new_share(story.texts[-1], [*story.said, *(step.reply.text for step in stumbles)])


async def measure(count: int, after: int, workers: int, tell: bool) -> list[Story]:
    """Return the stories of the first `count` cases that collapse, whatever the number of workers."""
    found: list[Story] = []
    waiting, opening = cases(4 * count), asyncio.Lock()

    async def work(folder: Path) -> None:
        for case in waiting:
            story = await told(case, folder, after, opening)
            if story.collapsed_at is not None:
                found.append(story)
            if tell:
                print(json.dumps(asdict(replace(story, steps=[]))), file=sys.stderr, flush=True)
            if len(found) >= count:
                break

    with tempfile.TemporaryDirectory(prefix="trimtab-recovery-") as folder:
        await asyncio.gather(*(work(Path(folder)) for _ in range(workers)))
    return sorted(found, key=lambda story: story.case)[:count]


def table(stories: list[Story]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield (
        f"{len(stories)} collapses of the shipped model at temperature 0, by the guard that tripped first: "
        + ", ".join(f"{guard} {n}" for guard, n in Counter(story.guard for story in stories).most_common())
    )
    yield ""
    yield f"{'rung':12}{'tried':>7}{'ended it':>10}   outputs until a guard trips again (median, shortest)"
    for rung in RUNGS:
        tried = sum(any(taken == rung for _, taken in story.rungs) for story in stories)
        ended = [story for story in stories if story.ended_by == rung]
        lasted = sorted(story.followed if story.again_after is None else story.again_after for story in ended)
        still = sum(story.again_after is None for story in ended)
        more = f"{lasted[len(lasted) // 2]}, {lasted[0]}; {still} of {len(ended)} not seen again" if ended else "-"
        yield f"{rung:12}{tried:>7}{len(ended):>10}   {more}"
    alone = sum(story.recovered_alone for story in stories)
    probed = sum(story.probe == "ok" for story in stories)
    yield ""
    later = sum(story.followed for story in stories)
    yield (
        f"the {later} outputs after: {sum(story.tripped_again for story in stories)} tripped again, "
        f"{sum(story.well for story in stories)} ended ok, {sum(story.asked for story in stories)} model calls"
    )
    fresh = sum(story.recovered_alone and story.anew >= 0.5 for story in stories)
    yield f"of the recovered replies {fresh} are new: at least half of their phrases of four words stand nowhere before"
    yield f"recovered in the same run: {alone} of {len(stories)}; by the probe after the rest: {probed} more"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--after", type=int, default=20, help="outputs to follow after a recovery")
    parser.add_argument("--workers", type=int, default=2, help="cases at a time")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--amiss", action="store_true", help="tell of the runs after a recovery that did not end ok")
    parser.add_argument("--tell", action="store_true", help="each case as a line of JSON on standard error")
    arguments = parser.parse_args()
    telemetry.setup("critical")
    stories = asyncio.run(measure(arguments.cases, arguments.after, arguments.workers, arguments.tell))
    if arguments.json:
        print(json.dumps([asdict(replace(story, steps=[])) for story in stories]))
    else:
        print("\n".join(table(stories)))
    if arguments.amiss and not arguments.json:
        print("\n".join(f"case {story.case}: {line}" for story in stories for line in story.amiss))
    return 0 if sum(story.recovered_alone for story in stories) >= 0.9 * arguments.cases else 1


if __name__ == "__main__":
    sys.exit(main())
