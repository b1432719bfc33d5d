"""Labels that cannot grow without end."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.observe.labels import OTHER, Bounded, Known, printable


def test_a_known_name_is_itself_and_any_other_is_other() -> None:
    """A name that was given is its own label; every other is `other`."""
    tools = Known(["host", "vault", "host"])

    assert list(tools) == ["host", "vault", OTHER]
    assert [tools.label(name) for name in ("host", "rm -rf /", "other")] == ["host", OTHER, OTHER]


@given(st.lists(st.text(max_size=3)), st.integers(1, 5))
def test_a_bounded_set_of_labels_never_grows_past_its_bound(names: list[str], most: int) -> None:
    """However many names come, at most `most` labels and `other` are given out, and a name keeps its label."""
    labels = Bounded(most)
    first = {name: labels.label(name) for name in names}

    assert len({label for label in first.values() if label != OTHER}) <= most
    assert first == {name: labels.label(name) for name in names}
    assert len(list(labels)) <= most


def test_a_forgotten_name_leaves_room_for_a_new_one() -> None:
    """After a name is forgotten the next new name gets a label of its own."""
    labels = Bounded(1, ["a"])
    assert labels.label("b") == OTHER

    labels.forget("a")
    assert labels.label("b") == "b"
    assert "b" in labels
    assert "a" not in labels


@given(st.text(st.characters(exclude_categories=())))
def test_a_label_can_always_be_printed(name: str) -> None:
    """Whatever a name holds, half a surrogate pair included, its label is UTF-8 on one line, and is found again."""
    labels = Bounded(2)
    label = labels.label(name)

    assert label == printable(name)
    assert label.isprintable()
    assert label.encode() == printable(label).encode()
    assert name in labels
    assert Known([name]).label(name) == label

    labels.forget(name)
    assert name not in labels
