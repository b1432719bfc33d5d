"""Which addresses a vault may be synced to, and what opens them.

An address is checked before git sees it: no option, no `ext::` command, no password.  What opens it never becomes text.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from vault.errors import Refused

_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])"
_USER = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*"
_SCP = re.compile(rf"{_USER}@{_HOST}:(?!//)[^\s-]\S*")
_NETLOC = re.compile(rf"(?:{_USER}@)?{_HOST}(?::\d{{1,5}})?")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_BRANCH = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_./-]*[A-Za-z0-9_])?")
_SSH = (
    "BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes",
    "PermitLocalCommand=no", "ControlMaster=no", "ControlPath=none", "ConnectTimeout=20", "ServerAliveInterval=15",
    "ServerAliveCountMax=4", "UpdateHostKeys=no",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Access:
    """What opens a remote: an Authorization header for http, a command for ssh.  Its text shows neither."""

    header: str = field(default="", repr=False)
    ssh: tuple[str, ...] = field(default=(), repr=False)


def basic(user: str, token: str) -> str:
    """Return the header that opens an http remote."""
    return "Authorization: Basic " + base64.b64encode(f"{user}:{token}".encode()).decode("ascii")


def ssh_command(key: Path | None, known_hosts: Path | None) -> tuple[str, ...]:
    """Return an ssh that asks nobody, forwards nothing and believes known hosts only.

    With a key it reads no configuration of the user's; without one it uses the user's own keys and agent.
    """
    options = [word for option in _SSH for word in ("-o", option)]
    if known_hosts is not None:
        options += ["-o", f'UserKnownHostsFile="{known_hosts}"']
    if key is not None:
        options += ["-F", "none", "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none", "-i", str(key)]
    return ("ssh", *options)


def protocol_of(url: str) -> str:
    """Return file, git, ssh, http or https.  Raises Refused for anything else and for an address with a password."""
    if not url.isprintable() or any(c.isspace() for c in url) or len(url) > 2_000:
        raise Refused("expected an address without spaces and control characters")
    if url.startswith("/"):
        return "file"
    if "://" not in url and _SCP.fullmatch(url):
        return "ssh"
    try:
        parts = urlsplit(url)
        password, host = parts.password, parts.hostname or ""
    except ValueError:
        parts, password, host = urlsplit(""), None, ""
    if password is not None:
        raise Refused("expected an address without a password; `token` says where that is kept")
    if parts.scheme == "file" and not parts.netloc and parts.path.startswith("/"):
        return "file"
    known = parts.scheme in {"git", "ssh", "http", "https"} and _NETLOC.fullmatch(parts.netloc)
    if not known or not parts.path.strip("/") or parts.query or parts.fragment:
        raise Refused("expected /an/absolute/path, user@host:path, or an address with ssh://, https:// or git://")
    if parts.scheme == "http" and host not in _LOOPBACK:
        raise Refused("expected https:// (http:// shows everything to everybody on the way)")
    return parts.scheme


def check_branch(branch: str) -> str:
    """Return the name of a branch, or raise Refused for one that could be mistaken for something else."""
    if not _BRANCH.fullmatch(branch) or ".." in branch or "//" in branch or branch.endswith(".lock"):
        raise Refused("expected the name of a branch such as main")
    return branch
