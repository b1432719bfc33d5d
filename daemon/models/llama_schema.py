"""Grammar rules from JSON Schemas.  Schemas come from outside and may be hostile, so everything is bounded.

Strings, repetitions, depth and the number of rules have limits.  What a schema says beyond the grammar (patterns,
formats, `multipleOf`) is left to the toolbox, which validates the arguments again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from daemon.models.llama_numbers import bounded

LONGEST_STRING = 4_000
MOST_RULES_PER_TOOL, MOST_RULES = 600, 4_000
MOST_CHOICES = 300
DEEPEST = 8
_BLOCK = 1_000  # llama.cpp refuses more than 2,000 repetitions of one symbol

BASE = {
    "hex": "[0-9a-fA-F]",
    # No control character, and no half of a surrogate pair: either would make a string that cannot be stored.
    "escape": r'"\\" (["\\/bfnrt] | "u" ([0-9a-cA-CeEfF] hex hex hex | [dD] [0-7] hex hex))',
    "char": r'[^"\\\x00-\x1F\x7F] | escape',
    "key": r'"\"" char{1,60} "\""',
    "natural": '"0" | [1-9] [0-9]{0,14}',
    "integer": '"-"? natural',
    "number": '"-"? natural ("." [0-9]{1,15})? ([eE] [-+]? [0-9]{1,2})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
}


def literal(text: str) -> str:
    """Return `text` as a GBNF string."""
    plain = {'"': r"\"", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    return '"' + "".join(plain.get(c) or (c if c.isprintable() else _code(c)) for c in text) + '"'


def _code(char: str) -> str:
    point = ord(char)
    return f"\\x{point:02X}" if point < 0x100 else f"\\u{point:04X}" if point < 0x10000 else f"\\U{point:08X}"


def as_json(value: object) -> str:
    """The value as JSON text in a grammar; characters that no model can write are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return literal(text if text.isprintable() else json.dumps(value))


class Rules:
    """The rules so far, each under a number; equal bodies share one rule."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._root: Mapping[str, Any] = {}
        self._limit = 0

    def used(self) -> dict[str, str]:
        return {**{name: body for body, name in self._names.items()}, **BASE}

    def add(self, body: str) -> str:
        return self._names.setdefault(body, f"r{len(self._names)}")

    def call(self, tool: Mapping[str, Any], key: str) -> str:
        schema = tool.get("parameters")
        self._root = schema if isinstance(schema, Mapping) else {}
        self._limit = min(len(self._names) + MOST_RULES_PER_TOOL, MOST_RULES)
        try:
            args = self._object(self._root, 0)
        except _TooMuch:
            args = self._any_object(2)
        named = f"{as_key('name')} {as_json(str(tool['name']))}"
        return self.add(f"{literal('{')} {named} {literal(', ')} {as_key(key)} {args} {literal('}')}")

    def _of(self, schema: object, depth: int) -> str:
        """Return the name of a rule for the values of `schema`."""
        if len(self._names) > self._limit:
            raise _TooMuch
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return self._any(2)
        if isinstance(schema.get("$ref"), str):
            return self._of(self._resolve(schema["$ref"]), depth + 1)
        if "const" in schema:
            return self.add(as_json(schema["const"]))
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._choice(schema["enum"])
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                return self._alternatives(schema[key][:MOST_CHOICES], depth)
        if isinstance(schema.get("allOf"), list) and schema["allOf"]:
            return self._of(_merged([schema, *schema["allOf"]]), depth + 1)
        return self._typed(schema, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> str:
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list) and kind:
            return self._alternatives([{**schema, "type": one} for one in kind[:7]], depth)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._string(_count(schema, "minLength", 0), _count(schema, "maxLength", LONGEST_STRING))
            case "integer":
                return self.add(bounded(schema) or "integer")
            case "number":
                return self.add(bounded(schema, fraction=True) or "number")
            case "boolean" | "null":
                return str(kind)
        return self._any(2)

    def _resolve(self, reference: str) -> object:
        here: object = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            here = here.get(part) if isinstance(here, Mapping) else None
        return here

    def _choice(self, values: Sequence[object]) -> str:
        shown = list(dict.fromkeys(as_json(value) for value in values))
        if len(shown) > MOST_CHOICES or sum(map(len, shown)) > 20_000:
            return self._any(0)
        return self.add(" | ".join(shown))

    def _alternatives(self, schemas: Iterable[object], depth: int) -> str:
        return self.add(" | ".join(dict.fromkeys(self._of(one, depth + 1) for one in schemas)))

    def _object(self, schema: Mapping[str, Any], depth: int) -> str:
        """Properties in the order of the schema, the optional ones left out at will, nothing beyond them."""
        properties, required = schema.get("properties"), schema.get("required")
        if not isinstance(properties, Mapping) or not properties:
            extra = schema.get("additionalProperties")
            if extra is False or (isinstance(properties, Mapping) and not extra):
                return self.add(literal("{}"))
            return self._map(self._of(extra, depth + 1) if isinstance(extra, Mapping) else self._any(1))
        needed = set(map(str, required)) if isinstance(required, list) else set()
        first = rest = self.add(literal("}"))
        for name, inner in reversed(list(properties.items())):
            pair = f"{as_key(str(name))} {self._of(inner, depth + 1)}"
            skip_first, skip_rest = ("", "") if str(name) in needed else (f" | {first}", f" | {rest}")
            first, rest = self.add(f"{pair} {rest}{skip_first}"), self.add(f"{literal(', ')} {pair} {rest}{skip_rest}")
        return self.add(f"{literal('{')} {first}")

    def _array(self, schema: Mapping[str, Any], depth: int) -> str:
        item = self._of(schema.get("items"), depth + 1)
        most = min(_count(schema, "maxItems", 16), 64)
        least = min(_count(schema, "minItems", 0), most)
        if most == 0:
            return self.add(literal("[]"))
        items = f"{item} ({literal(', ')} {item}){{{max(least - 1, 0)},{most - 1}}}"
        return self.add(f"{literal('[')} {items if least else f'({items})?'} {literal(']')}")

    def _string(self, least: int, most: int) -> str:
        """A bounded string.  Only a full block leads to the next, so that a parser is in two states at most."""
        most = min(most, LONGEST_STRING)
        least = min(least, most, _BLOCK)
        blocks, rest = divmod(most, _BLOCK)
        if blocks == 0 or (blocks == 1 and rest == 0):
            return self.add(f'"\\"" char{{{least},{most}}} "\\""')
        tail = self.add(f"char{{0,{rest or _BLOCK}}}")
        full = self.add(f"char{{{_BLOCK}}}")
        part = self.add(f"char{{0,{_BLOCK - 1}}}")
        for _ in range(blocks - 1 - (rest == 0)):
            tail = self.add(f"{part} | {full} {tail}")
        return self.add(f'"\\"" (char{{{least},{_BLOCK - 1 if least < _BLOCK else _BLOCK}}} | {full} {tail}) "\\""')

    def _any(self, depth: int) -> str:
        """Any JSON value, at most `depth` levels of it."""
        scalar = f"{self._string(0, _BLOCK)} | number | boolean | null"
        if depth == 0:
            return self.add(scalar)
        inner = self._any(depth - 1)
        listed = f'"[" ({inner} (", " {inner}){{0,15}})? "]"'
        return self.add(f"{scalar} | {listed} | {self._map(inner)}")

    def _any_object(self, depth: int) -> str:
        return self._map(self._any(depth - 1))

    def _map(self, value: str) -> str:
        return self.add(f'"{{" (key ": " {value} (", " key ": " {value}){{0,15}})? "}}"')


class _TooMuch(Exception):
    """A schema needs more rules than a grammar may have."""


def as_key(name: str) -> str:
    return f"{as_json(name)} {literal(': ')}"


def _count(schema: Mapping[str, Any], key: str, default: int) -> int:
    value = schema.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default


def _merged(parts: Iterable[object]) -> dict[str, Any]:
    """What `allOf` says, as far as one object can say it."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items() if isinstance(part, Mapping) else ():
            if key == "properties" and isinstance(value, Mapping):
                whole[key] = {**whole.get(key, {}), **value}
            elif key == "required" and isinstance(value, list):
                whole[key] = [*whole.get(key, []), *value]
            elif key != "allOf":
                whole[key] = value
    return whole
