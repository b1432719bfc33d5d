"""Calls as transcripts hold them: whatever stands where a name or arguments should, no guard raises."""

from __future__ import annotations

import enum
import json
from types import MappingProxyType

from hypothesis import given, settings
from hypothesis import strategies as st

from guards import Call, CallResult, Output, Panel
from guards.arguments import DEEPEST, ODD


class Hostile:
    """A value that does nothing it is asked to."""

    def __str__(self) -> str:
        raise RuntimeError("no text")

    def __bool__(self) -> bool:
        raise RuntimeError("no truth")


class Liar:
    """A value that does not say what it is."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError("no class")


class Loud(str):
    """A text with a will of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Shade(enum.StrEnum):
    """A name that a program has for a text."""

    DIM = "dim"


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(5000, 5001).map(lambda digits: 10**digits),
    st.floats(),
    st.text(max_size=9),
    st.binary(max_size=5),
    st.builds(Hostile),
    st.just(Loud("loud")),
    st.just({1, 2}),
)
KEYS = st.one_of(st.sampled_from(("text", "action", "command", "path")), st.builds(Hostile), st.none(), st.integers())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
ARGS = st.one_of(st.dictionaries(KEYS, VALUES, max_size=3), VALUES)


@settings(max_examples=60, deadline=None)
@given(calls=st.lists(st.builds(Call, VALUES, ARGS), min_size=1, max_size=4))
def test_no_call_makes_a_guard_raise(calls: list[Call]) -> None:
    """Names and arguments of any kind are texts and JSON once a call is made, and the whole panel judges them."""
    panel = Panel.standard({"facts": {"sources": ["host"]}})
    for call in (Call("host"), *calls, *calls):
        assert type(call.name) is str
        assert type(call.args) is dict
        assert all(type(key) is str for key in call.args)
        panel.update(Output("The lamp is lit.", (call,), turn="a", offered=frozenset({"host"})))
        panel.observe([CallResult(True, "1 lamp")])


def test_what_json_has_a_form_for_stays_as_it_is() -> None:
    """Arguments of a host come through unchanged; texts and numbers of derived classes become plain ones."""
    args = {"path": "a/b", "deep": [{"n": 1.5, "on": True, "none": None}]}
    assert Call("read", args).args == args
    derived = Call("read", MappingProxyType({"shade": Shade.DIM, "loud": Loud("x"), "pair": (1, 2), "odd": b"x"})).args
    assert derived == {"shade": "dim", "loud": "x", "pair": [1, 2], "odd": ODD}
    assert type(derived["shade"]) is str


def test_values_that_hold_themselves_or_hide_what_they_are_end() -> None:
    """A list in itself, and one part held a million million times, become small JSON."""
    inside: list[object] = []
    inside.append(inside)
    wide: object = "x"
    for _ in range(DEEPEST):
        wide = [wide, wide, wide]
    call = Call("read", {"inside": inside, "wide": wide})
    assert len(json.dumps(call.args)) < 1_000_000
    assert Call("read", {"text": Liar()}).args == {"text": ODD}
