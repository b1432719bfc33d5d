"""`trimtab.toml`: what it may say, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from daemon.errors import ConfigError
from daemon.settings import load


def write(home: Path, text: str | bytes) -> Path:
    """Write the settings file of an agent directory."""
    (home / "trimtab.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return home


def test_an_empty_file_is_the_shipped_model_on_loopback(tmp_path: Path) -> None:
    """Every setting has a default that is safe."""
    settings = load(write(tmp_path, ""))

    assert {"local": {"backend": "llama_cpp"}} == settings.models
    assert "127.0.0.1" == settings.metrics.host


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("nmae = 'x'", "nmae", "did you mean 'name'"),
        ("name = 'Not Good'", "name", "pattern"),
        ("timezone = 'Mars/Olympus'", "timezone", "IANA"),
        ("[metrics]\nport = 70000", "metrics.port", "65535"),
        ("[metrics]\nprot = 1", "metrics.prot", "unknown key; did you mean 'port'"),
        ("[log]\nlevel = 'loud'", "log.level", "'debug'"),
        ("concurrency = 0", "concurrency", "greater than or equal to 1"),
        ("models = 3", "models", "dictionary"),
        ("[models]", "models", "at least one"),
        ("name = ", "", "not valid TOML"),
        (b"name = '\xff'", "", "not valid TOML"),
    ],
)
def test_a_mistake_is_one_line_with_file_key_and_expectation(
    tmp_path: Path, text: str | bytes, key: str, expected: str
) -> None:
    """The message names the file, the key and what was expected, on one line."""
    with pytest.raises(ConfigError) as raised:
        load(write(tmp_path, text))

    assert key == raised.value.key
    assert expected in str(raised.value)
    assert str(tmp_path / "trimtab.toml") in str(raised.value)
    assert "\n" not in str(raised.value)
    assert 78 == raised.value.exit_code


def test_no_file_says_how_to_make_one(tmp_path: Path) -> None:
    """Standing in the wrong directory is answered with the command that makes a right one."""
    with pytest.raises(ConfigError, match="trimtab init"):
        load(tmp_path)


def test_the_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A unit's drop-in can change one setting."""
    monkeypatch.setenv("TRIMTAB_METRICS__PORT", "0")

    assert 0 == load(write(tmp_path, "[metrics]\nport = 9000")).metrics.port
