"""A byte-level BPE of our own with Qwen2's splitting: digits stand alone, so numbers are copied digit by digit."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from training.corpus import threads
from training.corpus.draw import Draw

END_OF_TEXT, START, END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
CONTROL = (END_OF_TEXT, START, END)
MARKERS = ("<tool_call>", "</tool_call>")
"""Kept as visible text by llama.cpp (USER_DEFINED): the daemon finds a call by them."""

# llama.cpp knows this expression by the name "qwen2"; a different one here would split text differently at run time.
QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
VOCABULARY = 1536


def train(conversations: int = 4000) -> Tokenizer:
    """Learn the vocabulary from conversations that are drawn like the training text, but under seeds of their own."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(QWEN2_SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[*CONTROL, *MARKERS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        min_frequency=2,
        show_progress=False,
    )
    texts = (threads.middle(Draw(f"tokenizer {index}")).text() for index in range(conversations))
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def load_or_train(path: Path) -> Tokenizer:
    """The tokenizer of this build directory."""
    if path.exists():
        return Tokenizer.from_file(str(path))
    tokenizer = train()
    tokenizer.save(str(path))
    return tokenizer
