"""The review as a person uses it: a real terminal of 100 by 30, keys, an editor, and what the screen says."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cli.reviewed_agent import UNREAD, beaten, by_hand, call, git, lived_in, made

pytestmark = pytest.mark.process

ASK = "? help: "
WAIT_SECONDS = 20.0


def _at_a_terminal(there: int) -> None:
    """Take the terminal, and hear Ctrl-C though the tests were started in the background, where nothing does."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(there, termios.TIOCSCTTY, 0)


class Person:
    """Somebody at a terminal in which the review runs."""

    def __init__(self, home: Path, **environment: str) -> None:
        self._here, there = pty.openpty()
        fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        command = [sys.executable, "-m", "daemon", "--dir", str(home), "vault", "review"]
        clean = {"PATH": os.defpath, "TERM": "xterm", "PYTHONPATH": str(Path(__file__).parents[2]), **environment}
        self.process = subprocess.Popen(
            command, stdin=there, stdout=there, stderr=there, env=clean, cwd=home, start_new_session=True,
            preexec_fn=partial(_at_a_terminal, there),
        )  # fmt: skip
        os.close(there)
        self.seen = ""

    def sees(self, text: str) -> str:
        """Wait until the screen says `text`; everything that was said since the last call."""
        began, said = time.monotonic(), ""
        while text not in said:
            assert time.monotonic() - began < WAIT_SECONDS, f"{text!r} never came, but: {said[-2000:]}"
            if select.select([self._here], [], [], 0.2)[0]:
                try:
                    said += os.read(self._here, 65_536).decode("utf-8", "replace").replace("\r\n", "\n")
                except OSError:
                    assert text in said, f"it ended without {text!r}: {said[-2000:]}"
        self.seen += said
        return said

    def presses(self, keys: str) -> None:
        """Press keys."""
        os.write(self._here, keys.encode())

    def leaves(self) -> int:
        """Wait for the end; the exit code."""
        code = self.process.wait(WAIT_SECONDS)
        os.close(self._here)
        return code


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An agent with three commits of its own, one by hand, and a proposal."""
    append = {"action": "append", "path": "people/ann.md"}
    agent = made(
        tmp_path / "agent",
        [
            [call("vault", **append, text="Ann likes tea.")],
            [call("page"), call("vault", **append, text="Ann hates \u202etea.")],
            [
                call("vault", **append, text="Ann has a boat."),
                call("vault", action="append", path="AGENTS.md", text="Go."),
            ],
        ],
    )
    beaten(agent, 3)
    by_hand(agent, "people/ann.md", "By hand.\n")
    return agent.path


@pytest.fixture
def person(home: Path) -> Iterator[Person]:
    """Somebody who has just started the review; the editor adds a line to each file."""
    editor = home / "editor.sh"
    editor.write_text('#!/bin/sh\nfor file in "$@"; do echo "Edited." >> "$file"; done\n')
    editor.chmod(0o755)
    somebody = Person(home, EDITOR=str(editor))
    yield somebody
    if somebody.process.poll() is None:
        somebody.process.kill()
        somebody.process.wait()


def log(home: Path, *arguments: str) -> list[str]:
    """Lines of plain git's log."""
    done = subprocess.run(["git", "log", *arguments], cwd=home / "vault", capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_every_key_does_what_it_says(home: Path, person: Person) -> None:
    """Approve, edit, revert with a reason, skip, then reject the proposal: the vault is as the screen said."""
    assert "by hand, passed: Begin" in person.sees(ASK)
    person.presses("a")
    assert "Ann hates <U+202E>tea." in person.sees(ASK)
    assert "page (untrusted)" in person.seen
    person.presses("e")
    assert "your edit is commit" in person.sees(ASK)
    person.presses("r")
    person.sees("not after all) ")
    person.presses("\n")
    person.sees(ASK)
    person.presses("r")
    person.sees("not after all) ")
    person.presses("It is not true.\n")
    page = person.sees(ASK)
    assert "taken back in commit" in page
    assert "---- 3 of 4 ----" in page
    person.presses("s")
    assert "AGENTS.md instructs the agent" in person.sees(ASK)
    person.presses("r")
    person.sees("not after all) ")
    person.presses("No.\n")
    assert "1 approved, 1 reverted, 1 skipped, 1 rejected" in person.sees("the mark is")

    assert person.leaves() == 0
    assert (home / "vault/people/ann.md").read_text() == "Ann likes tea.\nAnn has a boat.\nBy hand.\nEdited.\n"
    assert [line.split(":")[0][:6] for line in log(home, "--format=%s", "-3")] == ["revert", "edit p", "Note p"]
    assert not (home / "vault/.git/refs/heads/proposals/agents").exists()
    assert len(log(home, "--format=%an", "reviewed..main")) == 4


def test_quitting_keeps_what_was_decided(home: Path, person: Person) -> None:
    """`q` ends it, the mark stands behind the approved commit, and the next review begins there."""
    person.sees(ASK)
    person.presses("a")
    person.sees(ASK)
    person.presses("q")

    assert "1 approved, 3 not looked at" in person.sees("the mark is")
    assert person.leaves() == 0
    assert len(log(home, "--format=%h", "reviewed..main")) == 3


def test_other_keys_do_nothing(home: Path, person: Person) -> None:
    """Letters, arrows and Enter decide nothing; Ctrl-C leaves."""
    person.sees(ASK)
    person.presses("xyz\n\x1b[A\x1bOP 1")
    person.presses("\x03")

    assert "4 not looked at" in person.sees("the mark is")
    assert person.leaves() == 0


def test_help_and_second_thoughts_decide_nothing(home: Path, person: Person) -> None:
    """`?` says what each key does; Ctrl-C at the question why takes the key back, and bytes that are no text do too."""
    person.sees(ASK)
    person.presses("?")
    assert "keeps later edits; the agent is told why" in person.sees(ASK)
    person.presses("r")
    person.sees("not after all) ")
    person.presses("\x03")
    person.sees(ASK)
    person.presses("q")

    assert "4 not looked at" in person.sees("the mark is")
    assert person.leaves() == 0
    assert log(home, "--format=%s", "-1") == ["Note people/ann.md"]


def test_an_editor_that_is_interrupted_or_fails_commits_nothing(home: Path) -> None:
    """Ctrl-C while the editor has the terminal comes back to the question; so does an editor that says it failed."""
    for number, script in enumerate(("echo waiting; sleep 60", "exit 3")):
        editor = home / f"editor-{number}.sh"
        editor.write_text(f"#!/bin/sh\n{script}\n")
        editor.chmod(0o755)
        person = Person(home, EDITOR=str(editor))
        person.sees(ASK)
        person.presses("e")
        if number == 0:
            person.sees("waiting")
            person.presses("\x03")
        assert "nothing was committed" in person.sees(ASK)
        person.presses("q")
        person.sees("the mark is")
        assert person.leaves() == 0
    assert log(home, "--format=%s", "-1") == ["Note people/ann.md"]


def test_a_line_longer_than_the_screen_cannot_run_away_with_it(home: Path) -> None:
    """Such a line is shown a screen at a time as well, so that nothing passes by in its middle."""
    text = "x" * 2_000 + " in the middle " + "y" * 4_000
    agent = made(home / "other", [[call("vault", action="write", path="people/long.md", text=text)]], UNREAD)
    beaten(agent, 1)
    person = Person(agent.path)
    first = person.sees("to quit -- ")
    assert "in the middle" not in first
    person.presses(" ")
    assert "in the middle" in person.sees("to quit -- ")
    person.presses("d")
    person.sees(ASK)
    person.presses("a")
    person.sees("the mark is")
    assert person.leaves() == 0


def test_keys_pressed_too_early_approve_nothing(home: Path) -> None:
    """What was typed before the question stood on the screen is thrown away."""
    person = Person(home)
    person.presses("aaaaaaaa")
    person.sees(ASK)
    person.presses("q")

    assert "4 not looked at" in person.sees("the mark is")
    assert person.leaves() == 0


def test_a_proposal_can_be_edited_and_approved(home: Path, person: Person) -> None:
    """The editor changes the proposal, it is shown again, and what is approved is what was shown last."""
    for _ in range(3):
        person.sees(ASK)
        person.presses("s")
    person.sees(ASK)
    person.presses("e")
    assert "+\x1b[0m\x1b[32mEdited." in person.sees(ASK)
    person.presses("a")
    person.sees("the mark is")

    assert person.leaves() == 0
    assert (home / "vault/AGENTS.md").read_text() == "You keep watch.\nGo.\nEdited.\n"


def test_a_long_commit_waits_for_each_page(home: Path) -> None:
    """More than a screen is shown a screen at a time, and long runs of one line are counted."""
    long = "\n".join(f"Line {n}." for n in range(60)) + "\n" * 200 + "The end."
    agent = made(home / "other", [[call("vault", action="write", path="people/long.md", text=long)]])
    beaten(agent, 1)
    person = Person(agent.path)
    first = person.sees("to quit -- ")
    assert "Line 1." in first
    assert "Line 40." not in first
    person.presses(" ")
    person.sees("to quit -- ")
    person.presses(" ")
    assert "<194 more lines like this>" in person.sees(ASK)
    assert "The end." in person.seen
    person.presses("a")
    person.sees("the mark is")
    assert person.leaves() == 0


def test_thirty_commits_are_reviewed_in_one_sitting(tmp_path: Path) -> None:
    """30 of the agent's, 5 by hand, one proposal, one hostile note: approve all but that one."""
    agent = lived_in(tmp_path / "agent")
    person = Person(agent.path)
    for number in range(1, 32):
        page = person.sees(ASK)
        assert f"---- {number} of 31 ----" in page
        if "people/rules.md  (added)" not in page:
            person.presses("a")
            continue
        assert "p<U+0430>inted red.<U+202E><U+200B>" in page
        person.presses("r")
        person.sees("not after all) ")
        person.presses("That page is hostile.\n")
    assert "30 approved, 1 reverted; the mark is" in person.sees("the mark is")

    assert person.leaves() == 0
    assert person.seen.count("by hand, passed") == 6
    assert not (agent.vault / "people/rules.md").exists()
    assert (agent.vault / "AGENTS.md").read_text() == "You keep watch.\nPrefer short notes.\n"
    assert git(agent, "log", "reviewed..main") == ""
    assert git(agent, "status", "--porcelain") == ""
