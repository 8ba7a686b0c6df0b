"""The client: it publishes results of agents, compiles prompts, and keeps the board of a session."""

import asyncio
import contextlib
import difflib
import json
import random
import re
import secrets
import ssl
import time
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Coroutine, Generator, Mapping, Self, TypeVar, Unpack
from urllib.parse import urlsplit

import nats
from nats.aio.client import Client as Nats

from . import types as t
from .discovery import OwnServer, named_server, own_server, unreached
from .errors import ThroughlineError, error_of

R = TypeVar("R")

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_MESSAGE_ID = re.compile(r"[!-~]{1,256}\Z")
_DENIED = re.compile(r"permissions violation for \w+ to \"([^\"]+)\"", re.IGNORECASE)
_PASSING = {"unavailable", "rate_limited"}
_KINDS = ["result", "rejected", "command", "trace"]
_LOOK_EVERY = 2.0
"""An announced event may be lost, or a user may hear none: this is the longest delay then, in seconds."""
_LOOK_AGAIN = (0.04, 0.2, 1.0)
"""An announced event may become readable a moment later."""


@dataclass(frozen=True)
class Published:
    """A result that is stored. Pass `sequence` as `after` to see it in the next prompt."""

    sequence: int
    duplicate: bool = False
    """Nothing was stored: a result under the given `message_id` had been, at `sequence`."""
    result: t.DispatchResult | None = None
    """Its facts, or why it was rejected; only with `wait=True`."""


def connect(
    url: str | None = None,
    *,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    creds: str | None = None,
    nkey: str | None = None,
    tls: ssl.SSLContext | None = None,
    inbox_prefix: str = "_INBOX",
    name: str = "throughline python",
    timeout: float = 10.0,
) -> "_Connecting":
    """Connects to NATS: `async with connect() as client`, or `client = await connect()`.

    Without `url`, to `NATS_URL`, else to the server of `throughline team join`, else to your own server, which `throughline up`
    starts. Several servers are separated by commas. `creds` and `nkey` are paths of files, and need the extra `throughline[nkeys]`. `timeout` limits
    each request, in seconds.
    """
    url = url or named_server()
    nats = Nats if url else OwnServer
    if url is None:
        url, token, _ = own_server()
    access = {"token": token, "user": user, "password": password, "tls": tls}
    files = {"user_credentials": creds, "nkeys_seed": nkey}
    options: dict[str, Any] = {key: value for key, value in {**access, **files}.items() if value is not None}
    options |= {"servers": url.split(","), "name": name, "inbox_prefix": inbox_prefix}
    return _Connecting(nats, options, timeout)


class _Connecting:
    """A connection that is awaited, or entered."""

    def __init__(self, nats: type[Nats], options: dict[str, Any], timeout: float) -> None:
        self._nats = nats
        self._options = options
        self._timeout = timeout
        self._client: Client | None = None

    def __await__(self) -> "Generator[Any, None, Client]":
        return self._connected().__await__()

    async def __aenter__(self) -> "Client":
        self._client = await self._connected()
        return self._client

    async def __aexit__(self, *_: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def _connected(self) -> "Client":
        nc = self._nats()
        client = Client(nc, timeout=self._timeout)
        servers: list[str] = self._options["servers"]
        failures: list[Exception] = []

        async def on_error(fault: Exception) -> None:
            if nc.is_connected or nc.is_reconnecting:
                return client._reported(fault)
            if nc.is_closed:
                # A server that refuses a user may reset the connection, which then fails to close.
                return
            failures.append(fault)
            # The client of NATS would go on for minutes.
            if len(failures) >= len(servers):
                raise fault

        at = " and ".join(server.rpartition("@")[2] for server in servers)
        settings: dict[str, Any] = {"max_reconnect_attempts": -1, "reconnect_time_wait": 0.25, "ping_interval": 5}
        try:
            for server in servers:
                # Raises for a port that is no number.
                urlsplit(server if "://" in server else f"//{server}").port
            connecting = nc.connect(error_cb=on_error, **settings, **self._options)
            await asyncio.wait_for(connecting, self._timeout)
        except Exception as fault:
            with contextlib.suppress(Exception):
                await nc.close()
            if isinstance(fault, (ValueError, FileNotFoundError, ImportError)):
                use = "check url, creds and nkey; files need the extra throughline[nkeys]"
                raise ThroughlineError("config_invalid", f"{at}: {fault}: {use}") from fault
            failure = error_of(fault, at)
            if failure.code == "unavailable" and isinstance(nc, OwnServer):
                failure = unreached(fault)
            elif failure.code == "unavailable":
                fix = 'start Throughline there with "throughline up"'
                failure = ThroughlineError("unavailable", f"NATS cannot be reached at {at}: {fix}")
            raise failure from fault
        client._owns = True
        return client


class Client:
    """A connection to Throughline. `Client(nc)` uses a connection of nats-py that you have, and leaves it open."""

    def __init__(self, nc: Nats, *, timeout: float = 10.0) -> None:
        self._nc = nc
        self._timeout = timeout
        self._owns = False
        self._asking: dict[str, set[asyncio.Future[Any]]] = {}
        self._denied: set[asyncio.Future[Any]] = set()

    def session(self, id: str) -> "Session":
        """Returns a handle on a session, which need not exist yet."""
        if not isinstance(id, str) or not _SESSION.match(id):
            use = "use 1 to 64 characters of A-Z a-z 0-9 _ and -"
            raise ThroughlineError("token_invalid", f"session is {id!r}: {use}")
        return Session(self, id)

    async def request(self, subject: str, body: Mapping[str, Any], timeout: float | None = None) -> Any:
        """Sends any request, such as `tool.session-list`, and returns its reply."""
        session = body.get("session")
        beyond = body.get("project") is not None or body.get("tasksPath") is not None
        if isinstance(session, str) and _SESSION.match(session) and not beyond:
            subject = f"{subject}.{session}"
        data = json.dumps(body).encode()
        asking = self._nc.request(subject, data, timeout=timeout or self._timeout)
        message = await self._answered(subject, asking)
        reply = json.loads(message.data)
        if message.headers and "Nats-Service-Error-Code" in message.headers:
            error = reply["error"]
            raise ThroughlineError(error["code"], error["message"], error.get("details"))
        return reply

    async def close(self) -> None:
        """Closes the connection, unless it is yours."""
        if self._owns and not self._nc.is_closed:
            await self._nc.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def _reported(self, fault: Exception) -> None:
        denied = _DENIED.search(str(fault))
        for asking in self._asking.get(denied[1].lower(), ()) if denied else ():
            self._denied.add(asking)
            asking.cancel()

    async def _answered(self, subject: str, request: Coroutine[Any, Any, R]) -> R:
        """The server refuses a subject in a message of its own, and leaves the request without an answer."""
        asking = asyncio.ensure_future(request)
        others = self._asking.setdefault(subject.lower(), set())
        others.add(asking)
        try:
            return await asking
        except asyncio.CancelledError as fault:
            if asking not in self._denied:
                raise
            use = "connect as a user who may publish there"
            raise ThroughlineError("permission_denied", f"{subject} is not permitted: {use}") from fault
        except Exception as fault:
            raise error_of(fault, subject) from fault
        finally:
            self._denied.discard(asking)
            others.discard(asking)
            if not others:
                self._asking.pop(subject.lower(), None)

    async def _publish(self, subject: str, data: bytes, message_id: str, timeout: float) -> tuple[Published, int]:
        """Publishes under one id until there is a PubAck; returns also the number of attempts."""
        deadline = time.monotonic() + timeout
        patience, pause, attempts = 2.0, 0.25, 0
        while True:
            attempts += 1
            try:
                wait = max(0.001, min(patience, deadline - time.monotonic()))
                headers = {"Nats-Msg-Id": message_id}
                storing = self._nc.jetstream().publish(subject, data, timeout=wait, headers=headers)
                ack = await self._answered(subject, storing)
                return Published(ack.seq, bool(ack.duplicate)), attempts
            except ThroughlineError as error:
                left = deadline - time.monotonic()
                if error.code != "unavailable":
                    raise
                if left < 0.25 or error.details.get("closed"):
                    again = f"it may be stored all the same: publish it again with message_id={message_id!r}"
                    details = {**error.details, "message_id": message_id}
                    raise ThroughlineError(error.code, f"{error.message}; {again}", details) from error
                await asyncio.sleep(min(pause * random.uniform(0.5, 1), left / 2))
                patience, pause = patience * 2, min(5.0, pause * 2)


class Session:
    """A session of a client, by `client.session(id)`."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.id = id

    async def publish(
        self,
        result: t.ImplementerResult | t.ReviewerResult | t.ObserverResult | Mapping[str, Any] | str | bytes,
        *,
        role: t.Role,
        wait: bool = False,
        message_id: str | None = None,
        timeout: float = 30.0,
    ) -> Published:
        """Publishes what an agent returned: its text as it is, or a result that your program builds.

        Tries again for `timeout` seconds, under one id, until the result is stored: it counts once. `wait` also waits until
        the session has read it. A dict may have the fields of its role alone; text is repaired where that is possible.
        """
        if role not in t.RESULTS:
            raise ThroughlineError("schema_invalid", f"role is {role!r}: use one of {', '.join(t.RESULTS)}")
        if isinstance(result, (str, bytes)):
            data = result.encode() if isinstance(result, str) else result
        elif not isinstance(result, Mapping):
            use = "give a dict, or the text that the agent returned"
            raise ThroughlineError("schema_invalid", f"result is a {type(result).__name__}: {use}")
        else:
            _check_fields(result, role)
            data = json.dumps(result).encode()
        if message_id is not None and not _MESSAGE_ID.match(message_id):
            use = "use 1 to 256 printable ASCII characters without spaces"
            raise ThroughlineError("schema_invalid", f"message_id is {message_id!r}: {use}")
        # No one else can guess it, and so no one else can use it first.
        id = message_id or f"{self.id}:{secrets.token_hex(16)}"
        subject = f"dispatch.{self.id}.{role}"
        published, attempts = await self.client._publish(subject, data, id, timeout)
        duplicate = published.duplicate and message_id is not None and attempts == 1
        result_of = await self.result(published.sequence) if wait else None
        return Published(published.sequence, duplicate, result_of)

    async def result(self, sequence: int) -> t.DispatchResult:
        """Waits until the session has read a published result; returns its facts, or why it was rejected."""
        return await self.tool("dispatch-show", dispatch=sequence, timeout_ms=self._patience_ms())

    async def prompt(self, task_id: str, task_prompt: str, **options: Unpack[t.PromptOptions]) -> t.DispatchReply:
        """Compiles the next prompt of a task; with `after`, one that knows the result published at that sequence."""
        waiting = {"after_timeout_ms": self._patience_ms()} if options.get("after") is not None else {}
        body = {"task_id": task_id, "task_prompt": task_prompt, **waiting, **options}
        return await self._request("prompt.compile", body)

    async def task_add(self, content: str, **options: Unpack[t.TaskAddOptions]) -> t.Task:
        """Adds a task to the board."""
        return (await self.tool("task-add", content=content, **options))["task"]

    async def task_list(self, status: t.TaskStatus | None = None) -> list[t.Task]:
        """Returns the tasks of the board, optionally of one status."""
        return (await self.tool("task-list", status=status))["tasks"]

    async def task_claim(self, agent: str, id: str | None = None) -> t.NextTask:
        """Claims the next task for an agent, or the task `id`: `task` is from the board, or null, `plan` from the plan."""
        return await self.tool("task-next", claim=agent, id=id)

    async def task_release(self, id: str, **options: Unpack[t.TaskReleaseOptions]) -> t.Task | None:
        """Releases a claimed task, with a `note` for the next agent."""
        return (await self.tool("task-release", id=id, **options))["task"]

    async def task_status(self, id: str, status: t.TaskStatus, reason: str | None = None) -> t.Task:
        """Sets the status of a task of the board."""
        return (await self.tool("task-status", id=id, status=status, reason=reason))["task"]

    async def task_complete(self, id: str) -> t.Task:
        """Sets a task of the board to completed."""
        return await self.task_status(id, "completed")

    async def note_add(self, content: str, type: t.NoteType | None = None) -> t.Note:
        """Writes a note for later agents."""
        return (await self.tool("note-add", content=content, type=type))["note"]

    async def note_list(self, type: t.NoteType | None = None) -> list[t.Note]:
        """Returns the notes of the session, optionally of one type."""
        return (await self.tool("note-list", type=type))["notes"]

    async def inbox_add(self, content: str) -> t.Message:
        """Leaves a message for the next agent."""
        return (await self.tool("inbox-add", content=content))["message"]

    async def fact_find(self, text: str | None = None, **options: Unpack[t.FactFindOptions]) -> list[t.FoundFact]:
        """Returns the facts that hold these words, the best first."""
        return (await self.tool("fact-find", text=text, **options))["facts"]

    async def recall(self, query: str, **options: Unpack[t.RecallOptions]) -> t.Recalled:
        """Searches what the session remembers, by words and by meaning: items, and lines for a prompt."""
        return await self.tool("recall", query=query, **options)

    async def answer(self, task: str, answer: str, **options: Unpack[t.AnswerOptions]) -> t.Answer:
        """Answers the open questions of a task, or the one that `question` names."""
        return (await self.tool("blocker-answer", task=task, answer=answer, **options))["answer"]

    async def run_status(self) -> t.RunStatus:
        """Returns the progress of the session: the next action of each task, what stalled, and what waits for a person."""
        return await self._request("run.status", {})

    async def watch(self, after: int | None = None) -> AsyncGenerator[t.TimelineEntry, None]:
        """Yields what happens in the session from now on, or after a sequence: results, commands and traces.

        Continues after a lost connection; ends with the loop that reads it, or with the connection.
        """
        moved = asyncio.Event()

        async def on_event(_: object) -> None:
            moved.set()

        subjects = [f"session.{self.id}.>", f"sessions.*.{self.id}.>"]
        heard = [await self.client._nc.subscribe(subject, cb=on_event) for subject in subjects]
        try:
            at = after if after is not None else (await self.tool("timeline-list", limit=1))["sequence"]
            looks, pause = len(_LOOK_AGAIN), 0.25
            while True:
                moved.clear()
                try:
                    entries, at = await self._since(at)
                    pause = 0.25
                except ThroughlineError as error:
                    if error.code not in _PASSING or error.details.get("closed"):
                        raise
                    await asyncio.sleep(pause)
                    pause = min(5.0, pause * 2)
                    continue
                for entry in entries:
                    yield entry
                try:
                    again = _LOOK_AGAIN[looks] if looks < len(_LOOK_AGAIN) else _LOOK_EVERY
                    await asyncio.wait_for(moved.wait(), again)
                    looks = 0
                except asyncio.TimeoutError:
                    looks += 1
        finally:
            if not self.client._nc.is_closed:
                for each in heard:
                    await each.unsubscribe()

    async def tool(self, name: str, /, **fields: Any) -> Any:
        """Calls any tool by its name, such as `tool("note-list")`; a field that is None is left out."""
        return await self._request(f"tool.{name}", fields)

    async def _since(self, after: int) -> tuple[list[t.TimelineEntry], int]:
        entries: list[t.TimelineEntry] = []
        page = await self.tool("timeline-list", kinds=_KINDS, after=after, limit=500)
        # The newest first: a later page may see more than the first one did.
        through = max(after, page["sequence"])
        entries += page["entries"]
        while "next" in page:
            page = await self.tool("timeline-list", kinds=_KINDS, after=after, limit=500, cursor=page["next"])
            entries += page["entries"]
        return entries[::-1], through

    async def _request(self, subject: str, fields: Mapping[str, Any]) -> Any:
        # `is` and `from` are words of Python: `is_` stands for them.
        given = {name.rstrip("_"): value for name, value in fields.items() if value is not None}
        return await self.client.request(subject, {**given, "session": self.id})

    def _patience_ms(self) -> int:
        """The service's own time is shorter: its refusal explains the state, a timeout of ours would not."""
        return int(self.client._timeout * 800)


def _check_fields(result: Mapping[str, Any], role: t.Role) -> None:
    """A misspelled field would be lost without a word."""
    known = t.RESULTS[role].__annotations__
    for name in result:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            use = f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
            raise ThroughlineError("schema_invalid", f"{name} is not a field of a result of role {role}: {use}")
