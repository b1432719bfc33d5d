"""The model that comes with trimtab: small, narrow, and described in MODEL_CARD.md."""

from __future__ import annotations

from pathlib import Path

NAME = "watchkeeper"
PATH = Path(__file__).with_name("watchkeeper.gguf")
SHA256 = "4c96819e236acd0b2ef7f7491e8c248e1ff7fd9ec1927a351f209937187c816a"
