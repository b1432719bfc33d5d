"""One model in one llama.cpp context that holds several warm sequences, one for each thread of conversation.

Runs in the child process only: llama.cpp may abort the process on bad input.  It knows tokens and sequences; it does
not know messages, templates or sampling.  Not safe for use from two threads, except `interrupt`.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import llama_cpp.llama_cpp as llama
import numpy as np
import numpy.typing as npt

from daemon.models.llama_vocabulary import Vocabulary

BATCH = 512
ERROR_LEVEL = 4  # of ggml's log
WORTH_COPYING = 64
"""A sequence that shares at least this many tokens with a new thread is copied rather than evaluated again."""

_complaints: list[str] = []


def _hear(level: int, text: bytes, _: object) -> None:
    """Keep what llama.cpp complains of, because a load that fails returns no reason."""
    if level == ERROR_LEVEL and len(_complaints) < 20:
        _complaints.append(text.decode("utf-8", "replace").strip())


_listener = llama.llama_log_callback(_hear)  # C code holds it, so it must live as long as the library


class Interrupted(Exception):
    """An evaluation was stopped from outside; what was whole is kept."""


class BadModel(Exception):
    """The file or the machine does not give a working model; the text says why."""


@dataclass
class Warm:
    """What one sequence of the context holds."""

    id: int
    tokens: list[int] = field(default_factory=list)


class Engine:
    """A loaded model.  `context` is the number of tokens that each of `sequences` threads may have."""

    def __init__(self, path: Path, context: int, sequences: int, threads: int) -> None:
        _complaints.clear()
        llama.llama_log_set(_listener, ctypes.c_void_p(0))
        llama.llama_backend_init()
        self._model = self._load(path)
        self.vocabulary = Vocabulary(self._model)
        trained = llama.llama_model_n_ctx_train(self._model)
        self.context = min(context, trained) if trained > 0 else context
        need = self.context * sequences * self._cell_bytes()
        if need > (free := memory_available()):
            raise BadModel(
                f"its context needs {need / 2**20:,.0f} MiB for {sequences} threads of {self.context} tokens, and "
                f"{free / 2**20:,.0f} MiB are free: lower `context` or `parallel_threads`"
            )
        self._context = self._open(sequences, threads)
        self.context = min(self.context, llama.llama_n_ctx_seq(self._context))
        self._memory = llama.llama_get_memory(self._context)
        self._batch = llama.llama_batch_init(BATCH, 0, 1)
        self._free = [Warm(i) for i in range(sequences)]
        self._threads: OrderedDict[str, Warm] = OrderedDict()
        self._flag = ctypes.create_string_buffer(2)
        # strlen of the flag is 0 or 1: llama.cpp can ask it at every node of the graph without Python and its lock.
        strlen = ctypes.cast(ctypes.CDLL(None).strlen, llama.ggml_abort_callback)
        llama.llama_set_abort_callback(self._context, strlen, ctypes.cast(self._flag, ctypes.c_void_p))

    def _load(self, path: Path) -> llama.llama_model_p:
        params = llama.llama_model_default_params()
        params.n_gpu_layers = 0
        model = llama.llama_model_load_from_file(str(path).encode(), params)
        if not model:
            reason = next((line for line in _complaints if line), "llama.cpp does not say why")
            raise BadModel(reason.rpartition("error loading model: ")[2])
        if not llama.llama_model_has_decoder(model) or llama.llama_model_has_encoder(model):
            raise BadModel("it does not write text (an encoder or embedding model)")
        return model

    def _open(self, sequences: int, threads: int) -> llama.llama_context_p:
        params = llama.llama_context_default_params()
        params.n_ctx, params.n_seq_max = self.context * sequences, sequences
        params.n_batch = params.n_ubatch = BATCH
        params.n_threads = params.n_threads_batch = threads
        params.kv_unified = False  # each thread pays for its own length, not for that of all together
        params.flash_attn_type = llama.LLAMA_FLASH_ATTN_TYPE_DISABLED  # on a CPU it makes short appends slow
        params.no_perf = True
        context = llama.llama_init_from_model(self._model, params)
        if not context:
            raise BadModel(f"no context of {self.context * sequences} tokens: {' '.join(_complaints[-1:])}")
        return context

    def _cell_bytes(self) -> int:
        heads = max(llama.llama_model_n_head(self._model), 1)
        head = self.vocabulary.meta(f"{self.vocabulary.meta('general.architecture')}.attention.key_length")
        width = int(head) if head.isdigit() else llama.llama_model_n_embd(self._model) // heads
        cells = width * llama.llama_model_n_head_kv(self._model) * llama.llama_model_n_layer(self._model)
        return 4 * int(cells)  # a key and a value of two bytes each

    def interrupt(self, *, stop: bool = True) -> None:
        """Stop the evaluation that goes on, from any thread; `stop=False` lets the next one run."""
        self._flag[0] = b"\1" if stop else b"\0"

    def sequence(self, thread: str, tokens: Sequence[int]) -> Warm:
        """Return the thread's own sequence; a new thread takes a free one or that of the thread used longest ago."""
        warm = self._threads.pop(thread, None)
        if warm is None:
            likest = max(self._threads.values(), key=lambda one: shared(one.tokens, tokens), default=None)
            warm = self._free.pop() if self._free else self._threads.popitem(last=False)[1]
            if likest and likest is not warm and shared(likest.tokens, tokens) >= WORTH_COPYING:
                self._copy(likest, warm)
        self._threads[thread] = warm
        return warm

    def _copy(self, source: Warm, target: Warm) -> None:
        self.cut(target, 0)
        llama.llama_memory_seq_cp(self._memory, source.id, target.id, -1, -1)
        target.tokens = list(source.tokens)

    def cut(self, warm: Warm, length: int) -> None:
        """Drop everything behind the first `length` tokens; a recurrent model can only drop everything."""
        if length and not llama.llama_memory_seq_rm(self._memory, warm.id, length, -1):
            length = 0
        if not length:
            llama.llama_memory_seq_rm(self._memory, warm.id, -1, -1)
        del warm.tokens[length:]

    def prefill(self, warm: Warm, tokens: Sequence[int]) -> int:
        """Make the sequence hold `tokens` and return how many of them it held already.  Raises Interrupted."""
        self.cut(warm, min(shared(warm.tokens, tokens), len(tokens) - 1))
        reused = len(warm.tokens)
        for begin in range(reused, len(tokens), BATCH):
            self.decode(warm, tokens[begin : begin + BATCH])
        return reused

    def decode(self, warm: Warm, tokens: Sequence[int]) -> None:
        """Evaluate at most BATCH tokens behind the sequence; the last one's logits can be read afterwards."""
        batch, begin = self._batch, len(warm.tokens)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i] = token, begin + i
            batch.n_seq_id[i], batch.seq_id[i][0] = 1, warm.id
            batch.logits[i] = i == len(tokens) - 1
        code = llama.llama_decode(self._context, batch)
        if code != 0:
            self.cut(warm, begin)
            raise Interrupted if code == 2 else BadModel(f"llama.cpp could not evaluate the prompt (code {code})")
        warm.tokens.extend(tokens)

    def logits(self) -> npt.NDArray[np.float32]:
        """Return the logits behind the last token evaluated: memory of llama.cpp, good until the next evaluation."""
        return np.ctypeslib.as_array(llama.llama_get_logits_ith(self._context, -1), shape=(self.vocabulary.size,))


def shared(a: Sequence[int], b: Sequence[int]) -> int:
    """Return how many tokens two sequences have in common at their beginning."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def memory_available(meminfo: Path = Path("/proc/meminfo")) -> float:
    """Return the bytes that can be had without swapping; infinity where the system does not say."""
    try:
        fields = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
        return float(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, ValueError, KeyError, IndexError):
        return float("inf")
