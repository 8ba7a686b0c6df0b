"""Finds the server of `throughline up`."""

import json
import os
import re
from pathlib import Path

_DEFAULT = "nats://127.0.0.1:4222"


def usual_server() -> tuple[str, str | None]:
    """Returns the URL of the user's server and its token; the default URL if it does not run."""
    state = os.environ.get("XDG_STATE_HOME", "")
    home = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    store = home / "throughline" / "server"
    try:
        locks = [path for path in store.iterdir() if re.fullmatch(r"throughline-server\.\d{1,15}\.lock", path.name)]
        note = json.loads(max(locks, key=lambda path: int(path.name.split(".")[1])).read_text())
        server = note["server"]
        if not note.get("ready") or note.get("released"):
            return _DEFAULT, None
        os.kill(server["pid"], 0)
    except (OSError, ValueError, KeyError, TypeError):
        return _DEFAULT, None
    host = f"[{server['host']}]" if ":" in server["host"] else server["host"]
    try:
        token = (store / "throughline-token").read_text().strip()
    except OSError:
        token = ""
    return f"nats://{host}:{server['port']}", token or None
