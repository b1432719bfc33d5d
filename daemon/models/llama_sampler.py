"""How the next token is chosen: llama.cpp's samplers, a grammar beside them, and the log-probability of the choice.

The penalties are told of the agent's own earlier words, which llama-cpp-python never does: without that they cannot
stop a repetition from one turn to the next.  The log-probability is that of the raw logits at temperature 1.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import llama_cpp.llama_cpp as llama
import numpy as np

from daemon.models.llama_engine import BadModel, Engine

PENALTY_WINDOW = 512
_BREAKERS = (b"\n", b":", b'"', b"*")


class BadGrammar(Exception):
    """llama.cpp does not accept a grammar."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """The settings in force; temperature 0 is greedy, and 0 or 1 switch the others off as llama.cpp has it.

    `dry_length` is how many tokens of an earlier text may come again before DRY holds against it.
    """

    temperature: float
    top_p: float
    min_p: float
    top_k: int
    repeat_penalty: float
    dry: float
    seed: int
    dry_length: int = 2


class Sampler:
    """Chooses tokens for one reply.  `history` are the agent's own earlier tokens; `banned` are never chosen."""

    def __init__(
        self, engine: Engine, sampling: Sampling, grammar: str, history: Sequence[int], banned: Iterable[int]
    ) -> None:
        self._engine = engine
        self._grammar: Any = None
        if grammar:
            self._grammar = llama.llama_sampler_init_grammar(engine.vocabulary.pointer, grammar.encode(), b"root")
            if not self._grammar:  # using a null sampler would kill the process
                raise BadGrammar("llama.cpp does not accept the grammar of these tools")
        self._chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
        for part in _parts(engine, sampling, history, list(banned)):
            llama.llama_sampler_chain_add(self._chain, part)
        dtype = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        self._ids = np.arange(engine.vocabulary.size, dtype=np.int32)
        self._data = np.zeros(engine.vocabulary.size, dtype=dtype)
        pointer = self._data.ctypes.data_as(ctypes.POINTER(llama.llama_token_data))
        self._all = llama.llama_token_data_array(data=pointer, size=engine.vocabulary.size, selected=-1, sorted=False)
        self._one_data = (llama.llama_token_data * 1)()
        self._one = llama.llama_token_data_array(data=self._one_data, size=1, selected=-1, sorted=False)

    def choose(self) -> tuple[int, float]:
        """Choose a token behind what was evaluated last; return it and its raw log-probability.  Raises BadModel."""
        logits = self._engine.logits()
        top = logits.max()
        if not math.isfinite(top):
            raise BadModel("it computes no numbers any more: its weights are damaged")
        token = self._draw(logits, constrained=False)
        if self._grammar is not None:
            # Asking for one token is cheap and nearly always enough; only a forbidden one needs the whole vocabulary.
            if not self._allowed(token):
                token = self._draw(logits, constrained=True)
            llama.llama_sampler_accept(self._grammar, token)
        llama.llama_sampler_accept(self._chain, token)
        return token, float(logits[token] - top - np.log(np.exp(logits - top).sum(dtype=np.float64)))

    def _draw(self, logits: Any, *, constrained: bool) -> int:
        self._data["id"], self._data["logit"] = self._ids, logits
        array = self._all
        array.size, array.selected, array.sorted = self._engine.vocabulary.size, -1, False
        if constrained:
            llama.llama_sampler_apply(self._grammar, ctypes.byref(array))
        llama.llama_sampler_apply(self._chain, ctypes.byref(array))
        return int(array.data[array.selected].id)

    def _allowed(self, token: int) -> bool:
        self._one_data[0].id, self._one_data[0].logit = token, 1.0
        self._one.size, self._one.selected, self._one.sorted = 1, -1, False
        llama.llama_sampler_apply(self._grammar, ctypes.byref(self._one))
        return bool(self._one_data[0].logit > float("-inf"))

    def close(self) -> None:
        """Free what llama.cpp holds."""
        llama.llama_sampler_free(self._chain)
        if self._grammar is not None:
            llama.llama_sampler_free(self._grammar)


def _parts(engine: Engine, sampling: Sampling, history: Sequence[int], banned: list[int]) -> Iterable[Any]:
    if banned:
        biases = (llama.llama_logit_bias * len(banned))(*((token, float("-inf")) for token in banned))
        yield llama.llama_sampler_init_logit_bias(engine.vocabulary.size, len(banned), biases)
    if sampling.repeat_penalty != 1:
        penalties = llama.llama_sampler_init_penalties(
            engine.vocabulary.size, PENALTY_WINDOW, sampling.repeat_penalty, 0.0, 0.0
        )
        yield _told(penalties, history[-PENALTY_WINDOW:])
    if sampling.dry:
        breakers = (ctypes.c_char_p * len(_BREAKERS))(*_BREAKERS)
        dry = llama.llama_sampler_init_dry(
            engine.vocabulary.pointer, sampling.dry, 1.75, sampling.dry_length, 4096, breakers, len(_BREAKERS)
        )
        yield _told(dry, history[-4096:])
    if sampling.temperature <= 0:
        yield llama.llama_sampler_init_greedy()
        return
    if sampling.top_k > 0:
        yield llama.llama_sampler_init_top_k(sampling.top_k)
    if sampling.top_p < 1:
        yield llama.llama_sampler_init_top_p(sampling.top_p, 1)
    if sampling.min_p > 0:
        yield llama.llama_sampler_init_min_p(sampling.min_p, 1)
    yield llama.llama_sampler_init_temp(sampling.temperature)
    yield llama.llama_sampler_init_dist(sampling.seed)


def _told(sampler: Any, history: Sequence[int]) -> Any:
    for token in history:
        llama.llama_sampler_accept(sampler, token)
    return sampler
