"""The measuring of guards: variants, text of the machine, injected cases, and a script with a package's name."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

from bases import CUTS, Stream, variants
from judging import Case, Host, alone
from machine_text import LEAST, machine_streams

import guards
from guards.base import Output
from guards.replay import Row


def healthy(name: str, rows: int) -> Stream:
    """A stream of outputs that are all different."""
    rng = random.Random(name)
    texts = (" ".join("".join(rng.choices("aeioubcdlmnrst", k=7)) for _ in range(12)) for _ in range(rows))
    return Stream(name, tuple(Row(Output(f"{text} in the harbour")) for text in texts))


def test_the_package_is_found_behind_the_script_of_its_name() -> None:
    """With the folder of benchmarks in front on the path, `import guards` still gives the package."""
    assert Path(guards.__file__).name == "__init__.py"


def test_variants_are_rows_of_the_stream_and_the_seed_decides_them() -> None:
    """Cuts have their size; nothing is made up; equal seeds give equal variants."""
    stream = healthy("quiet", 120)
    made = list(variants(stream, 100, seed=1))

    assert made == list(variants(stream, 100, seed=1))
    assert {len(one.rows) for one in made} >= {size for size in CUTS if size < 100}
    assert all(set(map(id, one.rows)) <= set(map(id, stream.rows)) for one in made)
    assert sorted(map(id, made[-1].rows)) == sorted(map(id, stream.rows[:100]))


def test_a_short_stream_has_only_the_variants_that_are_long_enough() -> None:
    """What is shorter than the shortest cut is not judged."""
    assert all(len(one.rows) >= CUTS[0] for one in variants(healthy("short", 20), 100, seed=1))


def test_changelogs_become_rows_without_their_signatures(tmp_path: Path) -> None:
    """Entries come the oldest first, and a package with few of them is left out."""
    for package, entries in (("long", LEAST + 2), ("brief", 3)):
        text = "".join(
            f"{package} (1.{i}) unstable; urgency=low\n\n  * Change {i}.\n\n -- A Person <a@b.example>  today\n\n"
            for i in reversed(range(entries))
        )
        folder = tmp_path / "doc" / package
        folder.mkdir(parents=True)
        (folder / "changelog.Debian.gz").write_bytes(gzip.compress(text.encode()))

    (stream,) = machine_streams(5, 100, 1, tmp_path)

    assert stream.name == "changelog-long"
    assert [row.output.text for row in stream.rows[:2]] == ["  * Change 0.", "  * Change 1."]


def test_manual_pages_are_read_as_they_look_and_nearly_equal_ones_once(tmp_path: Path) -> None:
    """Headings and the words of requests are shown, layout is not; of a family from one template one page is left."""
    folder = tmp_path / "man" / "man1"
    folder.mkdir(parents=True)
    for i in range(LEAST):
        words = " ".join(random.Random(i).sample([f"word{n}" for n in range(300)], 60))
        page = f'.TH W{i} 1\n.SH "SEE ALSO"\n.PP\n{words}\n.BR make (1)\n.in 4'
        (folder / f"page{i:02}.1.gz").write_bytes(gzip.compress(page.encode()))
    twin = f".SH NAME\n{' '.join(f'same{n}' for n in range(60))} "
    for name in ("put", "get", "list"):
        (folder / f"twin-{name}.1.gz").write_bytes(gzip.compress(f"{twin}{name}".encode()))
    (stream,) = machine_streams(1, 100, seed=1, share=tmp_path)
    texts = [row.output.text for row in stream.rows]
    assert len(texts) == LEAST + 1
    assert texts[0].startswith("# SEE ALSO")
    assert texts[0].endswith("make (1)")


def test_a_bare_machine_has_nothing_to_offer(tmp_path: Path) -> None:
    """Folders that are not there are left out."""
    assert list(machine_streams(5, 100, 1, tmp_path)) == []


def test_an_injected_collapse_is_found_and_credited() -> None:
    """The case names the guard and counts outputs from the onset on; nothing tripped before."""
    host = Host.of(healthy("host", 160), ("repeat",), seed=1, most=60)
    case = host.suffer("identical", seed=1, held_out=False)

    assert (case.guard, case.before, case.others) == ("repeat", (), ())
    assert case.delay is not None
    assert 1 < case.delay <= 20
    assert case == host.suffer("identical", seed=1, held_out=False)


def test_a_guard_that_trips_anyway_is_not_credited() -> None:
    """Where the host trips the guard without any collapse, the trip counts as one before, not as a detection."""
    same = Row(Output("All the boats are in and nothing more is to be said."))
    case = Host.of(Stream("stuck", (same,) * 160), ("repeat",), seed=1, most=60).suffer(
        "identical", seed=1, held_out=False
    )

    assert case == Case("identical", "stuck", ("repeat",), None, "", ())


def test_an_output_is_judged_alone() -> None:
    """A loop inside one output trips while it streams, and no word more is needed."""
    assert "loop" in alone(Row(Output("I will check the rope now. " * 60)), ("loop",)).first
    assert not alone(healthy("one", 1).rows[0], ("loop",)).first
