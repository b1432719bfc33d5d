"""`trimtab service install`: the agent under systemd, with every step said before it is taken."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

import daemon
from daemon.cli.place import home as agent_home
from daemon.cli.unit import Facts, is_as_written, unit, user_entry
from daemon.errors import ConfigError, TrimtabError, UsageError
from daemon.settings import load

app = typer.Typer(no_args_is_help=True, help="The agent as a service of this machine.")
LONGEST_USER = 31


@app.callback()
def _group() -> None:
    """Keep `install` a command of its own."""


@dataclass(frozen=True, slots=True)
class Write:
    """A file to write; what somebody changed since is not replaced unless `force` says so."""

    path: Path
    text: str

    def __str__(self) -> str:
        return f"write {self.path}"

    def take(self, force: bool) -> str:
        there = self.path.read_text(encoding="utf-8") if self.path.exists() else None
        if there == self.text:
            return "is there already"
        if there is not None and not is_as_written(there) and not force:
            raise UsageError(f"{self.path} was changed by hand; nothing was replaced (--force replaces it)")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(self.text, encoding="utf-8")
        self.path.chmod(0o644)
        return "done"


@dataclass(frozen=True, slots=True)
class Run:
    """A command to run."""

    command: tuple[str, ...]

    def __str__(self) -> str:
        return "run " + " ".join(self.command)

    def take(self, _force: bool) -> str:
        try:
            done = subprocess.run(self.command, capture_output=True, text=True, check=False)
        except OSError as wrong:
            raise TrimtabError(f"{self.command[0]}: {wrong.strerror}") from None
        if done.returncode:
            raise TrimtabError(f"{' '.join(self.command)}: {done.stderr.strip() or f'exit code {done.returncode}'}")
        return "done"


Step = Write | Run


@app.command()
def install(
    name: Annotated[str | None, typer.Option(help="Name of the instance; the agent's own name unless given.")] = None,
    user: Annotated[bool, typer.Option("--user", help="Under your own service manager; needs no root.")] = False,
    print_: Annotated[bool, typer.Option("--print", help="Only print the unit.")] = False,
    dry_run: Annotated[bool, typer.Option(help="Say every step and take none.")] = False,
    force: Annotated[bool, typer.Option(help="Replace a unit that was changed by hand.")] = False,
) -> None:
    """Make this agent a service: trimtab@NAME.service, started at boot, watched, and shut in."""
    facts = facts_of(agent_home().path, name, user)
    if print_:
        typer.echo(unit(facts), nl=False)
        return
    if not dry_run:
        refuse_without_systemd(user, os.geteuid(), Path("/run/systemd/system"))
        refuse_unless_installed(facts.python)
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() if user else Path("/etc")
    take(
        steps(facts, configuration, owned_by_root=not user and facts.home.owner() == "root"), dry_run, force, typer.echo
    )
    systemctl = "systemctl --user" if user else "systemctl"
    typer.echo(f"Next: {systemctl} enable --now trimtab@{facts.name}")
    typer.echo(f"Then: {systemctl} status trimtab@{facts.name}" + ("; loginctl enable-linger" if user else ""))


def facts_of(home: Path, name: str | None, user: bool) -> Facts:
    """Gather what the unit of this agent needs.  Raises ConfigError or UsageError."""
    name = load(home).name if name is None else name
    account = None if user else _account(home, name)
    code = {Path(sys.prefix), Path(sys.base_prefix), Path(daemon.__file__).resolve().parents[1]}
    return Facts(name, home, Path(sys.executable), tuple(sorted(code)), account)


def steps(facts: Facts, configuration: Path, *, owned_by_root: bool) -> list[Step]:
    """Return what is to be done, in order."""
    folder = configuration / "systemd" / ("system" if facts.user else "user")
    written: list[Step] = [Write(folder / f"trimtab@{facts.name}.service", unit(facts))]
    if facts.user is None:
        return [*written, Run(("systemctl", "--user", "daemon-reload"))]
    first: list[Step] = []
    if owned_by_root:
        entry = configuration / "sysusers.d" / f"trimtab-{facts.name}.conf"
        first = [
            Write(entry, user_entry(facts)),
            Run(("systemd-sysusers", str(entry))),
            Run(("chown", "--recursive", "--no-dereference", f"{facts.user}:", str(facts.home))),
        ]
    return [*first, *written, Run(("systemctl", "daemon-reload"))]


def take(todo: Sequence[Step], dry_run: bool, force: bool, say: Callable[[str], None]) -> None:
    """Take every step, or only say what it would be."""
    for step in todo:
        say(f"would {step}" if dry_run else f"{step}: {step.take(force)}")


def refuse_without_systemd(user: bool, uid: int, booted: Path) -> None:
    """Raise UsageError with the way out where nothing could be installed."""
    if not booted.is_dir():
        raise UsageError("this machine does not run systemd; --print prints the unit, and `trimtab run` needs none")
    if not user and uid != 0:
        raise UsageError("a system service needs root: call this with sudo, or with --user for a service of your own")


def refuse_unless_installed(python: Path) -> None:
    """Raise UsageError where trimtab is only found because of the directory that one stands in."""
    done = subprocess.run([python, "-P", "-c", "import daemon.cli"], cwd="/", capture_output=True, check=False)
    if done.returncode:
        raise UsageError(
            f"trimtab is not installed into {python.parent.parent}: `make setup` or `pip install .` does that"
        )


def _account(home: Path, name: str) -> str:
    """Return who the service runs as: the directory's owner, or a user of its own where that is root."""
    try:
        account = pwd.getpwuid(home.stat().st_uid).pw_name
    except KeyError:
        raise ConfigError(home, "owner", "a user that this machine knows") from None
    if account != "root":
        return account
    account = f"trimtab-{name}"
    if len(account) > LONGEST_USER:
        raise UsageError(
            f"{account} is too long for a user name; give a --name of at most {LONGEST_USER - 8} characters"
        )
    return account
