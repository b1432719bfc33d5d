"""HEARTBEAT.md and jobs.json: whatever they hold, what comes out are heartbeat files that trimtab takes."""

from __future__ import annotations

import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.heartbeat.file import parse
from daemon.imports.beats import Beat, beats_of, jobs_of
from daemon.imports.schedules import schedule_in

UTC = ZoneInfo("UTC")
LINES = st.one_of(
    st.sampled_from(["# Daily at 9:00", "## Every 2 hours", "- every 5m: look", "- [x] done", "- [ ] open", "  more"]),
    st.sampled_from(["tasks:", "- name: a", "  interval: 30m", "  prompt: do", "", "<!-- x", "-->", "text", "---"]),
    st.sampled_from(["- [paused] hourly ping", "## Completed", "every 0m: x"]),
)


def sound(beats: list[Beat]) -> None:
    """Every heartbeat is one that trimtab takes, under a name of its own."""
    assert len({beat.name for beat in beats}) == len(beats)
    for beat in beats:
        parse("x.md", beat.name, beat.file("there\n---\npaused: false").encode(), UTC)


@pytest.mark.parametrize(
    ("line", "schedule"),
    [
        ("Daily (morning)", "every: 1d"),
        ("Weekly (Monday)", 'cron: "0 0 * * 1"'),
        ("Memory (runs every heartbeat)", "every: 30m"),
        ("Check mail every 15 min", "every: 15m"),
        ("daily 18:30 - write", 'cron: "30 18 * * *"'),
        ("**Every Friday at 5pm**: report", 'cron: "0 17 * * 5"'),
        ("at 12am daily", None),
        ("`*/5 8-18 * * mon-fri` ping", 'cron: "*/5 8-18 * * mon-fri"'),
        ("See whether the daily backup ran", None),
        ("Look at meetings in the next 2 hours", None),
        ("continuous integration", None),
    ],
)
def test_a_schedule_is_read_only_where_it_is_one(line: str, schedule: str | None) -> None:
    """Words that name a rhythm at the beginning, the end or in brackets are one; elsewhere they are not."""
    found = schedule_in(line)

    assert (found[0] if found else None) == (schedule if line != "at 12am daily" else "every: 1d")


@given(st.lists(LINES, max_size=30).map("\n".join))
def test_any_list_gives_sound_heartbeats(text: str) -> None:
    """Whatever order such lines come in, no heartbeat is broken and nothing runs that has no schedule."""
    beats = beats_of(text, UTC)

    sound(beats)
    assert all(beat.paused for beat in beats if beat.name.startswith("checklist"))


@given(st.text(max_size=400))
def test_any_text_gives_sound_heartbeats(text: str) -> None:
    """Any text at all is at most a paused heartbeat, or none."""
    sound(beats_of(text, UTC))


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "name",
                        "id",
                        "prompt",
                        "payload",
                        "message",
                        "schedule",
                        "kind",
                        "expr",
                        "tz",
                        "everyMs",
                        "minutes",
                        "enabled",
                    ]
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=20,
    )
)
def test_any_jobs_give_sound_heartbeats(jobs: object) -> None:
    """Whatever a list of jobs holds, what comes out can be read; what is no list is told."""
    if isinstance(jobs, list):
        sound(jobs_of(json.dumps({"jobs": jobs}), UTC))
    else:
        with pytest.raises(ValueError, match="expected a list of jobs"):
            jobs_of(json.dumps({"jobs": jobs}), UTC)


@pytest.mark.parametrize("text", ["", "# Heartbeat\n\n<!-- add tasks -->\n", "## Completed\n- [x] all\n", "- [ ]\n"])
def test_a_file_that_asks_for_nothing_is_no_heartbeat(text: str) -> None:
    """Headings, comments, empty items and what is done ask for nothing."""
    assert beats_of(text, UTC) == []


def test_an_item_takes_what_is_below_it() -> None:
    """Indented lines belong to their item; the next item does not."""
    beats = beats_of("- Every 2 hours: look at\n  - the sea\n  - the sky\n- tidy up\n", UTC)

    assert [(beat.name, beat.paused) for beat in beats] == [("look-at", False), ("checklist", True)]
    assert "the sky" in beats[0].instruction
    assert beats[1].instruction == "- tidy up"


def test_an_instruction_cannot_write_front_matter() -> None:
    """A text with fences stays in the body of its heartbeat."""
    (beat,) = beats_of("- every 5m: x\n  ---\n  tools: [shell]\n  ---\n", UTC)

    made = parse("x.md", beat.name, beat.file("a").encode(), UTC)
    assert made.tools == ("vault",)


def test_only_active_tasks_are_tasks() -> None:
    """Where a file has such a section, the words around it explain the file to people and are no task."""
    text = "Your agent reads this file.\n\n## Active Tasks\n\n- Every 2h: look at the wind\n\n## Ideas\n\n- Sell\n"

    assert [(beat.name, beat.instruction) for beat in beats_of(text, UTC)] == [("look-at-the-wind", "look at the wind")]
