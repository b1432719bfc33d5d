"""Splits a heartbeat file into its front matter and its body, and reads the front matter without guessing types.

Every scalar stays the text that the person wrote (so `on:` is no boolean and `22:00` no number), and whatever makes
YAML dangerous or ambiguous (anchors, tags, a key that is there twice, deep nesting) is an error with a line number.  It
does not know what any key means.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import yaml
from frontmatter.default_handlers import YAMLHandler

from daemon.errors import ConfigError
from vault.escape import one_line

Value: TypeAlias = str | list["Value"] | dict[str, "Value"]

LIMIT = 64 * 1024
"""The most bytes that a heartbeat file may have."""
_DEPTH = 3
_FENCES = "expected front matter (key: value lines) between two lines of ---, then the instruction"


def split(file: str, data: bytes) -> tuple[Mapping[str, Value], str]:
    """Return the front matter's keys and the text after it.  Raises ConfigError."""
    text = _decoded(file, data)
    fences = YAMLHandler()
    if not fences.detect(text):
        raise ConfigError(file, "", _FENCES)
    try:
        matter, body = fences.split(text)
    except ValueError:
        raise ConfigError(file, "", f"{_FENCES}; the second --- is missing") from None
    try:
        keys = _document(file, matter)
    except yaml.MarkedYAMLError as wrong:
        line = f"line {wrong.problem_mark.line + 1}: " if wrong.problem_mark else ""
        raise ConfigError(
            file, "", f"{line}not valid YAML: {one_line(wrong.problem or wrong.context or '', 120)}"
        ) from None
    except yaml.YAMLError as wrong:
        raise ConfigError(file, "", f"not valid YAML: {one_line(str(wrong), 120)}") from None
    return keys, body.strip()


def _decoded(file: str, data: bytes) -> str:
    if len(data) > LIMIT:
        raise ConfigError(file, "", f"is larger than {LIMIT // 1024} KiB; expected a short instruction")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        raise ConfigError(file, "", f"byte {wrong.start} is not UTF-8; expected a text file in UTF-8") from None
    if "\0" in text:
        raise ConfigError(file, "", f"holds a NUL at character {text.index(chr(0))}; expected plain text")
    return text.replace("\r\n", "\n")


def _document(file: str, matter: str) -> Mapping[str, Value]:
    events = iter(yaml.parse(matter, Loader=yaml.SafeLoader))
    for event in events:
        if isinstance(event, yaml.DocumentStartEvent):
            value = _value(file, next(events), events, 0)
            if not isinstance(value, dict):
                raise ConfigError(file, "", "expected `key: value` lines in the front matter")
            if not isinstance(next(events), yaml.DocumentEndEvent) or not isinstance(next(events), yaml.StreamEndEvent):
                raise ConfigError(file, "", "expected one YAML document in the front matter")
            return value
    return {}


def _value(file: str, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Value:
    line = _line(event)
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise ConfigError(file, "", f"line {line}: YAML anchors and aliases (& and *) are not read here")
    if getattr(event, "tag", None) is not None:
        raise ConfigError(file, "", f"line {line}: YAML tags (!) are not read here")
    if isinstance(event, yaml.ScalarEvent):
        return event.value
    if depth == _DEPTH:
        raise ConfigError(file, "", f"line {line}: is nested too deeply")
    if isinstance(event, yaml.SequenceStartEvent):
        return [_value(file, item, events, depth + 1) for item in _until(yaml.SequenceEndEvent, events)]
    mapping: dict[str, Value] = {}
    for key in _until(yaml.MappingEndEvent, events):
        name = _value(file, key, events, depth + 1)
        if not isinstance(name, str):
            raise ConfigError(file, "", f"line {line}: expected a word before the colon")
        if name in mapping:
            raise ConfigError(file, one_line(name, 40), f"is there twice (line {_line(key)}); expected once")
        mapping[name] = _value(file, next(events), events, depth + 1)
    return mapping


def _line(event: yaml.Event) -> int:
    """Return the line of the file; the --- above the front matter is its first."""
    return event.start_mark.line + 1 if event.start_mark else 1


def _until(end: type[yaml.Event], events: Iterator[yaml.Event]) -> Iterator[yaml.Event]:
    for event in events:
        if isinstance(event, end):
            return
        yield event
