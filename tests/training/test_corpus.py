"""The generator of the training text, without torch."""

from __future__ import annotations

import json
import re

import pytest

from training import marks
from training.corpus import threads
from training.corpus.conversation import TOOLS, Conversation
from training.corpus.draw import Draw, is_held_out
from training.corpus.facts import draw_host
from training.corpus.hints import FAMILIES
from training.corpus.host_phrases import CALM, DEFAULT_TOPICS, note, required, verdict, worried
from training.corpus.words import coined
from training.player import Played

KINDS = (*threads.BEATS, *FAMILIES)


def conversations(count: int = 12) -> list[Conversation]:
    """Some of every kind, one to three beats."""
    return [
        threads.conversation(Draw(f"test {kind} {index}"), kind, 1 + index % 3)
        for kind in KINDS
        for index in range(count)
    ]


def scripted(thread: Conversation) -> list[Played]:
    """The trained replies of a single-beat thread as if the model had said them."""
    played = []
    for place, message in enumerate(thread.messages):
        if message.role != "assistant" or not message.trained or message.content == "Noted.":
            continue
        source = "\n".join(earlier.content for earlier in thread.messages[:place] if earlier.role != "assistant")
        reply = message.content
        if message.call:
            filled = json.dumps({"name": message.call[0], "arguments": dict(message.call[1])}, ensure_ascii=False)
            reply = f"<tool_call>\n{filled}\n</tool_call>"
        played.append(Played(message, reply, source, thread.tools))
    return played


def test_every_trained_call_satisfies_the_schema_of_a_present_tool() -> None:
    """A call names a tool of its thread and gives it arguments that the schema allows."""
    trained = [(thread, m.call) for thread in conversations() for m in thread.messages if m.call and m.trained]

    assert trained
    for thread, (name, arguments) in trained:
        schema = TOOLS[name]["function"]["parameters"]
        assert name in thread.tools
        assert set(schema["required"]) <= set(arguments) <= set(schema["properties"])
        assert all(value in schema["properties"][key].get("enum", [value]) for key, value in arguments.items())


def test_rendered_calls_can_be_parsed_back() -> None:
    """What stands between the markers is one line of JSON with a name and an object of arguments."""
    for thread in conversations(4):
        wanted = [{"name": m.call[0], "arguments": dict(m.call[1])} for m in thread.messages if m.call]
        found = re.findall(r"<tool_call>\n(.*?)\n</tool_call>", thread.text())

        assert wanted == [json.loads(line) for line in found]


def test_what_a_reply_copies_stands_above_it() -> None:
    """A string counted as copied is in the reply and in an earlier message."""
    for thread in conversations():
        for place, message in enumerate(thread.messages):
            said = message.content + str(message.call and message.call[1])
            above = "\n".join(earlier.content for earlier in thread.messages[:place])
            for part in message.copied:
                assert part in said or repr(part)[1:-1] in said
                assert part.lower() in above.lower() or part in ("unknown", "log") or part in str(thread.tools)


def test_every_number_of_a_note_is_in_the_facts() -> None:
    """A note invents no number."""
    for index in range(300):
        draw = Draw(f"numbers {index}")
        host = draw_host(draw)
        facts = "\n".join(host.lines())
        text, _ = note(draw, host, DEFAULT_TOPICS, "")

        assert [number for number in re.findall(r"\d+(?:\.\d+)*", text) if number not in facts] == []
        assert all(part in text.lower() or part in text for part in required(host, DEFAULT_TOPICS))


def test_a_verdict_is_calm_or_concerned_but_never_both() -> None:
    """The words of concern appear exactly where something needs attention."""
    for index in range(500):
        draw = Draw(f"verdict {index}")
        text, _, calm = verdict(draw, draw_host(draw), DEFAULT_TOPICS)

        assert worried(text) is not calm
        assert not calm or any(words in text.lower() for words in CALM)


@pytest.mark.parametrize("kind", ["short", "middle", "thread"])
def test_the_same_seed_gives_the_same_thread(kind: str) -> None:
    """The corpus follows from its seed alone."""
    make = getattr(threads, kind)

    assert make(Draw("again")).text() == make(Draw("again")).text()
    assert make(Draw("again")).text() != make(Draw("other")).text()


def test_names_of_the_evaluation_are_never_trained_on() -> None:
    """Training and evaluation draw coined names from two sides that do not meet."""
    trained = {coined(Draw(f"side {index}")) for index in range(300)}
    kept = {coined(Draw(f"side {index}", held_out=True)) for index in range(300)}

    assert not any(is_held_out(name) for name in trained)
    assert all(is_held_out(name) for name in kept)


def test_the_scripted_replies_pass_the_checks_of_the_evaluation() -> None:
    """What the generator itself would say counts as right: a failure in the evaluation is the model's."""
    for kind in (*FAMILIES, "whole", "narrow", "failing", "repo", "read", "search", "list", "write", "clock"):
        for index in range(20):
            thread = threads.conversation(Draw(f"own {kind} {index}", held_out=True), kind)
            for played in scripted(thread):
                assert marks.invented(played) == []
                assert all(marks.holds(marks.spoken(played), part) for part in played.expected.required)
                assert played.expected.calm is None or marks.judged(played)
                assert marks.follows(played)


def test_a_bad_reply_is_always_answered_by_a_hint() -> None:
    """Replies that are shown on purpose as bad are followed by a hint before the next trained reply of a hint beat."""
    for kind in FAMILIES:
        text = threads.conversation(Draw(f"hint {kind}"), kind).text()

        assert "Hint: " in text
