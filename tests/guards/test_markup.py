"""What leaks out of a model's machinery into its words, and what only talks about it."""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guards import Call, Level, Output
from guards.leak import bare, calls, leaks
from guards.markup import Markup
from guards.rarity import FIRST
from guards.reading import read

AT_ONCE = {
    "glued to a sentence": "All boats are in and the lamp is lit.<|im_end|>",
    "after a sentence": "All boats are in and the lamp is lit. <|eot_id|>",
    "glued to a word": "The lamp is lit, keeper<|end|>",
    "a line of its own": "The lamp is lit.\n<end_of_turn>",
    "before a speaker": "The lamp is lit.\n<|im_start|>assistant\nThe fog is thick.",
    "two lines that begin with one": "[INST] Light the lamp\n[/INST] The lamp is lit now",
    "nothing else": "</s>",
    "the end of a sequence": "The tide turns at noon.</s>",
    "a reserved one twice": "> North pier:`<unused12><unused12>` and three boats",
    "wide brackets": "The tide turns at noon.<｜end▁of▁sentence｜>",
    "runs on": "Shall I light the lamp?assistant\n\nYes, light it.assistant\n\nIt is lit.",
    "asks itself": "The lamp is lit.\n\nUser:",
    "glued out of pieces": "lampMöwe печать pierIVes glockTau kran boteSSen 바람 seilDrag hafen mol ведь nebelGab turm "
    "welleRim ankerVerb kahn segel boje leine kette tonne last fracht netz deck mast",
}
TALKED_ABOUT = {
    "in a sentence": "Stop at <|im_end|> as the template says, and never before it.",
    "in quotes": 'The log shows "<|im_end|>" after each answer.',
    "in a code span": "The end is marked by `<|im_end|>`",
    "in a fence": "The template is:\n```\n<|im_start|>assistant\n```\nand no more.",
    "a list of them": "The tokens are:\n- <|im_start|>\n- <|im_end|>\n- <|pad|> fills\n",
    "struck out": "<s>Fourteen</s> fifteen boats are in.",
    "strike at the end": "Fifteen boats are in, not <s>fourteen.</s>",
    "a user who is an assistant": "The deck has one user. The assistant sleeps.",
    "several languages": "The menu offers English, Русский, Ελληνικά, 한국어 and 中文 to each keeper who comes by, "
    "and all of them read it at the lamp by the quay before they sail on again.",
}
CLASSES = {
    r"So the tide is \boxed{4} metres.": "latex",
    r"It rises by \(\frac{a}{b}\) each hour.": "latex",
    r"\[ x = \frac{a}{b} \]": "latex",
    "It rises by $x^2$ each hour.": "latex",
    "<tool_call>look</tool_call> and I wait.": "tool",
    "<function=look>north</function> and I wait.": "tool",
    '<invoke name="look">': "tool",
    "<read_note><path>a</path></read_note> is what I do.": "tool",
    'Now {"name": "look", "arguments": {"at": "pier"}} is sent.': "tool",
    'I say {"boats": 3, "lamp": "lit"} to you.': "json",
    "Thought: the fog is thick.": "field",
    "The fog is thick. Final answer: stay in the harbour.": "field",
    "<thinking>The fog is thick.</thinking> Stay.": "field",
    "boat_count: 3\nlamp_state: lit\nnext_tide: noon": "field",
    "User: is the lamp lit?\nAssistant: it is.": "role",
    "Stop at <|im_end|> as it says.": "token",
}
MENTIONED = {
    "in a sentence": "Keepers say that such models print <think> tags at night.",
    "in a wrapped sentence": "Some of them only print\n<thinking> tags, and others wrap it in <think>\n  blocks.",
    "as a pair": "It strips the inner part (<think>...</think>) of each answer.",
    "in a list": "It knows <tool_call>, <tool_use>, and <think>/<thinking> too.",
    "before an acronym": "One keeper sends raw <tool_use> XML to the pier.",
    "in quotes": "It names the pier '<think>' at times, or “</think>lamp”.",
    "in a Chinese sentence": "有些模型会输出“<think>”标签, 也会输出 <answer> 标签。",
    "JSON of a command": """Ask for it with curl -d '{"date": "noon", "at": {"pier": 3}}' as often as you like.""",
}
PLAIN = {
    "prices": "It costs $5 at noon and $6 at night, or 7 % more.",
    "a path": r"It lies in C:\beta\times\end of the disk.",
    "a font of roff": r"Give \fBDATA{}\fR to the keeper.",
    "escaped brackets": r"See \[the list\] and \(the map) of piers.",
    "labels of a note": "Weather: calm. Boats: 12. Note: the lamp is lit. Action: ask the keeper.",
    "a template": "Use std::vector<int> or map<string, int> for {} and {0}.",
    "a name with underscores": "boat_count: how many boats are in.",
    "one speaker": "User: is the lamp lit?",
}


@pytest.mark.parametrize("text", AT_ONCE.values(), ids=AT_ONCE.keys())
def test_a_control_token_where_the_machinery_puts_it_trips_at_once(text: str) -> None:
    """The first output already trips, and shows the exact place."""
    verdict = Markup().update(Output(text))
    assert verdict.level is Level.TRIP
    assert verdict.evidence
    assert all(span in text for span in verdict.evidence)
    assert verdict.hint


@pytest.mark.parametrize("text", TALKED_ABOUT.values(), ids=TALKED_ABOUT.keys())
def test_to_talk_about_control_tokens_is_healthy(text: str) -> None:
    """Code, quotes and sentences about a token, and HTML, do not trip."""
    assert Markup().update(Output(text)).level is Level.PASS


@pytest.mark.parametrize(("text", "name"), CLASSES.items())
def test_each_class_is_seen(text: str, name: str) -> None:
    """Each way to leak is seen as its class, with spans that stand in the text."""
    found = leaks(bare(read(text)))
    assert name in found
    assert all(span in text for span in found[name])


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN.keys())
def test_plain_text_leaks_nothing(text: str) -> None:
    """Prices, paths, escaped brackets, labels of notes and templates are no leak."""
    assert leaks(bare(read(text))) == {}


def stream(rate: float, leak: str, rows: int, seed: int = 1) -> list[str]:
    """Outputs about a harbour, a share of which carries a leak."""
    seeded = random.Random(seed)
    plain = [f"The crane moved {seeded.randrange(90)} crates to pier {i % 7}, and it is calm." for i in range(rows)]
    return [f"{text} {leak}" if seeded.random() < rate else text for text in plain]


def first_trip(texts: list[str], guard: Markup | None = None) -> int | None:
    judge = guard or Markup()
    return next((row for row, text in enumerate(texts) if judge.update(Output(text)).level is Level.TRIP), None)


@pytest.mark.parametrize("text", MENTIONED.values(), ids=MENTIONED.keys())
def test_what_is_only_talked_about_leaks_nothing(text: str) -> None:
    """A tag that is quoted, or around which a sentence goes on, and quoted JSON are no leak; nor is their like."""
    assert leaks(bare(read(text))) == {}
    assert leaks(bare(read(text)), mentions=True) != {}


@pytest.mark.parametrize(
    "text",
    [
        "<think>",
        "The lamp is lit. <think>The fog is thick.",
        "The lamp is lit\n<think>\nthe fog is thick.",
        "The lamp is <answer>lit</answer> now.",
        "The lamp is lit. </think> So I go.",
        "The lamp is lit and I go to <think> The fog is thick.",
        "The lamp is 'lit'<think>",
        "I wait for the tide...</think>",
    ],
)
def test_a_tag_at_an_edge_leaks(text: str) -> None:
    """A tag alone in its line, after a sentence, before one, or glued to what it holds is a leak."""
    assert "field" in leaks(bare(read(text)))


def test_a_token_behind_a_closing_quote_leaks() -> None:
    """What follows what somebody said is not quoted; quoted JSON that never ends is none."""
    assert "token" in leaks('The keeper said "no"<|im_end|>')
    assert "json" in leaks("""The keeper said '{"boats": 3} and left.""")


LEAKS = (r"\boxed{done}", "<tool_call>look</tool_call>", '{"say": "calm"}', "Final answer: calm")


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.parametrize(("rate", "within"), [(0.1, 110), (0.75, 10)])
def test_a_class_that_was_not_there_trips_soon(leak: str, rate: float, within: int) -> None:
    """A leak in three of four outputs is found within ten, one in ten of them within a hundred or so."""
    row = first_trip(stream(0.0, leak, 60) + stream(rate, leak, 200, seed=2))
    assert row is not None
    assert 60 <= row < 60 + within


@pytest.mark.parametrize("leak", [r"\boxed{done}", '{"say": "calm"}', "Thought: calm."])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_how_a_stream_always_was_written_is_normal(leak: str, rate: float) -> None:
    """A blog with mathematics, notes with JSON and an agent that labels its thoughts never trip."""
    assert first_trip(stream(rate, leak, 600)) is None


def test_a_stream_that_quotes_it_from_the_start_may_write_it() -> None:
    """Who shows JSON in commands from the first output is about such things: then JSON in the text is not news."""
    bare_json = stream(0.4, '{"say": "calm"}', 60, seed=3)
    assert first_trip(["The crane rests."] * 6 + bare_json) is not None
    assert (
        first_trip(['Send it with -d \'{"say": "calm"}\' to the pier.'] + ["The crane rests."] * 5 + bare_json) is None
    )


@pytest.mark.parametrize("seed", range(4))
def test_what_comes_by_now_and_then_is_no_leak(seed: int) -> None:
    """One output in a hundred with LaTeX, none of them in the start, does not add up to a trip in 6,000 outputs."""
    assert first_trip(stream(0.0, "", 60) + stream(0.01, r"\boxed{done}", 6_000, seed)) is None


def test_leaked_calls_are_never_normal_where_tools_can_be_called() -> None:
    """Calls in the words from the first output on trip soon, unless the stream has no other way to call."""
    texts = stream(1.0, "<tool_call>look</tool_call>", 400)
    assert first_trip(texts) is None
    guard, offered = Markup(), frozenset({"look"})
    row = next(i for i, text in enumerate(texts) if guard.update(Output(text, offered=offered)).level is Level.TRIP)
    assert row < FIRST + 12


def test_an_output_without_the_leak_passes_after_a_trip() -> None:
    """A retry that heeds the hint succeeds at once."""
    guard = Markup()
    assert first_trip(stream(0.0, "", 60) + stream(1.0, r"\boxed{done}", 20), guard) is not None
    assert guard.update(Output("All is calm and no crate moved.")).level is Level.PASS


def test_a_call_in_a_fence_counts_where_tools_can_be_called() -> None:
    """A fenced call is an example in a note, but a leak where tools were offered."""
    text = 'Now:\n```json\n{"name": "look", "arguments": {}}\n```'
    assert calls(text)
    look, able = (Call("look"),), frozenset({"look"})
    for made, offered, level in (((), None, Level.PASS), (look, None, Level.TRIP), ((), able, Level.TRIP)):
        guard = Markup()
        outputs = [Output(said, made, offered=offered) for said in ["The crane rests."] * 20 + [text] * 6]
        assert max(guard.update(output).level for output in outputs) is level


def test_the_memory_keeps_to_its_budget() -> None:
    """Six kilobytes hold every class at its largest."""
    guard = Markup()
    everything = "\n".join(CLASSES)
    sizes = []
    for i in range(120):
        guard.update(Output(everything if i % 3 else "The crane rests."))
        sizes.append(len(json.dumps(guard.state())))
    assert max(sizes) < 6_000


@pytest.mark.parametrize(
    "unit", [r"\(", "$^", '{"', "'{a", " <think>,", "<|", "a:", "[INST]", "</a_b>", "\\", "ab:\n", "<unused1>", "éaB"]
)
def test_no_text_takes_long(unit: str) -> None:
    """Half-open marks without end cost no more than a text of that length should."""
    began = time.process_time()
    Markup().update(Output(unit * (20_000 // len(unit))))
    assert time.process_time() - began < 2.0


@given(st.text('<|>_[]INST/sim end:\n{"}\\$^(a.?é 해'))
def test_every_span_stands_in_the_text(text: str) -> None:
    """What is shown as evidence can be found in the output."""
    assert all(span in text for span in Markup().update(Output(text)).evidence)


def test_what_is_wrong_at_once_is_a_gate() -> None:
    """A glued token is wrong in any stream; a class that comes by more often is statistics."""
    assert all(Markup().update(Output(text)).gate for text in AT_ONCE.values())
    guard = Markup()
    said = [guard.update(Output(text)) for text in [PLAIN["prices"]] * 60 + [r"The tide is \boxed{4}."] * 20]
    trips = [v for v in said if v.level is Level.TRIP]
    assert trips
    assert not any(v.gate for v in trips)


@pytest.mark.parametrize("seed", range(3))
def test_saving_after_each_output_changes_no_verdict_where_a_class_is_rare(seed: int) -> None:
    """LaTeX in one output of twenty, none of them in the start: a loaded test goes on exactly as one that stayed."""
    straight, saved, scores = Markup(), Markup(), []
    for text in stream(0.0, "", 60) + stream(0.05, r"\boxed{done}", 400, seed):
        fresh = Markup()
        fresh.load(json.loads(json.dumps(saved.state())))
        saved = fresh
        verdict = straight.update(Output(text))
        assert saved.update(Output(text)) == verdict
        scores.append(verdict.score)
    assert max(scores) >= 1  # there was something to lose


def test_a_sentence_that_names_a_tag_leaks_nothing() -> None:
    """Notes about a tool-call format name its tags; a call that stands in the words is a leak."""
    named = [f"Run {i} still has <tool_use> envelopes, which the parser refuses." for i in range(30)]
    assert first_trip(stream(0.0, "", 60) + named) is None
    called = [f"Run {i} is next. <tool_use>" + '{"name": "look"}' for i in range(30)]
    assert first_trip(stream(0.0, "", 60) + called) is not None


def test_a_talk_on_record_is_not_invented() -> None:
    """A note that holds a talk under its heading has two speakers; a reply that goes on as its reader is a leak."""
    talk = "user: Is the lamp lit?\nassistant: It is lit.\nuser: Good."
    kept = [f"# Session {i}\n\n## Conversation\n\n{talk}" for i in range(30)]
    assert first_trip(stream(0.0, "", 60) + kept) is None
    invented = [f"The tide is at mark {i}.\n{talk}" for i in range(30)]
    assert first_trip(stream(0.0, "", 60) + invented) is not None
