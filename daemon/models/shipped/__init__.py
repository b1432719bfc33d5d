"""The model that comes with trimtab: small, narrow, and described in MODEL_CARD.md."""

from __future__ import annotations

from pathlib import Path

NAME = "watchkeeper"
PATH = Path(__file__).with_name("watchkeeper.gguf")
SHA256 = "0fa7b47c92b21e1e75be0df3190bf2da999de6e2df2edbfed5eb5ef4e557d169"
