"""Checkpoint, tokenizer and chat template into one GGUF file (architecture `llama`, weights in q8_0)."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch

from training.corpus.conversation import TEMPLATE
from training.model import Shape
from training.tokenizer import CONTROL, END, END_OF_TEXT, MARKERS

NAME = "watchkeeper"


def export(build: Path, target: Path) -> None:
    """Write the GGUF. Without most of the keys below loading fails; the others are what a reader expects."""
    checkpoint = torch.load(build / "checkpoint.pt", map_location="cpu")
    shape = Shape(**checkpoint["shape"])
    writer = gguf.GGUFWriter(target, "llama")
    _network(writer, shape)
    _tokenizer(writer, json.loads((build / "tokenizer.json").read_text()))
    # Without a template the library silently falls back to another model's format.
    writer.add_chat_template(TEMPLATE.read_text())
    for name, weight in checkpoint["weights"].items():
        _tensor(writer, name, weight.float().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _network(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_name(NAME)
    writer.add_description(
        "Keeps watch over a host: copies facts from tools into notes. Trained from scratch on generated text."
    )
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.dim)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.ffn)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_layer_norm_rms_eps(shape.epsilon)
    writer.add_rope_dimension_count(shape.head_dim)
    writer.add_rope_freq_base(shape.rope_base)
    writer.add_vocab_size(shape.vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)


def _tokenizer(writer: gguf.GGUFWriter, tokenizer: dict[str, Any]) -> None:
    vocabulary: dict[str, int] = tokenizer["model"]["vocab"]
    tokens = sorted(vocabulary, key=lambda token: vocabulary[token])
    kinds = {name: gguf.TokenType.CONTROL for name in CONTROL} | {name: gguf.TokenType.USER_DEFINED for name in MARKERS}
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in tokenizer["model"]["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([kinds.get(token, gguf.TokenType.NORMAL) for token in tokens])
    writer.add_token_merges(merges)
    writer.add_bos_token_id(vocabulary[END_OF_TEXT])
    writer.add_eos_token_id(vocabulary[END])
    writer.add_pad_token_id(vocabulary[END_OF_TEXT])
    writer.add_add_bos_token(False)


def _tensor(writer: gguf.GGUFWriter, name: str, weight: np.ndarray[Any, np.dtype[np.float32]]) -> None:
    if weight.ndim == 1:  # norms: small, and sensitive
        writer.add_tensor(name, weight.astype(np.float32))
        return
    kind = gguf.GGMLQuantizationType.Q8_0
    writer.add_tensor(name, gguf.quants.quantize(weight, kind), raw_dtype=kind)


def main() -> None:
    """Command line of the export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/model"))
    parser.add_argument("--target", type=Path, default=TEMPLATE.with_name("watchkeeper.gguf"))
    given = parser.parse_args()
    export(given.build, given.target)
    print(f"{given.target.name}: {given.target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
