"""The grammar of "text or calls": whatever it lets through is free text or whole calls that fit their schema."""

from __future__ import annotations

import functools
import json
import random
import re
import string
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.models import call_text
from daemon.models.llama_grammar import BARE, HERMES, MISTRAL, Wrapper, build
from daemon.models.llama_numbers import between

TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[\w]+|[()|?*+]')
POOL = string.printable + "\x00\x1f\x7fé漢😀"


@functools.cache
def members(char_class: str) -> list[str]:
    return [char for char in POOL if re.fullmatch(char_class, char, re.DOTALL)]


class Talker:
    """Says random sentences of a grammar, as a model at a very high temperature would."""

    def __init__(self, grammar: str) -> None:
        lines = (line.split(" ::= ", 1) for line in grammar.splitlines())
        self.rules = {name: self._alternatives(iter(TOKEN.findall(body))) for name, body in lines}

    def say(self, rng: random.Random, rule: str = "root") -> str:
        return "".join(self._item(rng, item) for item in rng.choice(self.rules[rule]))

    def call(self, rng: random.Random, wrapper: Wrapper) -> str:
        """Say text with calls behind it, which `say` alone seldom comes to."""
        if not wrapper.marker:
            return "".join(self._item(rng, item) for item in self.rules["root"][0])
        last = self.rules[f"text{len(wrapper.marker) - 1}"][0]
        return f"So: {wrapper.marker[:-1]}" + "".join(self._item(rng, item) for item in last)

    def _alternatives(self, tokens: Iterator[str]) -> list[list[Any]]:
        found: list[list[Any]] = [[]]
        for token in tokens:
            if token == ")":
                break
            if token == "|":
                found.append([])
            elif token in "?*+" or token[0] == "{":
                low, high = {"?": (0, 1), "*": (0, 9), "+": (1, 9)}.get(token) or self._range(token)
                found[-1][-1] = (low, high, found[-1][-1])
            else:
                found[-1].append(self._alternatives(tokens) if token == "(" else token)
        return found

    def _range(self, token: str) -> tuple[int, int]:
        low, _, high = token[1:-1].partition(",")
        return int(low), int(high or low)

    def _item(self, rng: random.Random, item: Any) -> str:
        if isinstance(item, tuple):
            low, high, inner = item
            times = min(high, low + rng.choice([0, 0, 1, 2, 7]))
            return "".join(self._item(rng, inner) for _ in range(times))
        if isinstance(item, list):
            return "".join(self._item(rng, one) for one in rng.choice(item))
        if item[0] == '"':
            return self._plain(item[1:-1])
        if item[0] == "[":
            return rng.choice(members(item))
        return self.say(rng, item)

    def _plain(self, text: str) -> str:
        named = {"n": "\n", "r": "\r", "t": "\t"}
        return re.sub(
            r"\\(?:x(..)|u(....)|U(........)|(.))",
            lambda m: chr(int(m[1] or m[2] or m[3], 16)) if not m[4] else named.get(m[4], m[4]),
            text,
        )


def bounded_integers() -> st.SearchStrategy[dict[str, Any]]:
    pairs = st.tuples(st.integers(-(10**6), 10**6), st.integers(0, 10**6))
    return pairs.map(lambda pair: {"type": "integer", "minimum": pair[0], "maximum": pair[0] + pair[1]})


def bounded_strings() -> st.SearchStrategy[dict[str, Any]]:
    pairs = st.tuples(st.integers(0, 5), st.integers(0, 2_500))
    return pairs.map(lambda pair: {"type": "string", "minLength": pair[0], "maxLength": sum(pair)})


def objects(properties: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    whole = {"type": "object", "properties": properties, "additionalProperties": False}
    return st.lists(st.sampled_from(sorted(properties)) if properties else st.nothing(), unique=True).map(
        lambda required: {**whole, "required": required}
    )


keys = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
leaves = st.one_of(
    bounded_integers(),
    bounded_strings(),
    st.sampled_from(
        [{"type": "boolean"}, {"type": "null"}, {"type": "number", "minimum": -3, "maximum": 12.5},
         {"const": {"a": "é\n"}}, {"type": ["integer", "null"]}, {"type": "number"}, {},
         {"enum": ["load", 'a "quoted"\\ one\n', 7, None, [1.5]]}]
    ),
)  # fmt: skip
schemas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(
            lambda items, n: {"type": "array", "items": items, "minItems": n, "maxItems": n + 3},
            inner,
            st.integers(0, 2),
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda several: {"anyOf": several}),
        st.dictionaries(keys, inner, max_size=3).flatmap(objects),
    ),
    max_leaves=6,
)


@settings(deadline=None, max_examples=100)
@given(
    st.dictionaries(keys, schemas, max_size=4).flatmap(objects),
    st.sampled_from([HERMES, MISTRAL, BARE]),
    st.integers(0, 2**32),
)
def test_what_the_grammar_says_fits_the_schema(schema: dict[str, Any], wrapper: Wrapper, seed: int) -> None:
    """Every sentence is plain text without call markup, or text and whole calls whose arguments fit the schema."""
    talker, rng = Talker(build([{"name": "do it", "parameters": schema}], wrapper)), random.Random(seed)
    for said in (talker.call(rng, wrapper), talker.say(rng), talker.call(rng, wrapper), talker.say(rng)):
        calling = wrapper.marker in said if wrapper.marker else said.startswith("{")
        rest, calls = call_text.parse(said)

        assert bool(calls) == calling
        for call in calls:
            assert call.name == "do it"
            jsonschema.validate(call.args, schema)
        if calls and wrapper.marker:
            assert wrapper.marker not in rest


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**8))
def test_number_ranges_are_exact(low: int, width: int, probe: int) -> None:
    """The alternatives for a range match a number exactly when it lies in the range."""
    pattern = re.compile("|".join(part.replace('"', "").replace(" ", "") for part in between(low, low + width)))

    for number in (low, low + width, max(low - 1, 0), low + width + 1, probe, low + width // 2):
        assert bool(pattern.fullmatch(str(number))) == (low <= number <= low + width)


HOSTILE: list[Any] = [
    None, [], "string", 7, {"type": "string"}, {"properties": 3}, {"$ref": "#"}, {"$ref": "http://elsewhere/"},
    {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/b"}}},
    {"properties": {'"\n\\\x00<tool_call>é😀': {"enum": ['"', "\n", "\x00", "</tool_call>"]}}},
    {"properties": {"a": {"type": "integer", "minimum": -1e308, "maximum": 10**400}}},
    {"properties": {"a": {"type": "integer", "minimum": 5, "maximum": 1}}},
    {"properties": {"b": {"minimum": float("nan"), "type": "number", "exclusiveMaximum": float("inf")}}},
    {"properties": {"a": {"type": "array", "items": {}, "minItems": -1, "maxItems": 10**12}}},
    {"properties": {"a": {"type": "string", "minLength": 10**9, "maxLength": -1, "pattern": "((("}}},
    {"properties": {"a": {"enum": list(range(100_000))}, "b": {"enum": []}, "c": {"type": []}, "d": {"anyOf": []}}},
    {"properties": {f"p{i}": {"type": "string", "maxLength": i} for i in range(3_000)}},
    {"properties": {"a": True, "b": False, "c": None}, "required": 3, "allOf": [{"properties": {"d": {}}}, 3]},
]  # fmt: skip


@pytest.mark.parametrize("schema", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_schema_gives_a_bounded_grammar(schema: Any) -> None:
    """Schemas that are wrong, endless or enormous still give a grammar of bounded size that makes whole calls."""
    grammar = build([{"name": "t", "parameters": schema}])
    talker, rng = Talker(grammar), random.Random(0)

    assert len(grammar) < 200_000
    assert all(call_text.parse(talker.call(rng, HERMES))[1] for _ in range(8))


def test_deep_nesting_is_cut_off() -> None:
    """A schema nested a thousand deep, with two branches each, neither recurses away nor explodes."""
    schema: dict[str, Any] = {}
    for _ in range(1_000):
        schema = {"type": "object", "properties": {"a": schema, "b": schema}}

    assert len(build([{"name": "t", "parameters": schema}])) < 200_000


def test_sixty_large_tools_stay_within_bounds() -> None:
    """Many large tools together still make one bounded grammar, in which every tool can be called."""
    schema = {"properties": {f"p{i}": {"type": "string", "maxLength": i} for i in range(500)}}
    grammar = build([{"name": f"tool{i}", "parameters": schema} for i in range(60)])

    assert len(grammar) < 1_000_000
    assert all(f'"\\"tool{i}\\""' in grammar for i in range(60))


def test_values_that_no_json_file_may_hold_are_not_said() -> None:
    """Control characters and lone surrogates do not fit a string of the grammar."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    talker = Talker(build([{"name": "t", "parameters": schema}]))
    rng = random.Random(7)

    for one in (talker.call(rng, HERMES) for _ in range(200)):
        for body in re.findall(r"<tool_call>\n(.*?)\n</tool_call>", one, re.DOTALL):
            json.dumps(json.loads(body), ensure_ascii=False).encode()
