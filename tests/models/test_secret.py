"""A key comes from somewhere else than the settings, and never shows itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from daemon.errors import ConfigError
from daemon.models.openai import OpenAI
from daemon.models.secret import KeySource
from daemon.settings import validated

KEY = "sk-very-secret-0123456789"


def _read(home: Path, **table: str) -> str:
    return KeySource.model_validate(table).read(home, "models.frontier.api_key")


def test_each_place_gives_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment, file (relative to the agent directory) and systemd credential all work; white space goes."""
    (tmp_path / "key").write_text(f"{KEY}\n")
    monkeypatch.setenv("SOME_KEY", f" {KEY}")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert {_read(tmp_path, env="SOME_KEY"), _read(tmp_path, file="key"), _read(Path("/"), credential="key")} == {KEY}


def test_a_key_is_read_again_each_time(tmp_path: Path) -> None:
    """A rotated key is used without a restart."""
    source = KeySource(file="key")
    for text in ("one", "two"):
        (tmp_path / "key").write_text(text)
        assert source.read(tmp_path, "k") == text


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"env": "NOT_SET_ANYWHERE"}, "the environment variable NOT_SET_ANYWHERE is not set"),
        ({"file": "nowhere"}, "the file nowhere cannot be read: No such file"),
        ({"file": "~no-such-user-here/key"}, "cannot be read: not a path"),
        ({"file": "."}, "the file . cannot be read: Is a directory"),
        ({"file": "empty"}, "the file empty is empty"),
        ({"file": "two"}, "the file two does not hold one line"),
        ({"credential": "frontier"}, "LoadCredential=frontier:PATH"),
    ],
)
def test_a_missing_key_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: dict[str, str], says: str
) -> None:
    """The line names the setting and the place; it never shows what is there."""
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "two").write_text(f"{KEY}\nX-Evil: yes")
    with pytest.raises(ConfigError) as caught:
        _read(tmp_path, **table)
    assert str(caught.value).startswith("trimtab.toml: models.frontier.api_key: ")
    assert says in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "api_key",
    [KEY, {"env": KEY}, {"credential": KEY + "/"}, {"value": KEY}, {"env": "A", "file": KEY}, {}, [KEY], 7, {"env": 5}],
    ids=["literal", "in env", "in credential", "other name", "two places", "nothing", "list", "number", "env number"],
)
def test_a_key_in_the_settings_is_refused_and_not_repeated(api_key: Any) -> None:
    """Whoever writes the key itself is told the three ways, in one line that does not hold the key."""
    table = {"url": "http://127.0.0.1:1/v1", "model": "m", "api_key": api_key}
    with pytest.raises(ConfigError) as caught:
        validated(OpenAI.Options, table, "trimtab.toml", "models.frontier")
    assert "api_key" in str(caught.value)
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_literal_key_is_answered_with_the_way_to_do_it() -> None:
    """The message shows what to write instead."""
    with pytest.raises(ConfigError, match=r'\{ env = "NAME" \}'):
        validated(
            OpenAI.Options, {"url": "http://h/v1", "model": "m", "api_key": KEY}, "trimtab.toml", "models.frontier"
        )
