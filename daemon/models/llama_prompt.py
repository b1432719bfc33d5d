"""From messages to the tokens of a prompt: what the model said is replayed as sampled, others' text is never markup.

Rendering the template gives text.  Two kinds of messages go into it as a placeholder and are put in as tokens
afterwards: replies that the same model file sampled (their ids are known, and text tokenised again does not always give
the same), and texts that hold the model's control markup, which must not open a turn of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from daemon.models.llama_template import Chat, Template, TemplateFailed
from daemon.models.llama_vocabulary import Vocabulary

_BREAK = "\u200b"


class Prompter:
    """Makes prompts for one model.  Messages are those of the pipe: role, text, calls, call_id, name, ids."""

    def __init__(self, vocabulary: Vocabulary, template: Template) -> None:
        self._vocabulary, self._template = vocabulary, template
        markup = sorted({text for text in vocabulary.control.values() if len(text) > 1}, key=len, reverse=True)
        self._markup = re.compile("|".join(map(re.escape, markup)) or "(?!)")

    def tokens(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> list[int]:
        """Return the whole prompt.  Raises TemplateFailed."""
        tools = self._clean(tools)
        tries = (self._spliced(messages, tools, keep) for keep in (_any_reply, _reply_without_calls, _no_reply))
        tokens = next((one for one in tries if one is not None), None)
        if tokens is None:
            tokens = self._vocabulary.tokens(self._template.render(self._clean(list(map(_chat, messages))), tools))
        bos = self._vocabulary.bos
        return tokens if bos is None or tokens[:1] == [bos] else [bos, *tokens]

    def _spliced(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], keep: Callable[[Any], bool]
    ) -> list[int] | None:
        """The prompt with placeholders replaced by tokens, None if the template does not carry each through."""
        salt = _salt(messages)
        chat: Chat = []
        parts: list[tuple[str, list[int]]] = []
        for message in messages:
            one, mark = _chat(message), f"{salt}{len(parts)}e"
            if message.get("ids") and keep(message):
                parts.append((mark, self._without_end(message["ids"])))
                one = {"role": one["role"], "content": mark}
            elif self._markup.search(one["content"]):
                parts.append((mark, self._vocabulary.tokens(one["content"], special=False)))
                one["content"] = mark
            chat.append({**one, **self._clean({k: v for k, v in one.items() if k != "content"})})
        try:
            rest = self._template.render(chat, tools, fold=False)
        except TemplateFailed:  # it may want to see the calls that a placeholder hides
            return None
        tokens: list[int] = []
        for mark, ids in parts:
            before, found, rest = rest.partition(mark)
            if not found or mark in rest:
                return None
            tokens += self._vocabulary.tokens(before) + ids
        return tokens + self._vocabulary.tokens(rest)

    def _without_end(self, ids: Sequence[int]) -> list[int]:
        """The template writes the end of a turn itself."""
        return list(ids[:-1] if self._vocabulary.ends(ids[-1]) else ids)

    def _clean(self, value: Any) -> Any:
        """Break control markup inside names, arguments and tool descriptions, which have no placeholder."""
        if isinstance(value, str):
            return self._markup.sub(lambda found: found[0][:1] + _BREAK + found[0][1:], value)
        if isinstance(value, Mapping):
            return {self._clean(key): self._clean(inner) for key, inner in value.items()}
        return [self._clean(inner) for inner in value] if isinstance(value, list | tuple) else value


def _any_reply(message: Mapping[str, Any]) -> bool:
    return True


def _reply_without_calls(message: Mapping[str, Any]) -> bool:
    return not message.get("calls")


def _no_reply(message: Mapping[str, Any]) -> bool:
    return False


def _salt(messages: Sequence[Mapping[str, Any]]) -> str:
    """A word that stands in no message, the same for the same messages."""
    said, number = json.dumps(list(messages), default=str), 0
    while (word := f"zq{number}reply") in said:
        number += 1
    return word


def _chat(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as templates know it; arguments are objects, because half of all templates fail on strings."""
    chat: dict[str, Any] = {"role": message["role"], "content": message["text"]}
    if message.get("calls"):
        chat["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["args"]}}
            for call in message["calls"]
        ]
    if message["role"] == "tool":
        chat["tool_call_id"] = message.get("call_id") or ""
        chat["name"] = message.get("name") or ""
    return chat
