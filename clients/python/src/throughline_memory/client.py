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
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, AsyncGenerator, Coroutine, Generator, Mapping, Self, TypeVar, Unpack, overload
from urllib.parse import urlsplit

import nats
from nats.aio.client import Client as Nats

from . import types as t
from .discovery import NamedServer, NoTls, OwnServer, joined_access, named_server, own_server, token_of_named, unreached
from .errors import ThroughlineError, error_of, refusal_of
from .groups import spelled
from .methods import ClientTools, Learnings, Proposals, Runs, Tools, Traces

R = TypeVar("R")

_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_SUBJECT = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z")
_MESSAGE_ID = re.compile(r"[!-~]{1,256}\Z")
_VERSION = "Throughline-Reply-Version"
_DENIED = re.compile(r"permissions violation for \w+ to \"([^\"]+)\"", re.IGNORECASE)
_PASSING = {"unavailable", "rate_limited"}
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
    result: t.DispatchShowReply | None = None
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

    Without `url`, to `NATS_URL`, with `NATS_TOKEN`, else to the server of `throughline team join`, else to your own server, which `throughline up`
    starts. Several servers are separated by commas. `creds` and `nkey` are paths of files, and need the extra `throughline-memory[nkeys]`.
    `timeout` limits each request, in seconds.
    """
    if (url or token or user or creds or nkey) is None:
        token = token_of_named()
        joined = joined_access()
        user, password = joined.get("user"), joined.get("password")
        creds, nkey = joined.get("creds"), joined.get("nkey")
        inbox_prefix = joined.get("inboxPrefix", inbox_prefix)
        if tls is None and "ca" in joined:
            tls = ssl.create_default_context(cafile=joined["ca"])
    url = url or named_server()
    nats = NamedServer if url else OwnServer
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

        # A comma in a password has split it: what stands before the last @ is shown of none.
        at = ",".join(servers).rpartition("@")[2].replace(",", " and ")
        settings: dict[str, Any] = {"max_reconnect_attempts": -1, "reconnect_time_wait": 0.25, "ping_interval": 5}
        try:
            _require_ports(servers, at)
            connecting = nc.connect(error_cb=on_error, **settings, **self._options)
            await asyncio.wait_for(connecting, self._timeout)
        except Exception as fault:
            # After a failed handshake it would wait for its end for ever.
            with contextlib.suppress(Exception):
                await asyncio.wait_for(nc.close(), 1)
            if isinstance(fault, ThroughlineError):
                raise
            files = {"user_credentials", "nkeys_seed"} & self._options.keys()
            if files and isinstance(fault, (ValueError, FileNotFoundError, PermissionError, ImportError)):
                use = "check creds and nkey; they need the extra throughline-memory[nkeys]"
                raise ThroughlineError("config_invalid", f"{at}: {fault}: {use}") from fault
            if isinstance(fault, (NoTls, ssl.SSLError)):
                fix = 'check the URL; "throughline team join URL --ca FILE" names the authority of a certificate'
                raise ThroughlineError("tls_failed", f"no TLS with the NATS server at {at} ({fault}): {fix}") from fault
            failure = error_of(fault, at)
            if failure.code == "unavailable" and isinstance(nc, OwnServer):
                failure = unreached(fault)
            elif failure.code == "unavailable":
                fix = 'start Throughline there with "throughline up"'
                failure = ThroughlineError("unavailable", f"NATS cannot be reached at {at}: {fix}")
            raise failure from fault
        client._owns = True
        return client


def _require_ports(servers: list[str], at: str) -> None:
    try:
        for server in servers:
            # Raises for a port that is no number, and quotes it: it may be part of a password.
            urlsplit(server if "://" in server else f"//{server}").port
    except ValueError:
        use = "use nats://host:port; in a user or a password write / as %2F and a comma as %2C"
        raise ThroughlineError("config_invalid", f"url, at {at}, has a port that is no number: {use}") from None


class Client:
    """A connection to Throughline. `Client(nc)` uses a connection of nats-py that you have, and leaves it open."""

    def __init__(self, nc: Nats, *, timeout: float = 10.0) -> None:
        self._nc = nc
        self._timeout = timeout
        self._owns = False
        self._asking: dict[str, set[asyncio.Future[Any]]] = {}
        self._denied: set[asyncio.Future[Any]] = set()
        self.tools = ClientTools(self._send)
        self.learnings = Learnings(self._send)
        self.proposals = Proposals(self._send)

    def session(self, id: str) -> "Session":
        """Returns a handle on a session, which need not exist yet."""
        if not isinstance(id, str) or not _SESSION.match(id):
            use = "use 1 to 64 characters of A-Z a-z 0-9 _ and -"
            raise ThroughlineError("token_invalid", f"session is {id!r}: {use}")
        return Session(self, id)

    async def request(self, subject: str, body: Mapping[str, Any], timeout: float | None = None) -> Any:
        """Sends any request, such as `tool.session-list`, and returns its reply as the service spells it."""
        if not isinstance(subject, str) or not _SUBJECT.match(subject):
            raise ThroughlineError("token_invalid", f"subject is {subject!r}: use a name such as tool.session-list")
        session = body.get("session")
        beyond = body.get("project") is not None or body.get("tasksPath") is not None
        if isinstance(session, str) and _SESSION.match(session) and not beyond:
            subject = f"{subject}.{session}"
        data = _json(body, "the request")
        asking = self._nc.request(subject, data, timeout=timeout or self._timeout)
        message = await self._answered(subject, asking)
        headers = message.headers or {}
        try:
            reply = json.loads(message.data)
        except (ValueError, RecursionError):
            reply = None
        if "Nats-Service-Error-Code" in headers:
            raise refusal_of(reply, headers.get("Nats-Service-Error", ""))
        if headers.get(_VERSION, "1") != "1":
            use = "use the same version on both sides"
            raise ThroughlineError("reply_invalid", f"{subject} is answered in version {headers[_VERSION]}: {use}")
        if reply is None:
            why = "the answer is not JSON. Does another service listen there?"
            raise ThroughlineError("internal", f"{subject}: {why}")
        return reply

    async def _send(self, name: str, fields: Mapping[str, Any], session: str | None = None) -> Any:
        # `is` and `from` are words of Python: `is_` stands for them.
        given = {field.rstrip("_"): value for field, value in fields.items() if value is not None}
        about = {} if session is None else {"session": session}
        return spelled(await self.request(name, {**given, **about}))

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
                js = self._nc.jetstream()
                storing = js.publish(subject, data, timeout=wait, stream="DISPATCH", headers=headers)
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
    """A session of a client, by `client.session(id)`. `tools`, `runs` and `traces` have a method for each request."""

    def __init__(self, client: Client, id: str) -> None:
        self.client = client
        self.id = id
        self._send = partial(client._send, session=id)
        self.tools = Tools(self._send)
        self.runs = Runs(self._send)
        self.traces = Traces(self._send)

    async def publish(
        self,
        role: t.Role,
        result: t.ImplementerResult | t.ReviewerResult | t.ObserverResult | Mapping[str, Any] | str | bytes,
        *,
        wait: bool = False,
        message_id: str | None = None,
        timeout: float = 30.0,
    ) -> Published:
        """Publishes what an agent returned: its text as it is, or a result that your program builds.

        Tries again for `timeout` seconds, under one id, until the result is stored: it counts once. `wait` also waits until
        the session has read it. A dict may have the fields of its role alone; text is repaired where that is possible.
        """
        if role not in t.RESULTS:
            raise ThroughlineError("schema_invalid", f"role is {role!r}: use {', '.join(t.RESULTS)}")
        if isinstance(result, (str, bytes)):
            # A text may hold halves of characters, if its bytes were not UTF-8.
            data = result.encode(errors="replace") if isinstance(result, str) else result
        elif not isinstance(result, Mapping):
            use = "give a dict, or the text that the agent returned"
            raise ThroughlineError("schema_invalid", f"result is a {type(result).__name__}: {use}")
        else:
            _check_fields(result, role)
            data = _json(result, "result")
        if message_id is not None and not (isinstance(message_id, str) and _MESSAGE_ID.match(message_id)):
            use = "use 1 to 256 printable ASCII characters without spaces"
            raise ThroughlineError("schema_invalid", f"message_id is {message_id!r}: {use}")
        # No one else can guess it, and so no one else can use it first.
        id = message_id or f"{self.id}:{secrets.token_hex(16)}"
        published, attempts = await self.client._publish(f"dispatch.{self.id}.{role}", data, id, timeout)
        stored = Published(published.sequence, published.duplicate and message_id is not None and attempts == 1)
        return replace(stored, result=await self._result_of(stored)) if wait else stored

    @overload
    async def compile(self, **request: Unpack[t.DispatchRequest]) -> t.DispatchReply: ...
    @overload
    async def compile(self, **request: Unpack[t.IterationRequest]) -> t.IterationReply: ...
    @overload
    async def compile(self, **request: Unpack[t.SessionStartRequest]) -> t.SessionStartReply: ...
    async def compile(self, **request: Any) -> Any:
        """Requests the next prompt, which has the kind of the request; with `after`, one that knows that result."""
        waiting = {"after_timeout_ms": self._patience_ms()} if request.get("after") is not None else {}
        return await self._send("prompt.compile", {**waiting, **request})

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
            at = after if after is not None else (await self.tools.timeline_list(limit=1))["sequence"]
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

    async def _since(self, after: int) -> tuple[list[t.TimelineEntry], int]:
        listed = partial(self.tools.timeline_list, kinds=["result", "rejected", "command", "trace"], limit=500)
        page = await listed(after=after)
        # The newest first: a later page may see more than the first one did. A session that was replaced is followed from its end.
        through, entries = page["sequence"], page["entries"]
        while "next" in page:
            page = await listed(after=after, cursor=page["next"])
            entries += page["entries"]
        return entries[::-1], through

    async def _result_of(self, stored: Published) -> t.DispatchShowReply:
        try:
            return await self.tools.dispatch_show(dispatch=stored.sequence, timeout_ms=self._patience_ms())
        except ThroughlineError as error:
            message = f"stored as result {stored.sequence}, but what became of it is not known: {error.message}"
            raise ThroughlineError(error.code, message, {**error.details, "dispatch": stored.sequence}) from error

    def _patience_ms(self) -> int:
        """The service's own time is shorter: its refusal explains the state, a timeout of ours would not."""
        return int(self.client._timeout * 800)


def _json(value: Mapping[str, Any], name: str) -> bytes:
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError) as fault:
        raise ThroughlineError("schema_invalid", f"{name} cannot be written as JSON: {fault}") from fault


def _check_fields(result: Mapping[str, Any], role: t.Role) -> None:
    """A misspelled field would be lost without a word."""
    known = t.RESULTS[role].__annotations__
    for name in result:
        if name not in known:
            near = difflib.get_close_matches(str(name), known, 1)
            use = f"did you mean {near[0]}?" if near else f"use one of {', '.join(known)}"
            raise ThroughlineError("schema_invalid", f"{name} is not a field of a result of role {role}: {use}")
