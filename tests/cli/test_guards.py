"""`trimtab guards` as a person reads it: pages no wider than the terminal, and one clear line for what cannot be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from daemon.cli.guards import app
from daemon.cli.listing import columns, counted, hung, pages
from daemon.cli.plot import Scores, draw
from guards import GUARDS, Level, Verdict
from guards.panel import guard_class


def ran(*arguments: str) -> Result:
    """Run `trimtab guards` with these arguments, its output going to no terminal."""
    return CliRunner().invoke(app, arguments)


def written(file: Path, rows: Sequence[dict[str, Any]]) -> str:
    """Write a transcript and return its name."""
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize("name", GUARDS)
def test_a_page_fits_a_terminal_of_eighty_columns(name: str) -> None:
    """No paragraph is wider, no word is lost, and the example stays as it was written."""
    whole = ran("explain", name).stdout.rstrip("\n")
    page = pages(whole, 80)

    examples = [line for line in whole.split("\n") if line.startswith("    ")]
    assert all(len(line) <= 80 for line in page.split("\n") if line not in examples)
    assert page.split() == whole.split()
    assert examples == [line for line in page.split("\n") if line.startswith("    ")]
    assert "\nStatistic: " in page
    assert "\nOptions" in page


def test_a_page_that_fits_stays_as_it_is() -> None:
    """In a pipe, and on a terminal that is wide enough, a page is what stands in the source."""
    page = "loop: A loop.\n\nStatistic: the number of copies,\ndivided by what the period and the share allow."

    assert page == pages(page, None)
    assert page == pages(page, 120)
    assert (
        "Statistic: the number of copies, divided\nby what the period and the share allow."
        == pages(page, 40).split("\n\n")[1]
    )
    assert columns() is None or columns() >= 40  # type: ignore[operator]


def test_a_list_hangs_below_its_names() -> None:
    """Further lines begin where the first one's text does; in a pipe there is one line for each guard."""
    assert hung("loop  ", "a b c " * 9, 40).split("\n")[1].startswith(" " * 6 + "c a")
    assert "loop  a b" == hung("loop  ", "a b", None)
    lines = ran("list").stdout.splitlines()
    assert list(GUARDS) == [line.split()[0] for line in lines]
    assert [guard_class(name).kind for name in GUARDS] == [line.split()[1] for line in lines]


def test_one_is_not_many() -> None:
    """One row, two rows, no rows."""
    assert ("1 row", "2 rows", "0 rows") == (counted(1, "row"), counted(2, "row"), counted(0, "row"))


def test_the_sum_of_a_replay_counts_in_words(tmp_path: Path) -> None:
    """Rows, trips and warnings, each in the right number."""
    found = ran("replay", written(tmp_path / "a.jsonl", [{"text": "All is calm."}]))

    assert found.stdout.startswith("1 row, 0 trips, 0 warnings, nothing tripped; ")


def test_what_cannot_be_opened_has_no_line(tmp_path: Path) -> None:
    """A folder, a file that is not there and an empty one are named alone; a bad row is named with its line."""
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "nul.jsonl").write_bytes(b'{"text": "a"}\n{"text": "\x00"}\n')

    assert f"{tmp_path}: cannot be read: Is a directory" == str(ran("replay", str(tmp_path)).exception)
    missing = tmp_path / "none.jsonl"
    assert f"{missing}: cannot be read: No such file or directory" == str(ran("replay", str(missing)).exception)
    empty = tmp_path / "empty.jsonl"
    assert f"{empty}: there is no row in it; expected one JSON object a line" == str(
        ran("replay", str(empty)).exception
    )
    nul = tmp_path / "nul.jsonl"
    expected = f"{nul}:2: expected a JSON object: Invalid control character at column 11"
    assert expected == str(ran("replay", str(nul)).exception)


def test_an_argument_that_no_call_has_is_told(tmp_path: Path) -> None:
    """What --written names and the transcript does not hold would be read by nobody: one line on standard error."""
    call = {"name": "vault", "args": {"action": "append", "text": "All is calm."}}
    file = written(tmp_path / "a.jsonl", [{"text": "", "tool_calls": [call]}, {"text": "Well."}])
    found = ran("replay", file, "--written", "vault.append.text", "--written", "vault.append.body")

    assert f"--written vault.append.body: no call in {file} holds such a text\n" == found.stderr
    assert "" == ran("replay", file, "--written", "vault.append.text").stderr


def test_an_explained_row_shows_what_it_writes(tmp_path: Path) -> None:
    """A row whose words stand in its calls alone is not shown as empty where they are judged."""
    call = {"name": "vault", "args": {"action": "append", "text": "All is calm."}}
    file = written(tmp_path / "a.jsonl", [{"text": "", "tool_calls": [call]}])
    found = ran("replay", file, "--explain", "0", "--written", "vault.append.text").stdout.splitlines()

    assert ['row 0: 0 characters, calls "vault": ""', '    writes "All is calm."'] == found[:2]
    assert "writes" not in ran("replay", file, "--explain", "0").stdout


def test_a_picture_of_one_row_is_no_empty_one(tmp_path: Path) -> None:
    """One output is a point on an axis of whole rows."""
    scores = Scores()
    scores.add([Verdict("loop", Level.TRIP, 1.5)])
    draw(scores, tmp_path / "one.svg", "one.jsonl")
    shown = (tmp_path / "one.svg").read_text(encoding="utf-8")

    assert "<!-- 0 -->" in shown
    assert "<!-- 0.2 -->" not in shown
