"""Events come out whole however the network cut the bytes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.models.sse import Event, Events


def _all(*chunks: bytes) -> list[Event]:
    events = Events()
    got = [event for chunk in chunks for event in events.feed(chunk)]
    return got + list(events.end())


@given(st.lists(st.text(), max_size=5), st.sampled_from(["\n", "\r\n"]), st.data())
def test_every_cut_gives_the_same_events(texts: list[str], line_end: str, data: st.DataObject) -> None:
    """Any JSON text comes out as it went in, wherever the stream is cut into pieces."""
    stream = "".join(f"data: {json.dumps(t, ensure_ascii=False)}{line_end * 2}" for t in texts).encode(
        "utf-8", "replace"
    )
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert _all(*pieces) == _all(stream)
    assert [json.loads(event.data) for event in _all(stream)] == [t.encode("utf-8", "replace").decode() for t in texts]


def test_line_separators_inside_json_do_not_end_a_line() -> None:
    """U+2028 and U+0085 are text, not line ends."""
    assert _all('data: "a\u2028b\x85c"\n\n'.encode()) == [Event("message", '"a\u2028b\x85c"')]


def test_names_comments_and_several_data_lines() -> None:
    """Comments are skipped, data lines are joined, the name belongs to its event alone."""
    stream = b"\xef\xbb\xbf: keep-alive\n\nevent: ping\ndata:1\ndata: 2\nid: 7\n\ndata: 3\n\n"
    assert _all(stream) == [Event("ping", "1\n2"), Event("message", "3")]


def test_a_last_event_without_a_blank_line_counts_but_half_a_line_does_not() -> None:
    """What was cut inside a line is dropped, because nobody knows its other half."""
    assert _all(b"data: [DONE]\n") == [Event("message", "[DONE]")]
    assert _all(b'data: {"half": ') == []


@pytest.mark.parametrize("line", [b"x" * 1024 * 1024, b"data: " + b"x" * 1024 * 1024 + b"\n"], ids=["line", "lines"])
def test_an_endless_event_is_refused(line: bytes) -> None:
    """A server that never ends its event cannot fill the memory."""
    with pytest.raises(ValueError, match="one event of more than"):
        _all(*[line] * 10)
