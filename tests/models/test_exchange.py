"""Any thread becomes one that a provider accepts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from daemon.models.exchange import exchanged, system_text
from daemon.types import Message, ToolCall

_IDS = st.sampled_from(["a", "b", "call_0"])
_CALLS = st.lists(st.builds(ToolCall, _IDS, st.just("host"), st.just({})), max_size=3).map(tuple)
_MESSAGES = st.lists(
    st.one_of(
        st.builds(Message, st.sampled_from(["system", "user"]), st.sampled_from(["x", " "])),
        st.builds(Message, st.just("assistant"), st.sampled_from(["x", ""]), _CALLS),
        st.builds(Message, st.just("tool"), st.just("r"), st.just(()), _IDS, st.just("host")),
    ),
    max_size=14,
)


@given(_MESSAGES)
def test_every_call_is_followed_by_its_results(messages: list[Message]) -> None:
    """Whatever was lost or doubled, the ids are unique and the results of a turn's calls come directly after it."""
    mended = exchanged(messages)
    ids = [call.id for message in mended for call in message.calls]
    assert len(ids) == len(set(ids))
    assert all(len(i) == 9 and i.isalnum() for i in ids)
    assert "system" not in {message.role for message in mended}
    for at, message in enumerate(mended):
        following = mended[at + 1 : at + 1 + len(message.calls)]
        assert {m.call_id for m in following if m.role == "tool"} == {call.id for call in message.calls}
    assert sum(m.role == "tool" for m in mended) == len(ids)


@given(_MESSAGES, _MESSAGES)
def test_a_longer_thread_begins_with_the_same_messages(first: list[Message], more: list[Message]) -> None:
    """The prefix is stable once its calls have their results, so that a provider's cache goes on being hit."""
    whole = [*first, Message("user", "and now")]
    assert exchanged([*whole, *more])[: len(exchanged(whole))] == exchanged(whole)


@given(_MESSAGES)
def test_no_result_is_lost(messages: list[Message]) -> None:
    """Each result stays in the thread, as a result or as a user's message."""
    kept = [
        m for m in exchanged(messages) if (m.role == "tool" and m.text == "r") or m.text.startswith("Result of host")
    ]
    assert len(kept) == sum(m.role == "tool" for m in messages)


def test_only_the_leading_system_messages_are_the_system_text() -> None:
    """A late system message becomes a user's, because many templates refuse or lose it."""
    messages = [Message("system", "a"), Message("system", "b"), Message("user", "hi"), Message("system", "late")]
    assert system_text(messages) == "a\n\nb"
    assert [(m.role, m.text) for m in exchanged(messages)] == [("user", "hi"), ("user", "late")]


def test_a_call_without_a_result_says_so() -> None:
    """A run that was killed between a call and its result leaves a thread that can still be sent."""
    call = ToolCall("x", "host", {})
    mended = exchanged([Message("assistant", "", (call,)), Message("user", "go on")])
    assert [m.role for m in mended] == ["assistant", "tool", "user"]
    assert mended[1].failed
    assert "no result" in mended[1].text
