"""Conversations as rows of token ids, each with a weight: what the model says counts, what it copies counts more."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from training.corpus.conversation import Conversation
from training.corpus.draw import Draw
from training.tokenizer import END_OF_TEXT

SPOKEN, COPIED, DECISIVE = 1.0, 3.0, 6.0
"""Loss weights of a token the assistant writes; of one it had to copy; and of one that decides what happens: which
tool or option, which name a copy begins with. A reply has a hundred tokens and only a few such."""
DECISIONS = re.compile(r'^<tool_call>|(?<="name": ")\w+|(?<="what": ")\w+|(?<="action": ")\w+')
REPLY = re.compile(r"(?<=<\|im_start\|>assistant\n).*?<\|im_end\|>", re.DOTALL)

Row = tuple[NDArray[np.int64], NDArray[np.float32]]
"""Token ids and their weights, both of the row's length plus one."""


def character_weights(conversation: Conversation, text: str, heard: float) -> NDArray[np.float32]:
    """The weight of each character of the rendered thread; `heard` is that of everything the model only reads."""
    weights = np.full(len(text), heard, dtype=np.float32)
    replies = [message for message in conversation.messages if message.role == "assistant"]
    for message, match in zip(replies, REPLY.finditer(text), strict=True):
        if not message.trained:
            weights[match.start() : match.end()] = 0.0
            continue
        weights[match.start() : match.end()] = SPOKEN
        copied = "|".join([r"\d", *(re.escape(part) for part in message.copied)])
        for part in re.finditer(copied, match.group()):
            weights[match.start() + part.start() : match.start() + part.end()] = COPIED
        if message.opens:  # a hint said what to begin with
            place = match.start() + match.group().find(message.opens)
            weights[max(match.start(), place - 20) : place + len(message.opens)] = DECISIVE
        for part in DECISIONS.finditer(match.group()):
            weights[match.start() + part.start() : match.start() + part.end()] = DECISIVE
    return weights


def encode(tokenizer: Tokenizer, conversation: Conversation, heard: float) -> Row:
    """One conversation as ids and weights, closed by the end-of-text token."""
    text = conversation.text()
    encoding = tokenizer.encode(text)
    weights = character_weights(conversation, text, heard)
    ends = np.array([end - 1 for _, end in encoding.offsets])
    ids = np.array([*encoding.ids, tokenizer.token_to_id(END_OF_TEXT)], dtype=np.int64)
    aim = np.append(weights[ends], np.float32(0.0))
    begins = (aim == COPIED) & (np.insert(aim[:-1], 0, 0.0) < COPIED)
    aim[begins] = DECISIVE
    return ids, aim


def rows(
    tokenizer: Tokenizer,
    make: Callable[[Draw], Conversation],
    seed: str,
    length: int,
    heard: float,
    held_out: bool = False,
) -> Iterator[Row]:
    """Endless rows of `length` + 1 tokens, packed with whole conversations; those too long are left out."""
    index, waiting, filler = 0, list[Row](), tokenizer.token_to_id(END_OF_TEXT)
    assert filler is not None
    while True:
        while len(waiting) < 64:
            conversation = encode(tokenizer, make(Draw(f"{seed} {index}", held_out)), heard)
            index += 1
            if len(conversation[0]) <= length + 1:
                waiting.append(conversation)
        yield _pack(waiting, length + 1, filler)


def _pack(waiting: list[Row], room: int, filler: int) -> Row:
    """The oldest conversation first, then every other that still fits; the rest of the row has no weight."""
    ids, weights = np.full(room, filler, dtype=np.int64), np.zeros(room, dtype=np.float32)
    used = 0
    for conversation in list(waiting):
        size = len(conversation[0])
        if used + size <= room:
            ids[used : used + size], weights[used : used + size] = conversation
            used += size
            del waiting[next(place for place, other in enumerate(waiting) if other is conversation)]
    return ids, weights
