"""The units: how far they are shut in, what systemd thinks of them, and what `service install` does and refuses."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from daemon.cli.service import Run, Write, app, refuse_unless_installed, refuse_without_systemd, steps, take
from daemon.cli.unit import Facts, is_as_written, shipped, signed, unit, user_entry
from daemon.errors import ConfigError, TrimtabError, UsageError

ROOT = Path(__file__).parents[1]
PYTHON = Path("/usr/bin/env")  # stands for an interpreter: it is there on every machine, wherever this checkout lies
STANDARD = Facts("watch", Path("/var/lib/trimtab/watch"), PYTHON, (Path("/opt/trimtab"),), "trimtab-watch")
ELSEWHERE = Facts("watch", Path("/srv/watch"), PYTHON, (Path("/opt/trimtab"),), "mina")
AT_HOME = Facts(
    "watch",
    Path("/home/mina/watch"),
    PYTHON,
    (Path("/home/mina/trimtab"), Path("/home/mina/trimtab/.venv"), Path("/usr")),
    "mina",
)
BY_USER = Facts("watch", Path("/home/mina/watch"), PYTHON, (Path("/usr"),), None)
KINDS = pytest.mark.parametrize("facts", [STANDARD, ELSEWHERE, AT_HOME], ids=["standard", "elsewhere", "at-home"])
needs_analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing")


def values(text: str, key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def exposed(folder: Path, text: str, *drop_ins: str) -> subprocess.CompletedProcess[str]:
    """What systemd makes of a unit's exposure, with a threshold of 1.5, or 1.0 with a drop-in."""
    file = folder / "trimtab@watch.service"
    file.write_text("\n".join([text, *drop_ins]), encoding="utf-8")
    threshold = "10" if drop_ins else "15"
    command = ["systemd-analyze", "security", "--offline=true", "--no-pager", f"--threshold={threshold}", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@needs_analyze
@KINDS
def test_the_unit_is_exposed_to_little(tmp_path: Path, facts: Facts) -> None:
    """systemd rates the exposure of the installed unit at 1.5 or better, wherever the agent lives."""
    done = exposed(tmp_path, unit(facts))

    assert done.returncode == 0, done.stdout + done.stderr


@needs_analyze
def test_the_shipped_unit_and_the_local_only_profile_hold_their_limits(tmp_path: Path) -> None:
    """The unit as it is shipped stays within 1.5, and with profiles/local-only.conf within 1.0."""
    assert exposed(tmp_path, shipped("trimtab@.service")).returncode == 0
    assert exposed(tmp_path, shipped("trimtab@.service"), shipped("profiles/local-only.conf")).returncode == 0


@needs_analyze
def test_a_unit_that_lost_its_protection_is_noticed(tmp_path: Path) -> None:
    """Without its empty capability set the same measurement fails, so it does measure something."""
    weaker = shipped("trimtab@.service").replace("CapabilityBoundingSet=\n", "").replace("ProtectSystem=strict\n", "")

    assert exposed(tmp_path, weaker).returncode != 0


@needs_analyze
@KINDS
def test_systemd_understands_every_line(tmp_path: Path, facts: Facts) -> None:
    """`systemd-analyze verify` has nothing to say about an installed unit."""
    file = tmp_path / "trimtab@watch.service"
    file.write_text(unit(facts), encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", str(file)], capture_output=True, text=True, check=False)

    assert [] == [line for line in done.stderr.splitlines() if "trimtab@watch" in line]
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["trimtab@.service", "user/trimtab@.service"])
def test_both_units_live_and_die_by_the_same_rules(name: str) -> None:
    """Readiness, watchdog, restarts and stopping are what the documentation promises, for root and for a person."""
    text = shipped(name)
    promised = {
        "Type": "notify",
        "WatchdogSec": "180",
        "Restart": "on-failure",
        "RestartSec": "10",
        "RestartPreventExitStatus": "78 2",
        "StartLimitIntervalSec": "30min",
        "StartLimitBurst": "5",
        "KillMode": "mixed",
        "TimeoutStopSec": "90",
        "UMask": "0077",
    }

    assert {key: [value] for key, value in promised.items()} == {key: values(text, key) for key in promised}


def test_exit_codes_that_systemd_must_not_restart_are_those_of_our_errors() -> None:
    """The codes in RestartPreventExitStatus are those of a wrong configuration and of a wrong call."""
    assert (
        f"{ConfigError.exit_code} {UsageError.exit_code}"
        == values(shipped("trimtab@.service"), "RestartPreventExitStatus")[0]
    )


def test_an_agent_in_the_standard_place_needs_no_exception() -> None:
    """In /var/lib/trimtab the state directory is systemd's own and nothing of /home is shown."""
    text = unit(STANDARD)

    assert values(text, "StateDirectory") == ["trimtab/%i"]
    assert values(text, "ProtectHome") == ["yes"]
    assert values(text, "NoExecPaths") == ["/var/lib/trimtab/watch"]
    assert values(text, "User") == ["trimtab-watch"]
    assert values(text, "ExecStart") == [f"{PYTHON} -P -m daemon run --dir /var/lib/trimtab/watch"]
    assert not values(text, "ReadWritePaths") + values(text, "BindPaths") + values(text, "BindReadOnlyPaths")


def test_an_agent_elsewhere_may_write_there_only() -> None:
    """An agent directory outside /var/lib is the one writable path."""
    text = unit(ELSEWHERE)

    assert values(text, "ReadWritePaths") == ["/srv/watch"]
    assert not values(text, "StateDirectory") + values(text, "StateDirectoryMode")


def test_of_a_home_directory_only_the_code_and_the_agent_are_shown() -> None:
    """Where agent or code lie under /home the rest stays hidden; nested code is named once."""
    text = unit(AT_HOME)

    assert values(text, "ProtectHome") == ["tmpfs"]
    assert values(text, "BindReadOnlyPaths") == ["/home/mina/trimtab"]
    assert values(text, "BindPaths") == ["/home/mina/watch"]


def test_code_inside_the_agent_directory_stays_executable() -> None:
    """When the environment lies inside the agent directory, that directory is not closed to execution."""
    inside = Facts("watch", Path("/srv/watch"), PYTHON, (Path("/srv/watch/.venv"),), "mina")

    assert values(unit(inside), "NoExecPaths") == []


@pytest.mark.parametrize("home", ["/srv/my agent", "/srv/a\nExecStartPre=/bin/evil", "/srv/%i", '/srv/"a"', "/srv/a:b"])
def test_a_path_that_a_unit_cannot_name_is_refused(home: str) -> None:
    """Spaces, line breaks, specifiers and quotes in a path are refused with one line that names it."""
    with pytest.raises(UsageError, match="letters, digits"):
        unit(Facts("watch", Path(home), PYTHON, (), "mina"))


@pytest.mark.parametrize("home", ["/tmp/agent", "/var/tmp/x/agent"])
def test_a_temporary_directory_is_refused(home: str) -> None:
    """A service has a /tmp of its own, so an agent cannot live there."""
    with pytest.raises(UsageError, match="move the directory"):
        unit(Facts("watch", Path(home), PYTHON, (), "mina"))


def test_a_system_service_gets_a_user_of_its_own_before_its_unit() -> None:
    """For a directory of root: user entry, user, ownership, unit, reload, in this order; otherwise unit and reload."""
    said = [str(step) for step in steps(STANDARD, Path("/etc"), owned_by_root=True)]

    assert said == [
        "write /etc/sysusers.d/trimtab-watch.conf",
        "run systemd-sysusers /etc/sysusers.d/trimtab-watch.conf",
        "run chown --recursive --no-dereference trimtab-watch: /var/lib/trimtab/watch",
        "write /etc/systemd/system/trimtab@watch.service",
        "run systemctl daemon-reload",
    ]
    assert said[3:] == [str(step) for step in steps(STANDARD, Path("/etc"), owned_by_root=False)]
    assert ["write /c/systemd/user/trimtab@watch.service", "run systemctl --user daemon-reload"] == [
        str(step) for step in steps(BY_USER, Path("/c"), owned_by_root=False)
    ]


def test_the_user_entry_names_the_agent_and_its_directory() -> None:
    """The sysusers.d file makes trimtab-NAME with the agent directory as its home."""
    (line,) = [line for line in user_entry(ELSEWHERE).splitlines() if not line.startswith("#")]

    assert line == 'u trimtab-watch - "trimtab agent watch" /srv/watch'


def test_a_unit_that_was_changed_by_hand_is_not_replaced(tmp_path: Path) -> None:
    """A file of ours is renewed when it is as we wrote it; once edited it is replaced only with force."""
    file = tmp_path / "system" / "trimtab@watch.service"
    assert Write(file, signed("old\n")).take(force=False) == "done"
    assert Write(file, signed("old\n")).take(force=False) == "is there already"
    assert Write(file, signed("new\n")).take(force=False) == "done"
    assert file.stat().st_mode & 0o777 == 0o644

    edited = file.read_text(encoding="utf-8") + "MemoryMax=1G\n"
    file.write_text(edited, encoding="utf-8")
    with pytest.raises(UsageError, match="changed by hand"):
        Write(file, signed("newer\n")).take(force=False)
    assert file.read_text(encoding="utf-8") == edited
    assert Write(file, signed("newer\n")).take(force=True) == "done"
    assert is_as_written(file.read_text(encoding="utf-8"))


def test_a_dry_run_takes_no_step(tmp_path: Path) -> None:
    """A dry run says what would be done and does nothing."""
    said: list[str] = []
    take([Write(tmp_path / "x", "text"), Run(("false",))], dry_run=True, force=False, say=said.append)

    assert said == [f"would write {tmp_path}/x", "would run false"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "why"), [(("false",), "exit code 1"), (("no-such-command-here",), "No such file")])
def test_a_step_that_fails_stops_with_one_line(command: tuple[str, ...], why: str) -> None:
    """A command that fails or does not exist ends the installation with its name and reason."""
    with pytest.raises(TrimtabError, match=f"{command[0]}: {why}"):
        take([Run(command)], dry_run=False, force=False, say=lambda _line: None)


def test_without_systemd_or_root_it_refuses_politely(tmp_path: Path) -> None:
    """No systemd and no root each give one line with the way out; a person's own service needs no root."""
    with pytest.raises(UsageError, match="does not run systemd; --print"):
        refuse_without_systemd(user=False, uid=0, booted=tmp_path / "none")
    with pytest.raises(UsageError, match="needs root: call this with sudo, or with --user"):
        refuse_without_systemd(user=False, uid=1000, booted=tmp_path)
    refuse_without_systemd(user=True, uid=1000, booted=tmp_path)


def test_an_interpreter_without_trimtab_is_refused(tmp_path: Path) -> None:
    """A Python that does not find trimtab from any directory is refused before anything is written."""
    bare = tmp_path / "bin" / "python"
    bare.parent.mkdir()
    bare.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    bare.chmod(0o755)

    with pytest.raises(UsageError, match="trimtab is not installed into"):
        refuse_unless_installed(bare)


def test_the_command_prints_the_unit_or_says_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--print` prints the unit and no more; `--dry-run` says each step and the next command, and writes nothing."""
    (tmp_path / "trimtab.toml").write_text('name = "watch"\n', encoding="utf-8")
    monkeypatch.setenv("TRIMTAB_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    printed = CliRunner().invoke(app, ["install", "--user", "--print"])
    said = CliRunner().invoke(app, ["install", "--user", "--dry-run", "--name", "other"])

    assert is_as_written(printed.stdout)
    assert values(printed.stdout, "ExecStart") == [f"{sys.executable} -P -m daemon run --dir {tmp_path}"]
    assert said.stdout.splitlines()[0] == f"would write {tmp_path}/config/systemd/user/trimtab@other.service"
    assert "Next: systemctl --user enable --now trimtab@other" in said.stdout
    assert not (tmp_path / "config").exists()


def test_the_wheel_carries_the_units() -> None:
    """systemd/ goes into the wheel as daemon/systemd, and holds no Python package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]

    assert wheel["force-include"]["systemd"] == "daemon/systemd"
    assert not list((ROOT / "systemd").rglob("*.py"))


def test_a_file_that_is_not_shipped_is_one_clear_line() -> None:
    """A damaged installation says which file it lacks."""
    with pytest.raises(TrimtabError, match="lacks its file systemd/nothing"):
        shipped("nothing")
