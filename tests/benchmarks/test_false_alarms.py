"""The simulated years: what varies among them, what they say, and that a cut-off run goes on."""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

import false_alarms
import pytest
from false_alarms import WAYS, Year, interval, simulate


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, ...]:
    """Two sources of 60 texts of ten different sentences each."""
    made = []
    for name in ("harbour", "orchard"):
        path = tmp_path / f"{name}.jsonl.gz"
        rows = (
            " ".join(f"The {name} of day {day} has {n + day * 10} things to count and see." for n in range(10))
            for day in range(60)
        )
        path.write_bytes(gzip.compress("\n".join(json.dumps({"text": text}) for text in rows).encode()))
        made.append(path)
    return tuple(made)


def test_every_way_is_lived_with_and_without_turns_and_with_one_model_or_two() -> None:
    """Forty-eight years hold each way with and without named turns, and with and without a change of model."""
    years = [Year(number, 1, ()) for number in range(48)]
    assert {(year.way, year.turns) for year in years} == {(way, flag) for way in WAYS for flag in (False, True)}
    assert {(year.way, year.models) for year in years} == {(way, flag) for way in WAYS for flag in (False, True)}
    assert sum(year.turns for year in years) == 24
    assert sum(year.models for year in years) == 12


def test_a_year_is_the_same_again_for_its_seed(sources: tuple[Path, ...]) -> None:
    """Number and seed decide a year; its line says what it was."""
    line = simulate(Year(9, 7, sources), outputs=120)
    assert line == simulate(Year(9, 7, sources), outputs=120)
    assert (line["seed"], line["year"], line["way"], line["turns"]) == (7, 9, "bursty", True)


def test_a_run_goes_on_where_its_file_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Years that stand in the file are not simulated again, and count in the table."""
    file = tmp_path / "years.jsonl"
    file.write_text("".join(json.dumps(Year(n, 1, ()).line(Counter(repeat=n))) + "\n" for n in range(3)))
    monkeypatch.setattr(sys, "argv", ["false_alarms.py", str(tmp_path), "--years", "3", "--into", str(file)])
    false_alarms.main()
    said = capsys.readouterr().out
    assert len(file.read_text().splitlines()) == 3
    assert [line.split()[1:3] for line in said.splitlines() if line.startswith("all ")] == [["3", "3"]]


def test_the_interval_is_exact() -> None:
    """No alarm leaves up to 3.69 in the interval of 95 %; four leave 1.09 to 10.24 (tables of Garwood 1936)."""
    assert interval(0) == pytest.approx((0.0, 3.689), abs=0.001)
    assert interval(4) == pytest.approx((1.090, 10.242), abs=0.001)
