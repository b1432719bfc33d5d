"""The systemd unit of one agent: the shipped file with this agent's interpreter, directory and user filled in.

Pure, but for finding the shipped file: it writes nothing and starts nothing.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import daemon
from daemon.errors import TrimtabError, UsageError

STATE: Final = Path("/var/lib/trimtab")
_HIDDEN_BY_PROTECT_HOME: Final = tuple(map(Path, ("/home", "/root", "/run/user")))
_PRIVATE: Final = tuple(map(Path, ("/tmp", "/var/tmp", "/dev", "/proc", "/sys")))  # noqa: S108  # refused, not used
_PLAIN_PATH: Final = re.compile(r"/[A-Za-z0-9._+@/-]*")
_SIGNATURE: Final = "# Written by `trimtab service install`, which replaces it only while this fits the rest: sha256 "


@dataclass(frozen=True, slots=True)
class Facts:
    """What a unit needs to know.  `user` is None under a person's own service manager; `code` is what is executed."""

    name: str
    home: Path
    python: Path
    code: tuple[Path, ...]
    user: str | None


def shipped(name: str) -> str:
    """Return a file of systemd/, from an installed package or from a checkout."""
    package = Path(daemon.__file__).parent
    for folder in (package / "systemd", package.parent / "systemd"):
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise TrimtabError(f"this installation of trimtab lacks its file systemd/{name}; install it again")


def unit(facts: Facts) -> str:
    """Return the unit of an agent.  Raises UsageError for a place that a unit cannot name."""
    for path in (facts.home, facts.python, *facts.code):
        _check(path, private=facts.user is not None)
    template = shipped("trimtab@.service" if facts.user else "user/trimtab@.service")
    replaced = _system(facts) if facts.user else {}
    replaced["ExecStart"] = [f"ExecStart={facts.python} -P -m daemon run --dir {facts.home}"]
    lines = template[template.index("[Unit]") :].splitlines()
    written = [line for given in lines for line in replaced.get(given.partition("=")[0], [given])]
    return signed("\n".join(written) + "\n")


def user_entry(facts: Facts) -> str:
    """Return the sysusers.d file that makes the agent's user."""
    lines = [line for line in shipped("sysusers.d/trimtab.conf").splitlines() if not line.startswith("#")]
    text = "\n".join(lines).replace(f"{STATE}/NAME", str(facts.home)).replace("NAME", facts.name)
    return signed(text + "\n")


def signed(text: str) -> str:
    """Return `text` under a line that tells later whether somebody changed it."""
    return f"{_SIGNATURE}{hashlib.sha256(text.encode()).hexdigest()}\n{text}"


def is_as_written(text: str) -> bool:
    """Say whether a file is still what `signed` made, of whatever version."""
    first, _, rest = text.partition("\n")
    return first.startswith(_SIGNATURE) and signed(rest).partition("\n")[0] == first


def _system(facts: Facts) -> dict[str, list[str]]:
    """Return what stands in the place of the lines that begin with these keys."""
    replaced: dict[str, list[str]] = {
        "Documentation": [],
        "User": [f"User={facts.user}"],
        "NoExecPaths": [] if any(_inside(path, facts.home) for path in facts.code) else [f"NoExecPaths={facts.home}"],
    }
    if facts.home != STATE / facts.name:
        replaced |= {"StateDirectory": [f"ReadWritePaths={facts.home}"], "StateDirectoryMode": []}
    if hidden := _outermost([path for path in facts.code if _is_hidden(path)]):
        replaced["ProtectHome"] = ["ProtectHome=tmpfs", f"BindReadOnlyPaths={' '.join(map(str, hidden))}"]
    if _is_hidden(facts.home):
        before = replaced.get("ProtectHome", ["ProtectHome=tmpfs"])
        replaced["ProtectHome"] = [*before, f"BindPaths={facts.home}"]
        replaced["StateDirectory"] = []
    return replaced


def _check(path: Path, *, private: bool) -> None:
    if not _PLAIN_PATH.fullmatch(str(path)):
        raise UsageError(f"{path}: a unit needs a path of letters, digits and . _ - + @ only")
    if private and any(_inside(path, place) for place in _PRIVATE):
        raise UsageError(f"{path}: a service sees a private {path.parts[1]} of its own; move the directory elsewhere")


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _is_hidden(path: Path) -> bool:
    return any(_inside(path, place) for place in _HIDDEN_BY_PROTECT_HOME)


def _outermost(paths: list[Path]) -> list[Path]:
    return sorted({path for path in paths if not any(other in path.parents for other in paths)})
