"""An agent whose notes collapse, from its settings to its vault: withheld, told, retried, and nothing of it is kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from daemon.app import opened
from daemon.beating import beat_in
from daemon.errors import ConfigError
from daemon.home import Home
from daemon.plugging import panel, tools_of, written_by
from daemon.settings import load
from daemon.trajectories.reading import reading
from daemon.trajectories.records import Records
from daemon.types import Outcome, Run
from guards import Call, Level, Output, Panel
from tests.cli.reviewed_agent import plant
from tests.guards.speech import talk
from tests.way_back import PARROT, Loosening, Scene, says

GOOD = "I saw a lamp."
PHRASE = "Sleep well, dear harbour of mine."
WATCH = "---\nevery: 1h\nthread: watch\ntools: [vault]\nbudget: {tokens: none}\n---\nNote what you saw.\n"
ONSET = 45
NOTES = [text if run < ONSET else f"{text} {PHRASE}" for run, text in enumerate(talk("notes", 80))]
REPLIES = talk("said", 80, sentences=1)


def noted(text: str) -> dict[str, Any]:
    """A line of a script that writes into the journal."""
    return {"text": "", "calls": [{"name": "vault", "args": {"action": "append", "path": "journal", "text": text}}]}


def tripping() -> int:
    """Return the first run whose note trips a guard, by what a panel says of the same stream."""
    judging = Panel.standard(written={"vault.append": ["text"]})
    for run, text in enumerate(NOTES):
        call = Call("vault", {"action": "append", "path": "journal", "text": text})
        for output in (Output("", (call,), turn=f"{run}"), Output(REPLIES[run], turn=f"{run}")):
            if any(verdict.level is Level.TRIP for verdict in judging.update(output)):
                return run
    raise AssertionError("nothing tripped")


def made(path: Path, lines: Sequence[Any], settings: str = "") -> Home:
    """Make an agent directory whose scripted model says these lines."""
    path.mkdir()
    (path / "script.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (path / "trimtab.toml").write_text(
        f'name = "keel"\n{settings}\n[models.local]\nbackend = "scripted"\nfile = "script.jsonl"\n'
    )
    plant(path, WATCH)
    return Home(path)


def story(home: Home, times: int) -> tuple[list[Run], list[Any], list[Any]]:
    """Run the heartbeat so often; return the runs, the steps of the last one, and what the model was shown in them."""

    async def told() -> tuple[list[Run], list[Any]]:
        async with opened(home) as agent:
            runs = [await beat_in(agent, "watch") for _ in range(times)]
            return runs, list(agent.models["local"].prompts)  # type: ignore[attr-defined]

    runs, prompts = asyncio.run(told())
    with reading(home.database) as view:
        record = Records(view).run(runs[-1].id)
    assert record is not None
    return runs, list(record.steps), prompts


def journal(home: Home) -> str:
    """Return all pages of the journal."""
    return "\n".join(page.read_text() for page in sorted((home.vault / "journal").glob("*.md")))


def test_a_phrase_that_takes_over_the_journal_is_withheld_and_retried(tmp_path: Path) -> None:
    """The note at which the guards trip is not written; the hint reaches the model, whose next note is."""
    last = tripping()
    lines = [line for run in range(last) for line in (noted(NOTES[run]), REPLIES[run])]
    better = "The ferry came in late and the crane stood still."
    home = made(tmp_path / "agent", [*lines, noted(NOTES[last]), noted(better), "Noted."])
    runs, steps, prompts = story(home, last + 1)
    kept = journal(home)

    assert {Outcome.OK} == {run.outcome for run in runs}
    assert [True, False, False] == [step.withheld for step in steps]
    assert "In the text that you gave to vault: " in steps[0].hint
    assert any(steps[0].hint in message.text for message in prompts[-2].messages)
    assert NOTES[last - 1] in kept
    assert (NOTES[last] in kept, better in kept) == (False, True)


def test_a_quarantine_empties_the_notes_that_carry_the_phrase(tmp_path: Path) -> None:
    """Where the hint does not help, the model is next asked without the notes of that phrase; the others stay."""
    last = tripping()
    lines = [line for run in range(last) for line in (noted(NOTES[run]), REPLIES[run])]
    better = "The ferry came in late and the crane stood still."
    home = made(tmp_path / "agent", [*lines, noted(NOTES[last]), noted(NOTES[last + 1]), noted(better), "Noted."])
    _, steps, prompts = story(home, last + 1)
    calls = [call for message in prompts[-2].messages for call in message.calls]

    assert ["retry", "quarantine", "", ""] == [step.rung for step in steps]
    assert last == len(calls)
    assert not any(PHRASE in call.args["text"] for call in calls)
    assert NOTES[ONSET - 1] in [call.args["text"] for call in calls]
    assert PHRASE in journal(home)


def test_a_note_that_trips_is_withheld_avoided_and_taken_out() -> None:
    """What is written through a tool goes the same way as what is said: no rung forgets it."""
    noting, other = ({"calls": [{"name": "look", "args": {"why": why}}]} for why in (PARROT, f"{PARROT} Again."))
    scene = Scene()
    scene.run(says(noting, GOOD))  # nothing is declared yet: the note is not read
    scene.written = {"look": ("why",)}
    model = Loosening("local", [other] * 3, [GOOD])
    run = scene.run(model)
    left = [call.args for message in asyncio.run(scene.recorder.threads.live("watch")) for call in message.calls]

    assert (GOOD, ["look"]) == (run.said, scene.hands.called)
    assert ["retry", "quarantine", "sampler", ""] == [step.rung for step in scene.steps]
    assert [{"why": ""}] == left
    assert {PARROT, f"{PARROT} Again."} <= {text for texts in model.avoided for text in texts}


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", {"vault.append": ("text",), "vault.write": ("text:whole",)}),
        ("vault = []", {}),
        ("vault.write = []", {"vault.append": ("text",)}),
        (
            'vault.append = ["text", "path"]\nclock = "zone"',
            {"vault.write": ("text:whole",), "vault.append": ("text", "path"), "clock": ("zone",)},
        ),
    ],
)
def test_a_person_may_declare_more_tools_and_take_some_out(
    tmp_path: Path, table: str, expected: dict[str, tuple[str, ...]]
) -> None:
    """`[guards.written]` comes after what tools say of themselves; a list without names takes a tool out."""
    (tmp_path / "trimtab.toml").write_text(f"[guards.written]\n{table}\n")
    settings = load(tmp_path)
    found = written_by(tools_of(settings), settings)

    assert expected == found
    assert expected == panel(settings, {}, written=found).written


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("say = 'text'", "trimtab.toml: guards.written.say: expected a tool, one of clock, host, "),
        (
            "vault = 3",
            "trimtab.toml: guards.written.vault: expected the name of an argument that holds text, or a list",
        ),
        ("vault.append = ['']", "trimtab.toml: guards.written.vault.append: expected the name of an argument"),
    ],
)
def test_a_bad_declaration_is_one_line(tmp_path: Path, line: str, says: str) -> None:
    """File, key and what was expected, when the agent starts."""
    home = made(tmp_path / "agent", ["Well."], f"[guards.written]\n{line}")
    with pytest.raises(ConfigError) as wrong:
        story(home, 1)

    assert says in str(wrong.value)
    assert "\n" not in str(wrong.value)
