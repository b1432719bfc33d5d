"""A start in life: the first two layers begin as a rough circuit that finds an earlier token and says what followed.

From random weights a small model spends millions of tokens before it discovers this circuit, and copying (all that
this model is good for) waits for it. Here layer 0 looks one token back; layer 1 looks for a place whose predecessor
is the token at hand, and copies what stands there. It is rough, and training changes it; it only saves the waiting.
"""

from __future__ import annotations

from typing import cast

import torch

from training.model import Block, Watchkeeper

SCALE = 0.5
"""Size of an embedding's components: large enough that the first steps of training do not wash the circuit away."""
CONSTANT = 5 * SCALE
"""Dimension 0 of every embedding: the one input that says nothing of the token, so attention by place can use it."""
SHARPNESS = 6.0
"""How much more (in logits) the token before is worth than its neighbours."""
MATCH = 2.0
"""Size of a query and key component in the matching heads."""
COPY = 2.0
"""How much stronger a copied token is written than the token at hand."""
NEAR_PAIRS, FAR_PAIRS = range(6), range(9, 16)
"""Rotary pairs that turn fast enough to tell places apart, and those slow enough to ignore them."""


@torch.no_grad()
def prepare(model: Watchkeeper) -> None:
    """Overwrite parts of the first two layers with the circuit (one head in each group of heads that shares keys)."""
    shape = model.shape
    size, dim, half = shape.head_dim, shape.dim, shape.kv_heads * shape.head_dim
    directions = torch.linalg.qr(torch.randn(dim, dim))[0]
    tokens, places = directions[:half], directions[half : 2 * half]  # what stands here, and what stood one place before
    spread = SCALE * (dim / half) ** 0.5
    model.token_embd.weight.copy_(torch.randn(shape.vocabulary, half) @ tokens * spread)
    model.token_embd.weight[:, 0] = CONSTANT
    model.output_norm.weight.fill_(
        0.02 / SCALE
    )  # the embeddings are the output matrix too: keep the first logits small
    before = ((CONSTANT**2 + half * spread**2) / dim) ** 0.5  # RMS of the residual stream going into layer 0
    after = (before**2 + half * spread**2 / dim) ** 0.5  # and into layer 1, with the token before added
    far = [row for pair in FAR_PAIRS for row in (2 * pair, 2 * pair + 1)]
    look, find = cast(Block, model.blk[0]), cast(Block, model.blk[1])
    gain = (SHARPNESS * size**0.5 / 0.68) ** 0.5 * before / CONSTANT
    for loud in (look.attn_output, look.ffn_down, find.attn_q, find.attn_k, find.attn_output):
        loud.weight *= 0.1  # what is not part of the circuit would drown it
    for group in range(shape.kv_heads):
        head = group * (shape.heads // shape.kv_heads)
        keys, queries = slice(group * size, (group + 1) * size), slice(head * size, (head + 1) * size)
        for pair in NEAR_PAIRS:
            angle = torch.tensor(shape.rope_base ** (-2 * pair / size))
            look.attn_q.weight[queries, 0][2 * pair] = gain
            look.attn_k.weight[keys, 0][2 * pair : 2 * pair + 2] = gain * torch.stack((angle.cos(), angle.sin()))
        look.attn_v.weight[keys] = tokens[keys]
        look.attn_output.weight[:, queries] = places[keys].T * before
        find.attn_k.weight[keys][far] = places[keys][far] * after / spread * MATCH
        find.attn_q.weight[queries][far] = tokens[keys][far] * after / spread * MATCH
        find.attn_v.weight[keys] = tokens[keys]
        find.attn_output.weight[:, queries] = tokens[keys].T * after * COPY
