"""`trimtab threads compact`, `fork`, `rewind` and `search`, as a person calls them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from daemon.cli import guards, threads
from daemon.errors import UsageError
from daemon.home import Home, create, plant
from daemon.types import Message, ToolCall
from tests.trajectories.scenes import SqlKept, begun, ended, wait


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An agent with a thread of forty runs; the first names a host and leaves a loop open."""
    home, notes = create(tmp_path / "agent", "UTC")
    plant(home, notes)
    monkeypatch.setenv("TRIMTAB_DIR", str(home.path))
    kept = SqlKept(home.database)

    async def story() -> None:
        for number in range(1, 41):
            first = " TODO: rotate the key of web-3." if number == 1 else ""
            said = f"Number {number}: all is well and there is nothing else to say of it.{first}"
            task = Message("user", f"Heartbeat watch, Fri 2026-11-20 21:{number:02d} UTC.\nLook.", name="watch")
            await kept.recorder.finish(ended(await begun(kept, number)), (task, Message("assistant", said)))

    wait(story())
    kept.close()
    return home


def call(*arguments: str) -> str:
    """Call `trimtab threads` and return what it printed; a failure raises."""
    result = CliRunner().invoke(threads.app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def live(thread: str = "watch") -> list[str]:
    """What the model sees of a thread."""
    return [row["text"] for row in json.loads(call("show", thread, "--json")) if row["live"]]


def test_a_person_compacts_a_thread(agent: Home) -> None:
    """It becomes shorter at once and keeps its open loop; the act is recorded; a second time there is nothing to do."""
    said = call("compact", "watch", "--why", "too long")
    acts = CliRunner().invoke(guards.app, ["acts"]).stdout

    assert "before; the history keeps everything" in said
    assert "TODO: rotate the key of web-3." in live()[-1] + live()[0]
    assert 80 == sum(not row["summary"] for row in json.loads(call("show", "watch", "--json")))
    assert "compact on watch  too long" in acts
    with pytest.raises(UsageError, match="nothing was said in watch since"):
        call("compact", "watch")


def test_what_finds_no_room_in_the_extract_is_in_the_vault(agent: Home) -> None:
    """Names that the extract has no room for are committed to the thread's note before the thread is cut."""
    kept = SqlKept(agent.database)

    async def story() -> None:
        for number in range(41, 121):
            said = Message(
                "assistant", f"Deployed build-{number:04d}-{number * 7919:x} to host-{number} without trouble."
            )
            await kept.recorder.finish(ended(await begun(kept, number)), (Message("user", f"Deploy {number}."), said))

    wait(story())
    kept.close()
    call("compact", "watch")
    notes = "\n".join(note.read_text() for note in (agent.vault / "agent" / "threads").glob("watch-*.md"))
    status = subprocess.run(["git", "status", "--short"], cwd=agent.vault, capture_output=True, text=True, check=True)
    summary = next(text for text in live() if text.startswith("Earlier"))

    assert [] == [n for n in range(41, 119) if f"build-{n:04d}-{n * 7919:x}" not in notes + summary]
    assert "" == status.stdout


def test_a_person_takes_runs_back(agent: Home) -> None:
    """By number and by name; the shown history marks them, and the search still finds them."""
    assert "watch ends with run-38 again\n" == call("rewind", "watch", "-n", "2")
    assert "watch ends with run-30 again\n" == call("rewind", "watch", "--to", "run-30")

    assert 60 == len(live())
    assert "x assistant: Number 40" in call("show", "watch")
    assert "run-40  assistant: Number 40" in call("search", "number 40")


def test_a_person_forks_a_thread(agent: Home) -> None:
    """The copy ends where it was told to; a name that no heartbeat could have is refused."""
    assert "side goes on from run-10, as watch did\n" == call("fork", "watch", "side", "--at", "run-10")

    assert 20 == len(live("side"))
    assert 80 == len(live())
    with pytest.raises(UsageError, match="expected the name of a thread"):
        call("fork", "watch", "Not A Name")


def test_a_rewind_needs_exactly_one_point(agent: Home) -> None:
    """Neither or both of --to and -n is a mistake that changes nothing."""
    with pytest.raises(UsageError, match="one of --to RUN and -n RUNS"):
        call("rewind", "watch")
    with pytest.raises(UsageError, match="one of --to RUN and -n RUNS"):
        call("rewind", "watch", "--to", "run-1", "-n", "1")

    assert 80 == len(live())


def test_an_agent_that_never_ran_has_no_threads_to_act_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search finds nothing and a rewind says why."""
    home, notes = create(tmp_path / "agent", "UTC")
    plant(home, notes)
    monkeypatch.setenv("TRIMTAB_DIR", str(home.path))

    assert "" == call("search", "anything")
    with pytest.raises(UsageError, match="no thread 'watch'"):
        call("rewind", "watch", "-n", "1")


def test_a_call_is_said_too(agent: Home) -> None:
    """What stands in a call's arguments is found and shown, in any script; a line goes on below, further in."""
    kept = SqlKept(agent.database)
    call_it = Message("assistant", "", (ToolCall("1", "vault", {"path": "people/ann.md", "text": "Grüße an 安娜"}),))
    done = Message("tool", "two\nlines", call_id="1", name="vault")

    async def story() -> None:
        await kept.recorder.finish(ended(await begun(kept, 41)), (Message("user", "Greet."), call_it, done))

    wait(story())
    kept.close()

    (line,) = call("search", "grüße 安娜").splitlines()
    assert line.startswith("  watch  run-41  assistant: [calls vault {")
    assert '"text": "Grüße an 安娜"}]' in line
    assert call("show", "watch").splitlines()[-3:] == [
        line.replace("watch  run-41  ", ""),
        "  tool vault: two",
        "    lines",
    ]


def test_marks_say_what_the_model_no_longer_sees(agent: Home) -> None:
    """A dot for what was compacted, a cross for what was taken back, in the listing and in what a search finds."""
    call("rewind", "watch", "-n", "1")
    call("compact", "watch")

    marks = {word: call("search", f"Number {word}:")[0] for word in ("1", "39", "40")}
    assert marks == {"1": ".", "39": " ", "40": "x"}
    assert "1 compaction, last" in call("list")
    assert "\n  user summary: Earlier in this thread" in call("show", "watch")


def test_a_search_that_finds_nothing_says_so(agent: Home) -> None:
    """In words for a person, an empty list as JSON; a thread that does not exist is a mistake."""
    missed = CliRunner().invoke(threads.app, ["search", "no such words"])

    assert "nothing that was said" in missed.stderr
    assert missed.stdout == ""
    assert call("search", "no such words", "--json") == "[]\n"
    with pytest.raises(UsageError, match="no thread 'nix'"):
        call("search", "well", "--thread", "nix")
