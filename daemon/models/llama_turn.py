"""One reply of the local model, token by token, in the child process.

The parent sees each piece of text and says how far it has come.  The model is at most a few milliseconds of pieces
ahead, so that it never waits for a parent that is quicker; when a guard trips, the parent drops what lies behind the
piece that tripped.
"""

from __future__ import annotations

import codecs
import dataclasses
import functools
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from daemon.models.llama_engine import Engine, Interrupted, Warm
from daemon.models.llama_grammar import build
from daemon.models.llama_prompt import Prompter
from daemon.models.llama_sampler import Sampler, Sampling
from daemon.models.llama_template import Template
from guards.text import words

AHEAD = 64
"""How many pieces the model may be ahead of the parent."""
DRY_WORDS = 2
"""So many words of a text that is to be avoided may come again before DRY holds against the next one."""
TOGETHER_SECONDS = 0.004
"""Pieces that come faster than this are sent together; waking the parent costs more than such a piece."""

Send = Callable[[list[str]], None]


class TooLong(Exception):
    """A prompt that leaves no room for a reply."""


@dataclass
class Job:
    """A request of the parent, and what the parent says while it is worked on.  `ended` is a finish, "" until then."""

    request: Mapping[str, Any]
    deadline: float
    ended: str = ""
    seen: int = 0
    news: threading.Condition = field(default_factory=threading.Condition)

    def end(self, finish: str) -> None:
        """End the job, once, from any thread."""
        with self.news:
            self.ended = self.ended or finish
            self.news.notify()

    def saw(self, pieces: int) -> None:
        """The parent has seen this many pieces and lets them stand."""
        with self.news:
            self.seen = pieces
            self.news.notify()

    def wait(self, pieces: int) -> bool:
        """Wait until the parent has seen this many pieces; False when the job has ended."""
        if self.seen < pieces and not self.ended:
            with self.news:
                self.news.wait_for(lambda: self.seen >= pieces or self.ended)
        return not self.ended


@dataclass
class Said:
    """What was sampled so far: ids with log-probabilities, and after how many ids each piece of text was whole."""

    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)


class _Outbox:
    """Pieces on their way to the parent, several together when they come fast."""

    def __init__(self, job: Job, said: Said, send: Send) -> None:
        self._job, self._said, self._send = job, said, send
        self._pieces: list[str] = []
        self._sent_at = 0.0

    def put(self, piece: str) -> bool:
        """Take a piece; False when the job has ended."""
        if piece:
            if not self._job.wait(len(self._said.marks) + 1 - AHEAD):
                return False
            self._said.marks.append(len(self._said.ids))
            self._pieces.append(piece)
            if time.monotonic() - self._sent_at >= TOGETHER_SECONDS or len(self._pieces) >= AHEAD // 4:
                self.flush()
        return True

    def flush(self) -> None:
        """Send what is there."""
        if self._pieces:
            self._send(self._pieces)
            self._pieces, self._sent_at = [], time.monotonic()


class Speaker:
    """Turns a job into a reply with one engine, one template and one set of sampling settings."""

    def __init__(self, engine: Engine, template: Template, options: Mapping[str, Any]) -> None:
        self._engine, self._template, self._options = engine, template, options
        self._prompter = Prompter(engine.vocabulary, template)
        self._constrained = options["grammar"] == "tool_or_text"
        # A reply opens no turn of its own: the markup for it would only leak into the text.
        vocabulary = engine.vocabulary
        opening = vocabulary.tokens(template.opening()) if self._constrained else []
        self._banned = sorted({one for one in opening if one in vocabulary.control and not vocabulary.ends(one)})

    @property
    def template_sha256(self) -> str:
        """A hash of the template's source."""
        return hashlib.sha256(self._template.source.encode()).hexdigest()

    def count(self, request: Mapping[str, Any]) -> int:
        """Return how many tokens this prompt has."""
        return len(self._prompter.tokens(request["messages"], request["tools"]))

    def reply(self, job: Job, send: Send) -> dict[str, Any]:
        """Return the reply; `send` gets the pieces of text.  Raises TooLong, TemplateFailed, BadGrammar."""
        began = time.monotonic()
        tokens = self._prompter.tokens(job.request["messages"], job.request["tools"])
        room = self._engine.context - len(tokens)
        if room < 1:
            raise TooLong(f"the prompt has {len(tokens)} tokens and the context holds {self._engine.context}")
        warm, said = self._engine.sequence(job.request["thread"], tokens), Said()
        sampling, reused = self._sampling(job.request), 0
        sampler = self._sampler(job.request, sampling)
        try:
            reused = self._engine.prefill(warm, tokens)
            finish = self._speak(job, warm, sampler, said, min(room, self._options["max_tokens"]), send)
        except Interrupted:
            finish = job.ended or "cancelled"
        finally:
            sampler.close()
        if finish not in ("stop", "length"):  # only what the parent has seen was said
            del said.ids[said.marks[-1] if said.marks else 0 :]
        self._engine.cut(warm, min(len(warm.tokens), len(tokens) + len(said.ids)))
        return {
            "finish": finish,
            "marks": said.marks,
            "prompt_ids": tokens,
            "ids": said.ids,
            "logprobs": [round(one, 6) for one in said.logprobs[: len(said.ids)]],
            "reused": reused,
            "seconds": time.monotonic() - began,
            "sampling": {**dataclasses.asdict(sampling), "grammar": self._options["grammar"]},
        }

    def _speak(self, job: Job, warm: Warm, sampler: Sampler, said: Said, most: int, send: Send) -> str:
        """Sample until the model ends, someone ends it, or there is no more room; return the finish."""
        vocabulary, decoder = self._engine.vocabulary, codecs.getincrementaldecoder("utf-8")("replace")
        out = _Outbox(job, said, send)
        finish = "length"
        try:
            for _ in range(most):
                token, logprob = sampler.choose()
                said.ids.append(token)
                said.logprobs.append(logprob)
                if vocabulary.ends(token):
                    finish = "stop"
                    break
                if job.ended or not out.put(decoder.decode(vocabulary.piece(token))):
                    return job.ended
                self._engine.decode(warm, [token])
            out.put(decoder.decode(b"", final=True))
        finally:
            out.flush()
        job.wait(len(said.marks))  # the last piece may still be the one that trips
        return job.ended if job.ended == "guard" else finish

    def _sampling(self, request: Mapping[str, Any]) -> Sampling:
        """The settings of the file, or what a request sets in their place for itself alone."""
        seed, names = self._options["seed"], {one.name for one in dataclasses.fields(Sampling)}
        chosen = {name: self._options[name] for name in names & self._options.keys() - {"seed"}}
        if avoid := request.get("avoid"):
            chosen["dry_length"] = self._tokens_of_words(avoid, DRY_WORDS)
        chosen |= request.get("sampling", {})
        return Sampling(**chosen, seed=int.from_bytes(os.urandom(4), "little") if seed is None else seed)

    def _tokens_of_words(self, texts: Sequence[str], count: int) -> int:
        """How many tokens so many words of these texts take: a small vocabulary needs several for each."""
        said = " ".join(texts)
        tokens = len(self._engine.vocabulary.tokens(said, special=False))
        return max(2, round(count * tokens / (len(words(said)) or 1)))

    def _sampler(self, request: Mapping[str, Any], sampling: Sampling) -> Sampler:
        tools = request["tools"] if self._constrained else ()
        grammar = _grammar(json.dumps(tools), self._template) if tools else ""
        told = sampling.repeat_penalty != 1 or sampling.dry
        history = self._own_words(request["messages"]) if told else []
        for text in request.get("avoid", ()):
            history += self._engine.vocabulary.tokens(text, special=False)
        return Sampler(self._engine, sampling, grammar, history, self._banned)

    def _own_words(self, messages: Sequence[Mapping[str, Any]]) -> list[int]:
        """What the agent itself said before: only that must not be repeated, facts and tool calls may well be."""
        ids: list[int] = []
        for message in messages:
            if message["role"] == "assistant" and not message.get("calls"):
                ids += message.get("ids") or self._engine.vocabulary.tokens(message["text"], special=False)
        return ids


@functools.lru_cache(maxsize=16)
def _grammar(tools: str, template: Template) -> str:
    return build(json.loads(tools), template.wrapper)
