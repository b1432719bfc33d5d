"""Guards on a recorded transcript, and the command around it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from daemon.cli.guards import app
from daemon.cli.plot import POINTS, Scores
from daemon.cli.transcript import Reading
from daemon.errors import UsageError
from guards import Level, Verdict
from guards.replay import BadRow, parse, replay, standard

SAME = "All the boats are in and there is nothing more to report tonight."
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("name", "args", "ok", "text", "x")), inner, max_size=3)
    ),
    max_leaves=8,
)


def written(path: Path, rows: list[Any]) -> str:
    """Write rows as lines of JSON and return the file's name."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def ran(*arguments: str, stdin: bytes = b"") -> Any:
    return CliRunner().invoke(app, ["replay", *arguments], input=stdin)


def test_replay_names_rows_from_zero_and_goes_on_after_a_trip() -> None:
    """The fifth equal row trips as row 4, and the ones after it too."""
    done = replay([parse({"text": SAME})] * 7, standard())
    assert done.rows == 7
    assert done.first_trip == 4
    assert [row for row, _ in done.trips] == [4, 5, 6]
    assert [row for row, _ in done.warnings] == [2, 3]


def test_results_of_a_row_are_heard_with_it() -> None:
    """A trip that only the results show is reported at their row, once."""
    row = {
        "text": "",
        "tool_calls": [{"name": "read", "args": {"p": 1}}],
        "tool_results": [{"ok": True, "text": "end"}],
    }
    done = replay([parse(row)] * 4, standard())
    assert [(i, v.guard) for i, v in done.trips] == [(3, "tools")]


def test_baseline_sets_the_warm_up() -> None:
    """A longer baseline arms the sequential tests later; a senseless one is refused."""
    assert standard(100).guards[1].options.warm_up == 100
    with pytest.raises(ValueError, match="a start should be of 1 to"):
        standard(0)


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ([1], "should be an object"),
        ({}, "'text' is missing"),
        ({"text": 3}, "'text' should be a string"),
        ({"text": "", "tool_calls": "x"}, "'tool_calls' should be a list"),
        ({"text": "", "tool_calls": [{"args": {}}]}, "with a name"),
        ({"text": "", "tool_results": [3]}, "with ok and text"),
    ],
)
def test_a_bad_row_says_what_was_expected(row: object, says: str) -> None:
    """Each kind of bad row has its own sentence."""
    with pytest.raises(BadRow, match=says):
        parse(row)


@given(
    st.fixed_dictionaries(
        {"text": st.text(st.characters(), max_size=20)},
        optional={k: JSON for k in ("ts", "tool_calls", "tool_results", "model", "x")},
    )
)
def test_any_row_is_read_or_refused_and_never_raises_otherwise(row: dict[str, Any]) -> None:
    """Whatever JSON stands in the optional fields, parse gives a row that replays, or BadRow."""
    try:
        parsed = parse(row)
    except BadRow:
        return
    assert replay([parsed] * 2, standard()).rows == 2


def test_command_prints_the_object_of_the_design(tmp_path: Path) -> None:
    """--json has exactly the promised keys, and exit code 3 says that something tripped."""
    outcome = ran(written(tmp_path / "a.jsonl", [{"text": SAME}] * 5), "--json")
    assert outcome.exit_code == 3
    found = json.loads(outcome.stdout)
    assert list(found) == ["rows", "first_trip", "trips", "warnings", "seconds"]
    assert (found["rows"], found["first_trip"]) == (5, 4)
    assert list(found["trips"][0]) == ["row", "guard", "score", "reason"]


def test_command_is_content_with_healthy_rows_from_gzip_and_standard_input(tmp_path: Path) -> None:
    """Exit code 0, from a .gz file and from -, packed or not."""
    line = json.dumps({"text": "The lamp is lit.", "ts": 1, "model": "m"}).encode() + b"\n"
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(line))
    assert ran(str(packed)).exit_code == 0
    assert ran("-", stdin=line).exit_code == 0
    assert ran("-", stdin=gzip.compress(line)).exit_code == 0


def test_command_tells_each_trip_with_its_hint(tmp_path: Path) -> None:
    """The plain report names row, guard, reason and hint, with control characters escaped."""
    text = "The bell \x1b[31m rings and the boats are all in for the night."
    outcome = ran(written(tmp_path / "a.jsonl", [{"text": text}] * 5))
    assert "row 4  trip  repeat" in outcome.stdout
    assert "hint: " in outcome.stdout
    assert "\x1b" not in outcome.stdout


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "there is no row"),
        (b'{"text": "a"}\nnot json\n', ":2: expected a JSON object"),
        (b'{"text": "a"}\n\n{"tex": "a"}\n', ":3: 'text' is missing"),
        (b'{"text": "\xff"}\n', ":1: expected UTF-8"),
        (b'{"text": "a"}\n{"text": "\\ud800 b"}\n', ":2: it holds a lone surrogate"),
        (b'{"text": ' + b"[" * 100_000 + b"\n", ":1: "),
        (b"\x1f\x8bbroken", ":1: cannot be read"),
        (gzip.compress(b'{"text": "a"}\n' * 500)[:60], "cannot be read"),
    ],
    ids=["empty", "json", "text", "utf8", "surrogate", "deep", "gzip", "cut"],
)
def test_bad_input_names_file_and_line(tmp_path: Path, content: bytes, says: str) -> None:
    """Every kind of bad input is one clear line, with the exit code 2 of a usage error."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    outcome = ran(str(path))
    assert isinstance(outcome.exception, UsageError)
    assert outcome.exception.exit_code == 2
    assert str(outcome.exception).startswith(str(path))
    assert says in str(outcome.exception)
    assert "\n" not in str(outcome.exception)


@pytest.mark.parametrize("name", [".", "no-such-file"])
def test_a_directory_or_nothing_is_refused(tmp_path: Path, name: str) -> None:
    """A directory and a missing file are bad input too."""
    assert isinstance(ran(str(tmp_path / name)).exception, UsageError)


def test_skip_bad_counts_and_goes_on(tmp_path: Path) -> None:
    """With --skip-bad the rows that can be read are judged, and the others are counted on standard error."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"\n".join([b'{"text": "a"}', b'{"text": "\\ud800"}', b"\xff", b'{"text": "b"}']))
    outcome = ran(str(path), "--skip-bad", "--json")
    assert outcome.exit_code == 0
    assert json.loads(outcome.stdout)["rows"] == 2
    assert "2 bad rows skipped, the first at line 2" in outcome.stderr


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A giant line is a bad row of its own line number and never held in memory as a whole."""
    monkeypatch.setattr("daemon.cli.transcript.LONGEST", 64)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "' + b"x" * 1000 + b'"}\n{"text": "b"}\n')
    reading = Reading(str(path), skip_bad=True)
    assert len(list(reading.rows())) == 1
    assert (reading.bad, reading.first_bad) == (1, 1)


def test_list_and_explain_show_the_pages() -> None:
    """`list` has a line for each guard, also as JSON; `explain` prints a page or names the choices."""
    runner = CliRunner()
    assert {row["name"] for row in json.loads(runner.invoke(app, ["list", "--json"]).stdout)} >= {"loop", "tools"}
    assert "repeat" in runner.invoke(app, ["list"]).stdout
    assert "False alarms" in runner.invoke(app, ["explain", "vocabulary"]).stdout
    assert "it should be one of loop" in str(runner.invoke(app, ["explain", "nothing"]).exception)


def test_explain_a_row_shows_where_its_evidence_stood_before(tmp_path: Path) -> None:
    """--explain prints every guard's score of one row and the earlier rows that hold the same words."""
    texts = [f"The {word} is calm and so is the sea around the old pier of the harbour." for word in "abcd"]
    path = written(tmp_path / "a.jsonl", [{"text": text} for text in texts] + [{"text": SAME}] * 5)
    outcome = ran(path, "--explain", "8")
    assert outcome.exit_code == 0
    assert outcome.stdout.startswith("row 8: ")
    assert "repeat 1.00" in outcome.stdout
    assert "pass  budget 0.00" in outcome.stdout
    assert isinstance(ran(path, "--explain", "9").exception, UsageError)


def test_a_declared_acknowledgement_is_not_judged_by_its_words(tmp_path: Path) -> None:
    """--acknowledge names an answer that is the same by design."""
    path = written(tmp_path / "a.jsonl", [{"text": SAME}] * 9)
    assert ran(path, "--acknowledge", SAME).exit_code == 0


@pytest.mark.parametrize(("name", "begins"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml")])
def test_plot_draws_every_guard_that_saw_something(tmp_path: Path, name: str, begins: bytes) -> None:
    """--plot writes the picture in the format that the name says."""
    path = written(tmp_path / "a$b.jsonl", [{"text": SAME}] * 6)
    assert ran(path, "--plot", str(tmp_path / name)).exit_code == 3
    assert (tmp_path / name).read_bytes().startswith(begins)


@pytest.mark.parametrize("name", ["missing/out.png", "out.nothing"])
def test_a_picture_that_cannot_be_written_is_one_clear_line(tmp_path: Path, name: str) -> None:
    """A folder that is not there and an unknown format are usage errors."""
    outcome = ran(written(tmp_path / "a.jsonl", [{"text": SAME}]), "--plot", str(tmp_path / name))
    assert isinstance(outcome.exception, UsageError)
    assert "--plot" in str(outcome.exception)
    assert "\n" not in str(outcome.exception)


def test_scores_of_any_length_need_bounded_memory() -> None:
    """Each stretch keeps its highest score, however many rows there are."""
    scores = Scores()
    for row in range(20_000):
        trip = row == 12_345
        scores.add([Verdict("repeat", Level.TRIP if trip else Level.PASS, 1.2 if trip else 0.1)])
    assert len(scores.by_guard["repeat"]) <= 2 * POINTS
    assert max(scores.by_guard["repeat"]) == 1.2
    assert [
        place * scores.stretch <= 12_345 < (place + 1) * scores.stretch
        for place, t in enumerate(scores.trips["repeat"])
        if t
    ] == [True]


@pytest.mark.parametrize("count", ["1", "5", "300", "10000"])
def test_any_baseline_is_as_near_as_each_guard_allows(tmp_path: Path, count: str) -> None:
    """--baseline N is the start of every guard, within the bounds of its own."""
    assert ran(written(tmp_path / "a.jsonl", [{"text": "The lamp is lit."}]), "--baseline", count).exit_code == 0


@pytest.mark.parametrize("options", [("--explain", "0", "--json"), ("--explain", "0", "--plot", "out.png")])
def test_what_does_not_go_together_is_refused(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Nothing that was asked for is silently left out."""
    assert isinstance(ran(written(tmp_path / "a.jsonl", [{"text": "a"}]), *options).exception, UsageError)


def test_a_file_of_bad_rows_says_how_many_there_were(tmp_path: Path) -> None:
    """With --skip-bad and nothing left, the line counts what was skipped."""
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"no\nno\n")
    assert "2 bad ones skipped, the first at line 1" in str(ran(str(path), "--skip-bad").exception)


def test_a_row_of_very_many_calls_is_bounded() -> None:
    """The last calls of a row are looked at, however many there are."""
    row = parse({"text": "", "tool_calls": [{"name": f"t{i}"} for i in range(5000)]})
    assert (len(row.output.calls), row.output.calls[-1].name) == (1000, "t4999")


def test_command_reads_what_was_written_through_a_tool(tmp_path: Path) -> None:
    """With --written the words of that argument are judged too, and --explain finds where the evidence stood before."""
    rows = [
        {"text": f"Reply {n}: gone to pier {n}.", "tool_calls": [{"name": "say", "args": {"it": SAME}}]}
        for n in range(6)
    ]
    path = written(tmp_path / "a.jsonl", rows)
    outcome = ran(path, "--written", "say.it")

    assert ran(path).exit_code == 0
    assert outcome.exit_code == 3
    assert "row 4  trip  repeat 1.00  in what it writes with say: " in outcome.stdout
    assert "hint: In the text that you gave to say: " in outcome.stdout
    assert "rows 0, 1, 2, 3" in ran(path, "--written", "say.it", "--explain", "4").stdout


@pytest.mark.parametrize("bad", ["say", "say.", ".it", "a\nb.c", "x" * 200 + ".c"])
def test_a_declaration_without_tool_and_argument_is_bad_input(tmp_path: Path, bad: str) -> None:
    """What names no argument of a tool is one line that says what was expected."""
    outcome = ran(written(tmp_path / "a.jsonl", [{"text": SAME}]), "--written", bad)

    assert isinstance(outcome.exception, UsageError)
    assert str(outcome.exception).startswith("--written: ")
    assert "\n" not in str(outcome.exception)
