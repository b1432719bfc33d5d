"""What may be written, and the reasons that a model is given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault import Refused, rules
from vault.secret_shapes import secret_in

BAD_PATHS = [
    "",
    "/etc/x.md",
    "~/x.md",
    "../x.md",
    "a/../../x.md",
    "a/./x.md",
    "a//x.md",
    "a/",
    "x",
    "x.txt",
    "x.md.sh",
    ".hidden.md",
    "a\\b.md",
    "C:x.md",
    ".git/hooks/x.md",
    "a/.GIT/x.md",
    "git~1/x.md",
    "GIT~2/config.md",
    "a/.g\u200cit/x.md",
    "\u200b.git/x.md",
    "a/ .git/x.md",
    "\uff0egit/x.md",
    "a/．git/x.md",
    "a\0.md",
    "a\n.md",
    "a\x1b.md",
    "a\u202e.md",
    "b./x.md",
    "b /x.md",
    "x" * 300 + ".md",
    "a/" * 9 + "x.md",
    "\ud800.md",
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_is_not_a_note_is_refused(path: str) -> None:
    """Nothing outside the vault, hidden, in disguise or not Markdown has a name that the agent can write to."""
    with pytest.raises(Refused):
        rules.check_path(path)


@given(st.text(max_size=40))
def test_every_accepted_path_stays_below_and_visible(path: str) -> None:
    """Whatever the text: it is refused, or it is a plain Markdown path without hidden parts."""
    try:
        parts = rules.check_path(path)
    except Refused:
        return
    assert "/".join(parts) == path
    assert path.endswith(".md")
    assert not any(part in {"", ".", ".."} or part.startswith(".") or "git~" in part.lower()[:4] for part in parts)


@pytest.mark.parametrize(
    "path",
    ["people/ann.md", "journal/2026-11-20.md", "über/straße.md", "a b.md", "projects/gitlab.md", "tools/tools.md"],
)
def test_plain_paths_are_accepted(path: str) -> None:
    """An ordinary name in any script is a note."""
    assert "/".join(rules.check_path(path)) == path


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md",
        "agents.md",
        "heartbeats/x.md",
        "Heartbeats/x.md",
        "goals/a.md",
        "skills/x/notes.md",
        "projects/x/SKILL.md",
        "sub/AGENTS.md",
        "HEARTBEAT.md",
        "SOUL.md",
        "ＡGENTS.md",
    ],
)
def test_instructions_are_known_in_any_spelling(path: str) -> None:
    """Files that instruct the agent are told from notes, however their names are written."""
    assert rules.is_instruction(path)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "a1" * 18,
        "sk-ant-api03-" + "x" * 30,
        "-----BEGIN OPENSSH PRIVATE KEY-----",
        "xoxb-1234567890-abc",
        "postgres://ann:hunter2@db/x",
        "sk-proj-" + "Ab1" * 12,
        "hf_" + "abcdefghij" * 3,
        "glpat-" + "z" * 20,
    ],
)
def test_a_known_shape_of_secret_is_refused(text: str) -> None:
    """A token of a well-known issuer is refused, and the reason does not repeat it."""
    with pytest.raises(Refused, match="secret") as refused:
        rules.check_text("a.md", f"the key is {text} ok")
    assert text not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "commit 5663798eec2c31e6ccc08be52c2aed0ba46b0180",
        "sk-8 skis",
        "https://example.org/a:b",
        "ask-me-anything",
        "a-sk-y",
    ],
)
def test_ordinary_text_is_no_secret(text: str) -> None:
    """Ids, addresses and words are not taken for secrets."""
    assert secret_in(text) is None


@pytest.mark.parametrize("piece", ["sk-", "eyJ", "eyJaaaaaaaaaa-", "a://", "1:AA", "-----BEGIN "])
def test_looking_for_secrets_stays_fast_on_hostile_text(piece: str) -> None:
    """A quarter of a megabyte made to confuse the shapes is read in a moment: the test ends."""
    assert secret_in(piece * (rules.LIMIT_BYTES // len(piece))) is None


def test_a_text_that_was_cut_off_is_refused() -> None:
    """What the model could not finish never replaces what it knew."""
    with pytest.raises(Refused, match="cut off"):
        rules.check_text("a.md", "half a sent", cut=True)


@pytest.mark.parametrize("text", ["a\0b", "\x1b[31mred", "a\x07", "\ud800"])
def test_control_characters_are_refused(text: str) -> None:
    """A note is plain text."""
    with pytest.raises(Refused):
        rules.check_text("a.md", text)


def test_the_size_limit_counts_bytes() -> None:
    """A note may have exactly the limit, in bytes and not in characters."""
    assert rules.check_text("a.md", "x" * rules.LIMIT_BYTES)
    with pytest.raises(Refused, match="262,144"):
        rules.check_text("a.md", "ä" * (rules.LIMIT_BYTES // 2) + "x")


@pytest.mark.parametrize(("characters", "refused"), [(75, False), (74, True), (0, True), (200, False)])
def test_a_note_loses_at_most_a_quarter(characters: int, refused: bool) -> None:
    """Three quarters of the characters must stay."""
    if refused:
        with pytest.raises(Refused, match="quarter"):
            rules.check_kept("a.md", b"x" * 100, b"y" * characters)
    else:
        rules.check_kept("a.md", b"x" * 100, b"y" * characters)


def test_a_read_only_note_is_refused() -> None:
    """A person closes a note with one line of front matter."""
    with pytest.raises(Refused, match="read_only"):
        rules.check_target("a.md", b"---\nread_only: true\n---\nx\n")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a\0b", b"x" * (rules.LIMIT_BYTES + 1)])
def test_what_is_no_readable_note_is_left_alone(content: bytes) -> None:
    """A binary, foreign or oversized file under a note's name is neither read nor written."""
    with pytest.raises(Refused):
        rules.check_target("a.md", content)
