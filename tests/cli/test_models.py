"""`trimtab models`: what is configured, what is ready, what cannot be fetched or measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from daemon.cli.root import command
from daemon.errors import ConfigError, UsageError

SETTINGS = """
[models.fake]
backend = "scripted"
replies = ["All good."]
[models.empty]
backend = "scripted"
[models.far]
backend = "openai"
url = "https://models.invalid/v1"
model = "m"
"""


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an agent directory with one ready model, one empty script and one provider."""
    (tmp_path / "trimtab.toml").write_text(SETTINGS)
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    return tmp_path


def test_a_listing_is_one_array(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --check nothing is loaded, and every configured model has a row in the order of the file."""
    assert command(["models", "list", "--json"]) == 0

    rows = json.loads(capsys.readouterr().out)
    assert [(row["name"], row["local"]) for row in rows] == [("fake", True), ("empty", True), ("far", False)]


def test_a_check_fails_when_one_is_not_ready(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --check each row says whether the model is ready and why not, and the exit code is 1 if one is not."""
    nobody_there = SETTINGS.replace("https://models.invalid", "http://127.0.0.1:1")
    (agent / "trimtab.toml").write_text(nobody_there)
    assert command(["models", "list", "--check", "--json"]) == 1

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert (rows["fake"]["ready"], rows["fake"]["detail"]) == (True, "1 scripted replies")
    assert rows["empty"]["ready"] is rows["far"]["ready"] is False
    assert "needs `replies` or a `file`" in rows["empty"]["detail"]


def test_a_bench_gives_numbers_and_refuses_what_costs_money(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A model on this machine is measured; one elsewhere is refused before anything is sent."""
    (agent / "trimtab.toml").write_text(SETTINGS.replace('"All good."]', '"All good."]\nloop = true'))
    assert command(["models", "bench", "fake", "--json"]) == 0

    (row,) = json.loads(capsys.readouterr().out)
    assert row["prompt_tokens"] > 1000
    assert row["reused_ratio"] > 0.9
    with pytest.raises(UsageError, match="'far' is not on this machine"):
        command(["models", "bench", "far"])


def test_what_has_no_file_cannot_be_pulled(agent: Path) -> None:
    """Only a model with a file can be fetched, and an unknown name is answered with the known ones."""
    with pytest.raises(UsageError, match="'fake' has no file to fetch"):
        command(["models", "pull", "fake"])
    with pytest.raises(UsageError, match=r"'nope' is not one of the models of trimtab.toml: fake, empty, far"):
        command(["models", "pull", "nope"])


def test_a_backend_that_is_none_is_one_line(agent: Path) -> None:
    """A wrong backend is a configuration error that names the key and the choices."""
    (agent / "trimtab.toml").write_text('[models.local]\nbackend = "lama"\n')

    with pytest.raises(ConfigError, match=r"models.local.backend: 'lama' is not one of anthropic, llama_cpp"):
        command(["models", "list"])
