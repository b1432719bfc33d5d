"""The model that comes with trimtab: small, narrow, and described in MODEL_CARD.md."""

from __future__ import annotations

from pathlib import Path

NAME = "watchkeeper"
PATH = Path(__file__).with_name("watchkeeper.gguf")
SHA256 = "8787ce9648959f136e40e811d784646ddf391b920f19f3eb3598ec5cf8ee154d"
