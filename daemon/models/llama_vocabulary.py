"""A model's vocabulary: text to tokens and back, and which tokens are markup.  Runs in the child process only."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from typing import Literal

import llama_cpp.llama_cpp as llama


class Vocabulary:
    """The tokens of one loaded model."""

    def __init__(self, model: llama.llama_model_p) -> None:
        self._model = model
        self.pointer = llama.llama_model_get_vocab(model)
        self.size = int(llama.llama_vocab_n_tokens(self.pointer))

    def meta(self, key: str) -> str:
        """Return a plain value of the file's header as text, "" when it has none."""
        size = llama.llama_model_meta_val_str(self._model, key.encode(), None, 0)
        if size < 0:
            return ""
        buffer = ctypes.create_string_buffer(size + 1)
        llama.llama_model_meta_val_str(self._model, key.encode(), buffer, size + 1)
        return buffer.value.decode("utf-8", "replace")

    def tokens(self, text: str, *, special: bool = True) -> list[int]:
        """Return the tokens of a text; with `special` its control markup counts as markup."""
        raw = text.encode("utf-8", "replace")
        room = len(raw) + 8
        buffer = (llama.llama_token * room)()
        count = llama.llama_tokenize(self.pointer, raw, len(raw), buffer, room, False, special)
        if count < 0:
            buffer = (llama.llama_token * -count)()
            count = llama.llama_tokenize(self.pointer, raw, len(raw), buffer, -count, False, special)
        return list(buffer[: max(count, 0)])

    @functools.lru_cache(maxsize=4096)  # noqa: B019  one vocabulary lives as long as its process
    def piece(self, token: int) -> bytes:
        """Return the bytes that a token stands for, control tokens included."""
        buffer = ctypes.create_string_buffer(256)
        size = llama.llama_token_to_piece(self.pointer, token, buffer, 256, 0, True)
        if size < 0:
            buffer = ctypes.create_string_buffer(-size)
            size = llama.llama_token_to_piece(self.pointer, token, buffer, -size, 0, True)
        return buffer.raw[:size]

    def ends(self, token: int) -> bool:
        """Whether the model ends its turn with this token."""
        return bool(llama.llama_vocab_is_eog(self.pointer, token))

    @functools.cached_property
    def control(self) -> dict[int, str]:
        """Every control token with its text, those that end a turn among them."""
        found = {}
        for token in range(self.size):
            if llama.llama_vocab_get_attr(self.pointer, token) & llama.LLAMA_TOKEN_ATTR_CONTROL:
                found[token] = llama.llama_vocab_get_text(self.pointer, token).decode("utf-8", "replace")
        return found

    @functools.cached_property
    def sha256(self) -> str:
        """A hash of the vocabulary: every token's text and kind, and the tokenizer's name."""
        digest = hashlib.sha256(f"{self.meta('tokenizer.ggml.model')} {self.meta('tokenizer.ggml.pre')}".encode())
        for token in range(self.size):
            digest.update(b"\0" + llama.llama_vocab_get_text(self.pointer, token))
            digest.update(llama.llama_vocab_get_attr(self.pointer, token).to_bytes(4, "little"))
        return digest.hexdigest()

    @functools.cached_property
    def bos(self) -> int | None:
        """The token that every prompt of this model begins with, None when it has none."""
        token = llama.llama_vocab_bos(self.pointer)
        return token if llama.llama_vocab_get_add_bos(self.pointer) and token >= 0 else None

    def named(self, name: Literal["bos", "eos"]) -> str:
        """Return the text of the token that the file gives this name, "" when it has none."""
        token = (llama.llama_vocab_bos if name == "bos" else llama.llama_vocab_eos)(self.pointer)
        return llama.llama_vocab_get_text(self.pointer, token).decode("utf-8", "replace") if token >= 0 else ""
