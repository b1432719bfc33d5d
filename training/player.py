"""Plays scripted conversations through the GGUF: its own replies stand in the history, tool results are scripted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training.corpus.conversation import TOOLS, Conversation, Message, render

CALL = re.compile(r"<tool_call>\n(.*)\n</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class Sampling:
    """How replies are drawn; temperature 0 is greedy."""

    temperature: float
    top_p: float = 0.95
    min_p: float = 0.05
    top_k: int = 40


@dataclass(frozen=True)
class Played:
    """One reply of the model beside what the script expected, and the text it could copy from in this beat."""

    expected: Message
    reply: str
    source: str
    tools: tuple[str, ...]


class Player:
    """The GGUF under llama.cpp, one reply at a time."""

    def __init__(self, path: Path, context: int = 4096) -> None:
        import llama_cpp  # only here: the checks of the evaluation are tested without it

        # One thread: several wait for each other on a busy machine, and gain little on so small a model.
        self.llama = llama_cpp.Llama(str(path), n_ctx=context, n_threads=1, n_threads_batch=1, verbose=False)

    def tokens(self, text: str) -> list[int]:
        """Token ids of a rendered prompt, markers included."""
        return list(self.llama.tokenize(text.encode(), add_bos=False, special=True))

    def complete(self, prompt: str, sampling: Sampling, seed: int, longest: int = 220, never_end: bool = False) -> str:
        """The reply to a rendered prompt. `never_end` forbids the end-of-turn token: a runaway reply."""
        answer = self.llama.create_completion(
            self.tokens(prompt), max_tokens=longest, temperature=sampling.temperature, top_p=sampling.top_p,
            min_p=sampling.min_p, top_k=sampling.top_k, repeat_penalty=1.0, seed=seed,
            logit_bias={str(self.llama.token_eos()): -100.0} if never_end else None,
        )  # fmt: skip
        assert isinstance(answer, dict)
        return str(answer["choices"][0]["text"])

    def chat(self, history: list[dict[str, Any]], tools: tuple[str, ...], sampling: Sampling, seed: int) -> str:
        """The reply to a chat in the OpenAI form."""
        return self.complete(render(history, tools, opens_reply=True), sampling, seed)

    def play(self, conversation: Conversation, sampling: Sampling, seed: int) -> Iterator[Played]:
        """Replies of the last beat (or those after its hint), until one leaves the script."""
        messages = conversation.messages
        first = max(
            place for place, message in enumerate(messages) if message.role == "user" or "\nHint: " in message.content
        )
        beat = max(
            place for place, message in enumerate(messages) if message.content.startswith("Heartbeat") or place == 0
        )
        history = [message.as_chat() for message in messages[: first + 1]]
        for message in messages[first + 1 :]:
            if message.role != "assistant":
                history.append(message.as_chat())
                continue
            reply = self.chat(history, conversation.tools, sampling, seed)
            source = "\n".join(str(part["content"]) for part in history[beat:] if part["role"] != "assistant")
            yield Played(message, reply, source, conversation.tools)
            if (parsed(reply, conversation.tools) is None) != (message.call is None):
                return
            history.append({"role": "assistant", "content": reply})


def parsed(reply: str, tools: tuple[str, ...]) -> tuple[str, dict[str, str]] | None:
    """The tool call of a reply: well formed, the tool present, the arguments as its schema says; else None."""
    match = CALL.fullmatch(reply.strip())
    try:
        call = json.loads(match.group(1)) if match else None
    except json.JSONDecodeError:
        return None
    if not isinstance(call, dict) or set(call) != {"name", "arguments"} or call["name"] not in tools:
        return None
    schema, arguments = TOOLS[call["name"]]["function"]["parameters"], call["arguments"]
    fits = isinstance(arguments, dict) and set(schema["required"]) <= set(arguments) <= set(schema["properties"])
    if not fits or not all(isinstance(value, str) for value in arguments.values()):
        return None
    chosen = all(value in schema["properties"][key].get("enum", [value]) for key, value in arguments.items())
    return (call["name"], arguments) if chosen else None
