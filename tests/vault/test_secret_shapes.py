"""Which credentials are known by their shape."""

from __future__ import annotations

import string

import pytest

from vault.secret_shapes import secret_in

ALNUM = (string.ascii_letters + string.digits) * 3
HEX = "0123456789abcdef" * 4
UPPER = (string.ascii_uppercase + "234567") * 2
MADE = {
    "a Groq key": "gsk_" + ALNUM[:52],
    "an xAI key": "xai-" + ALNUM[:80],
    "a SendGrid key": f"SG.{ALNUM[:22]}.{ALNUM[:43]}",
    "a Twilio key": "SK" + HEX[:32],
    "a Mailchimp key": HEX[:32] + "-us12",
    "a Square token": "sq0csp-" + ALNUM[:43],
    "a Shopify token": "shpat_" + HEX[:32],
    "a Discord bot token": f"M{ALNUM[:23]}.{ALNUM[:6]}.{ALNUM[:27]}",
    "a Linear key": "lin_api_" + ALNUM[:40],
    "a Notion token": "ntn_" + ALNUM[:46],
    "an Azure storage key": f"AccountKey={ALNUM[:86]}==",
    "a DigitalOcean token": "dop_v1_" + HEX,
    "a Databricks token": "dapi" + HEX[:32],
    "a Vault token": "hvs." + ALNUM[:95],
    "a Tailscale key": f"tskey-auth-{ALNUM[:12]}-{ALNUM[:32]}",
    "an age key": "AGE-SECRET-KEY-1" + UPPER[:58],
    "a Hugging Face token": "hf_" + string.ascii_letters[:34],
}


@pytest.mark.parametrize("what", MADE)
def test_a_token_of_an_issuer_is_known(what: str) -> None:
    """In the middle of a sentence, in quotes, or at the end of a line; never with the secret in the answer."""
    for text in (f"Remember that the key is {MADE[what]}, for later.", f'key: "{MADE[what]}"', f"x\n{MADE[what]}\n"):
        assert secret_in(text) == what


@pytest.mark.parametrize(
    "text",
    [
        "The commit 0123456789abcdef0123456789abcdef01234567 broke it, see SKILL.md and SG-1.",
        "The key is kept in the credential mailchimp-us12; ask Ann for the Notion token.",
        "hvac.control, dapi, gsk_, lin_api_, tskey-auth-, sq0csp-, shpat_, xai-, ntn_, dop_v1_",
        "Session 550e8400-e29b-41d4-a716-446655440000 on us12, MD5 d41d8cd98f00b204e9800998ecf8427e.",
    ],
)
def test_words_about_secrets_are_none(text: str) -> None:
    """Prefixes alone, hashes and ids of other kinds are no secrets."""
    assert secret_in(text) is None


@pytest.mark.parametrize("piece", ["a", "SG.", "hvs.", "M" + "a" * 24 + ".", "eyJ", "x://a:", "-----BEGIN "])
def test_long_texts_are_read_in_time(piece: str) -> None:
    """No shape takes more than a moment, whatever it is shown."""
    assert secret_in(piece * (200_000 // len(piece))) is None
