"""Finds the server in use: the one that the user has named, else the user's own one, which must be proven to be it."""

import hashlib
import json
import os
import re
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from nats.aio.client import Client as Nats

from .errors import ThroughlineError

_HOSTS = ("0100007F", "7F000001", "0" * 16 + "FFFF00000100007F", "0" * 8, "0" * 32)
"""127.0.0.1 in the byte order of the machine, as IPv6, and behind it any address, which receives what is sent to it."""
_AGAIN = 'end it with "throughline down", then run "throughline up --detach"'
_START = 'start it with "throughline up", or set NATS_URL'


def _state_dir() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    home = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return home / "throughline"


def named_server() -> str | None:
    """Returns the URL of `NATS_URL`, or else of `throughline team join`."""
    return os.environ.get("NATS_URL") or _joined().get("url")


def joined_access() -> dict[str, str]:
    """Returns what `throughline team join` has recorded beside the URL; nothing where `NATS_URL` names a server."""
    return {} if os.environ.get("NATS_URL") else _joined().get("access", {})


def _joined() -> dict[str, Any]:
    project = _project()
    name = re.sub(r"[^A-Za-z0-9._-]", "-", project.name)[:40] or "root"
    digest = hashlib.sha256(os.fsencode(project)).hexdigest()[:12]
    of_project = _state_dir() / "projects" / f"{name}-{digest}" / "team"
    file = of_project if _text(of_project) else _state_dir() / "team"
    text = _text(file)
    try:
        joined: dict[str, Any] = json.loads(text or "{}")
        joined.get("url")
        return joined
    except (ValueError, AttributeError) as fault:
        fix = '"throughline team leave" removes it, then join again'
        raise ThroughlineError("config_invalid", f"{file} is damaged: {fix}", {"fix": fix}) from fault


def _project() -> Path:
    """Returns the folder of the repository that one works in, for a linked work tree that of the main one."""
    here = Path.cwd()
    top = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
    link = _text(top / ".git").removeprefix("gitdir:").strip()
    tree = (top / link).resolve()
    # A file `.git` may come with an archive: the repository must name this work tree as well.
    is_linked = tree.parent.name == "worktrees" and _text(tree / "gitdir") == str(top / ".git")
    return (tree.parents[2] if is_linked else top).resolve()


def token_of_named() -> str | None:
    """Returns the token of `NATS_URL`: `throughline up --auth` prints a line that sets both."""
    return os.environ.get("NATS_TOKEN") if os.environ.get("NATS_URL") else None


def own_server() -> tuple[str, str | None, int]:
    """Returns the URL, the token and the process of the server of `throughline up`.

    Raises `unavailable` unless the process of its pid file runs, with the start time and the user that belong to it.
    """
    store = _state_dir() / "server"
    try:
        note: dict[str, Any] = json.loads(_text(store / "throughline-server.pid"))
        url, pid = str(note["url"]), int(note["server"]["pid"])
        os.kill(pid, 0)
        if sys.platform == "linux":
            _require_ours(pid, note["server"]["started"], urlparse(url).port or 0)
        elif "started" in note["server"]:
            ps = ["ps", "-o", "lstart=", "-p", str(pid)]
            if subprocess.check_output(ps, env={"LC_ALL": "C"}, text=True).strip() != note["server"]["started"]:
                raise ValueError("another process has its number")
    except (OSError, ValueError, KeyError, TypeError, IndexError, subprocess.SubprocessError) as fault:
        raise ThroughlineError("unavailable", f"your server on {store} does not run: {_START}", {"fix": _START}) from fault
    return url, _text(store / "throughline-token") or None, pid


def unreached(fault: Exception) -> ThroughlineError:
    """Returns why the user's own server, which was found before, cannot be used."""
    try:
        url, _, pid = own_server()
    except ThroughlineError as gone:
        return gone
    hangs = f"the server, process {pid}, does not answer"
    why = f"the server at {url} is not yours" if isinstance(fault, NotOurs) else hangs
    return ThroughlineError("unavailable", f"{why}: {_AGAIN}", {"fix": _AGAIN})


class NotOurs(ConnectionRefusedError):
    """The greeting is that of another store."""


def _require_ours(pid: int, started: str, port: int) -> None:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    user = os.geteuid()
    if f"{boot} {fields[19]}" != started or os.stat(f"/proc/{pid}").st_uid != user:
        raise ValueError("another process has its number")
    owners: dict[str, int] = {}
    for table in ("tcp", "tcp6"):
        for row in _text(Path("/proc/net", table)).splitlines():
            # Local address, remote address, state (0A listens), queues, timer, retransmissions, user.
            _, local, _, state, *_, uid = row.split()[:8]
            if state == "0A":
                owners.setdefault(local, int(uid))
    listeners = [owners[place] for place in (f"{host}:{port:04X}" for host in _HOSTS) if place in owners]
    if listeners and listeners[0] != user:
        raise ValueError("another user listens on its port")


def _text(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


class NoTls(ConnectionRefusedError):
    """The server offers no TLS, and its URL asks for it."""


class NamedServer(Nats):
    """A connection to a server that the user has named."""

    def _connect_command(self) -> bytes:
        """The first that is sent, with the credentials: not in plain text to a server that should have TLS."""
        assert self._current_server
        wanted = self._current_server.uri.scheme == "tls" or "tls" in self.options
        if wanted and not self._server_info.get("tls_required"):
            raise NoTls("it offers no TLS")
        return super()._connect_command()


class OwnServer(Nats):
    """A connection to the user's own server. It is proven at each attempt, and followed to another port or token."""

    _proven = False

    async def _process_connect_init(self) -> None:
        self._proven = False
        try:
            url, token, _ = own_server()
        except ThroughlineError as fault:
            raise ConnectionRefusedError(fault.message) from fault
        place = urlparse(url)
        assert self._current_server
        if self._current_server.uri.netloc != place.netloc:
            self._current_server.uri = place
            raise ConnectionRefusedError(f"the server has moved to {url}")
        has_members = '"members"' in _text(_state_dir() / "server" / "throughline-team.json")
        user = "owner" if token and has_members else None
        self.options |= {"token": token, "user": user, "password": user and token}
        await super()._process_connect_init()

    @property
    def ssl_context(self) -> ssl.SSLContext:
        """Trusts any certificate: the process is proven by then, and its certificate is for other machines."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context

    async def _process_info(self, info: dict[str, Any], initial_connection: bool = False) -> None:
        """Its greeting: nothing has been sent yet."""
        id = _text(_state_dir() / "server" / "throughline-store-id")
        if initial_connection and (not id or info.get("server_name") != f"throughline-{id}"):
            raise NotOurs
        self._proven = True
        await super()._process_info(info, initial_connection)

    def _connect_command(self) -> bytes:
        """The first that is sent, with the token: the methods above are not public, and might not have been called."""
        if not self._proven:
            raise NotOurs
        return super()._connect_command()
