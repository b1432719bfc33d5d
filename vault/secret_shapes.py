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
    ("a Groq key", r"\bgsk_[A-Za-z0-9]{40,}"),
    ("an xAI key", r"\bxai-[A-Za-z0-9]{60,}"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    ("a Twilio key", r"\bSK[0-9a-f]{32}\b"),
    ("a Mailchimp key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("a Square token", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,}"),
    ("a Shopify token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}"),
    ("a Discord bot token", r"\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}"),
    ("a Linear key", r"\blin_api_[A-Za-z0-9]{32,}"),
    ("a Notion token", r"\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}\b)"),
    ("an Azure storage key", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    ("a DigitalOcean token", r"\bdo[opr]_v1_[0-9a-f]{64}"),
    ("a Databricks token", r"\bdapi[0-9a-f]{32}"),
    ("a Vault token", r"\bhv[bs]\.[A-Za-z0-9_-]{24,}"),
    ("a Tailscale key", r"\btskey-[a-z]{2,12}-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}"),
    ("an age key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
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
