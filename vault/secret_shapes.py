"""Well-known shapes of credentials, so that none of them is committed by accident.

It knows tokens that carry a prefix of their issuer, and private keys in text form.  It does not find a password without
a shape, and a determined writer can split any secret to pass it.
"""

from __future__ import annotations

import re

_SHAPES: tuple[tuple[str, str], ...] = (
    ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
    ("an AWS access key", r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})"),
    ("a GitLab token", r"\bgl(?:pat|dt|rt|soat|ptt)-[A-Za-z0-9_-]{20,}"),
    ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    ("an OpenAI key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{0,80}[A-Za-z0-9]{20}"),
    ("a Google API key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("a Google OAuth token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("a Slack webhook", r"hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{20,}"),
    ("a Stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{20,}"),
    ("a Hugging Face token", r"\bhf_[A-Za-z]{30,}"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("a Telegram bot token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}"),
    ("a JSON web token", r"\beyJ[A-Za-z0-9_-]{10,400}\.eyJ[A-Za-z0-9_-]{10,400}\.[A-Za-z0-9_-]{10,}"),
    ("a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/:@]{3,200}@[^\s/]"),
)
_ALL = [(what, re.compile(shape)) for what, shape in _SHAPES]


def secret_in(text: str) -> str | None:
    """Say what kind of credential `text` seems to hold, never which; None where nothing has such a shape."""
    return next((what for what, shape in _ALL if shape.search(text)), None)
