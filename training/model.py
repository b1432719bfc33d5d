"""The network, in llama.cpp's own names and conventions, so that the export only has to write the tensors down."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """Sizes of the network (dim, head size, ffn: multiples of 32, the row block of q8_0)."""

    vocabulary: int = 1536
    dim: int = 256
    layers: int = 6
    heads: int = 8
    kv_heads: int = 4
    ffn: int = 640
    context: int = 4096
    rope_base: float = 10000.0
    epsilon: float = 1e-5

    @property
    def head_dim(self) -> int:
        """Width of one attention head."""
        return self.dim // self.heads


class Norm(nn.Module):
    """RMS norm, computed in float32."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.dim))
        self.epsilon = shape.epsilon

    def forward(self, x: Tensor) -> Tensor:
        normed: Tensor = F.rms_norm(x.float(), (x.shape[-1],), self.weight, self.epsilon)
        return normed


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position on neighbouring pairs (x: batch, heads, time, head_dim), as llama.cpp does for `llama`."""
    even, odd = x[..., 0::2].float(), x[..., 1::2].float()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2).to(x.dtype)


class Block(nn.Module):
    """Attention with grouped keys and values, then a gated feed-forward layer."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        kv_dim = shape.kv_heads * shape.head_dim
        self.attn_norm, self.ffn_norm = Norm(shape), Norm(shape)
        self.attn_q = nn.Linear(shape.dim, shape.dim, bias=False)
        self.attn_k = nn.Linear(shape.dim, kv_dim, bias=False)
        self.attn_v = nn.Linear(shape.dim, kv_dim, bias=False)
        self.attn_output = nn.Linear(shape.dim, shape.dim, bias=False)
        self.ffn_gate = nn.Linear(shape.dim, shape.ffn, bias=False)
        self.ffn_up = nn.Linear(shape.dim, shape.ffn, bias=False)
        self.ffn_down = nn.Linear(shape.ffn, shape.dim, bias=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        batch, time, dim = x.shape
        shape, h = self.shape, self.attn_norm(x)
        q = rotate(self.attn_q(h).view(batch, time, shape.heads, -1).transpose(1, 2), cos, sin)
        k = rotate(self.attn_k(h).view(batch, time, shape.kv_heads, -1).transpose(1, 2), cos, sin)
        v = self.attn_v(h).view(batch, time, shape.kv_heads, -1).transpose(1, 2)
        groups = shape.heads // shape.kv_heads
        k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
        mixed = F.scaled_dot_product_attention(q, k, v.to(q.dtype), is_causal=True)
        x = x + self.attn_output(mixed.transpose(1, 2).reshape(batch, time, dim))
        h = self.ffn_norm(x)
        x = x + self.ffn_down(F.silu(self.ffn_gate(h)) * self.ffn_up(h))
        return x


class Watchkeeper(nn.Module):
    """Token ids (batch, time) to logits (batch, time, vocabulary); input and output embeddings are one matrix."""

    cos: Tensor
    sin: Tensor

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.token_embd = nn.Embedding(shape.vocabulary, shape.dim)
        self.blk = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.output_norm = Norm(shape)
        frequency = shape.rope_base ** (-torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim)
        angle = torch.arange(shape.context, dtype=torch.float32)[:, None] * frequency[None]
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                closes_a_branch = "attn_output" in name or "ffn_down" in name
                nn.init.normal_(weight, std=0.02 / math.sqrt(2 * shape.layers) if closes_a_branch else 0.02)

    def forward(self, ids: Tensor) -> Tensor:
        time = ids.shape[1]
        x, cos, sin = self.token_embd(ids), self.cos[:time], self.sin[:time]
        for block in self.blk:
            x = block(x, cos, sin)
        return F.linear(self.output_norm(x), self.token_embd.weight)
