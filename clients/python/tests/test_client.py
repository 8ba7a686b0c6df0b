"""The client against the services at NATS_URL. At GUARDED_URL, the user `guest` may publish in the session `mine` alone."""

import asyncio
import hashlib
import json
import os
import secrets
import socket
import ssl
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import nats
import throughline_memory
from nats.aio.msg import Msg
from throughline_memory import ThroughlineError
from throughline_memory.discovery import OwnServer, joined_access, named_server, own_server, token_of_named
from throughline_memory.groups import spelled

URL = os.environ["NATS_URL"]


def new_session() -> str:
    return f"py-{secrets.token_hex(6)}"


def done(task: str, **more) -> dict:
    return {"task_id": task, "status": "completed", "summary": f"did {task}", **more}


async def connected(url: str | None, **access) -> throughline_memory.Client:
    return await throughline_memory.connect(url, **access)


def write_pid_file(state: str, url: str, **server: object) -> Path:
    """Writes that this process is the user's own server, unless `server` says otherwise; returns the store."""
    store = Path(state, "throughline", "server")
    store.mkdir(parents=True, exist_ok=True)
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    started = f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {fields[19]}"
    server = server or {"pid": os.getpid(), "started": started}
    (store / "throughline-server.pid").write_text(json.dumps({"starter": server, "server": server, "url": url}))
    return store


LISTENER = """
import socket, sys
listening = socket.create_server((sys.argv[1], 0), family=socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, dualstack_ipv6=":" in sys.argv[1])
print(listening.getsockname()[1], flush=True)
sys.stdin.read()
"""


class ClientTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = await throughline_memory.connect(URL)
        self.session = self.client.session(new_session())

    async def asyncTearDown(self) -> None:
        await self.client.close()

    async def refused(self, code: str, work) -> ThroughlineError:
        with self.assertRaises(ThroughlineError) as raised:
            await work
        self.assertEqual(raised.exception.code, code)
        return raised.exception

    async def test_what_cannot_be_sent_is_named(self) -> None:
        session = self.session
        for result in (None, 5, {5: "x"}, done("1", summary={1, 2}), done("1", summary=float("nan"))):
            await self.refused("schema_invalid", session.publish("implementer", result))
        await self.refused("schema_invalid", session.publish("implementer", "text", message_id=5))
        await self.refused("schema_invalid", session.tools.note_add(content=object()))
        for name in ("a b", "a\n", "", 5, None):
            with self.assertRaises(ThroughlineError):
                self.client.session(name)
        for subject in ("tool.>", "tool.*", "tool.x\r\nPUB a 0\r\n\r\n", "", ".", None):
            await self.refused("token_invalid", self.client.request(subject, {}))

    async def test_half_a_character_of_an_agents_text_is_sent_as_a_question_mark(self) -> None:
        text = json.dumps(done("1", summary="caf\udce9 open"), ensure_ascii=False)
        await self.session.publish("implementer", text, wait=True)
        found = await self.session.tools.fact_find(text="open")
        self.assertEqual([fact["object"] for fact in found["facts"]], ["caf? open"])

    async def test_names_of_a_reply_are_in_snake_case_and_keys_that_are_data_as_they_are(self) -> None:
        reply = await self.session.compile(task_id="1", task_prompt="x")
        self.assertEqual([name for name in reply if name != name.lower()], [])
        self.assertIn("facts_shown", reply)
        event = {"camelCase": {"deepName": 1}}
        self.assertEqual(spelled({"someName": [{"aB": 1}], "event": event}), {"some_name": [{"a_b": 1}], "event": event})

    async def test_a_watch_tells_what_comes_after_it_began(self) -> None:
        events = self.session.watch()
        first = asyncio.create_task(anext(events))
        while not first.done():
            # The same words again would be the same note, and no event.
            await self.session.tools.note_add(content=f"Then {secrets.token_hex(4)}")
            await asyncio.wait({first}, timeout=0.1)
        self.assertEqual(first.result()["type"], "note.added")
        await events.aclose()

    async def test_a_result_whose_fate_is_not_known_is_said_to_be_stored(self) -> None:
        late = mock.AsyncMock(side_effect=ThroughlineError("not_caught_up", "too late"))
        with mock.patch.object(self.session.tools, "dispatch_show", late):
            error = await self.refused("not_caught_up", self.session.publish("implementer", done("1"), wait=True))
        self.assertRegex(error.message, f"^stored as result {error.details['dispatch']}, .*: too late$")

    async def test_a_connection_of_the_caller_stays_open(self) -> None:
        nc = await nats.connect(URL)
        async with throughline_memory.Client(nc) as client:
            await client.session(new_session()).tools.note_add(content="x")
        self.assertTrue(nc.is_connected)
        await nc.close()

    async def test_a_server_that_is_not_there_is_said_at_once(self) -> None:
        began = time.monotonic()
        error = await self.refused("unavailable", connected("nats://127.0.0.1:9"))
        self.assertIn("throughline up", error.message)
        self.assertLess(time.monotonic() - began, 3)

    async def test_a_server_without_tls_is_sent_nothing_where_tls_is_wanted(self) -> None:
        where = URL.rpartition("//")[2]
        for url, access in ((f"tls://{where}", {}), (f"nats://{where}", {"tls": ssl.create_default_context()})):
            error = await self.refused("tls_failed", connected(url, **access))
            self.assertIn("it offers no TLS): check the URL", error.message)

    async def test_access_that_cannot_be_used_is_named(self) -> None:
        await self.refused("config_invalid", connected("nats://127.0.0.1:9", creds="/none/such.creds"))
        for url in ("nats://127.0.0.1:x", "nats://me:se,cret@127.0.0.1:9", "nats://me:se/cret@127.0.0.1:9"):
            error = await self.refused("config_invalid", connected(url))
            self.assertNotRegex(f"{error} {error.details}", "me|se,|cret|'se'")

    async def test_a_server_that_is_none_is_not_reached(self) -> None:
        for greeting in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0" * 200_000, b"INFO [1]\r\n", b"INFO {no}\r\n"):

            async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(greeting)
                writer.close()

            async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
                port = server.sockets[0].getsockname()[1]
                await self.refused("unavailable", connected(f"nats://127.0.0.1:{port}", timeout=3.0))

    async def test_what_another_service_answers_is_an_error_that_no_terminal_acts_on(self) -> None:
        answers = [
            (b"nope", {}, "internal"),
            (b"[" * 100_000, {}, "internal"),
            (b"{}", {"Throughline-Reply-Version": "9"}, "reply_invalid"),
            (b"", {"Nats-Service-Error-Code": "500", "Nats-Service-Error": "x\x1b[2J"}, "internal"),
            (b'{"error":{"code":"odd","message":"\\u001b[2J\\n\\u202e"}}', {"Nats-Service-Error-Code": "500"}, "internal"),
            (b'{"error":5}', {"Nats-Service-Error-Code": "500"}, "internal"),
        ]
        nc = await nats.connect(URL)
        for data, headers, code in answers:

            async def answer(message: Msg) -> None:
                await nc.publish(message.reply, data, headers=headers)

            subject = f"other.{secrets.token_hex(6)}"
            await nc.subscribe(subject, cb=answer)
            # Its PING may go out before what waits.
            for _ in range(2):
                await nc.flush()
            error = await self.refused(code, self.client.request(subject, {}))
            self.assertTrue(str(error).isprintable() and error.fix)
        await nc.close()

    async def test_a_refusal_is_told_also_when_the_server_resets_the_connection(self) -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            no_linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, no_linger)
            writer.write(b'INFO {"auth_required": true}\r\n')
            await reader.readuntil(b"PING\r\n")
            writer.write(b"-ERR 'Authorization Violation'\r\n")
            writer.close()

        server = await asyncio.start_server(refuse, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        for _ in range(5):
            await self.refused("auth_failed", connected(f"nats://127.0.0.1:{port}", user="a", password="b"))
        server.close()

    async def test_nothing_is_sent_to_a_server_with_the_id_of_another_store(self) -> None:
        received: asyncio.Queue[bytes] = asyncio.Queue()

        async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b'INFO {"server_name": "throughline-0123456789abcdef", "version": "2.12.0"}\r\n')
            await received.put(await reader.read(100))
            writer.close()

        server = await asyncio.start_server(greet, "127.0.0.1", 0)
        url = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state, NATS_URL=""):
            (write_pid_file(state, url) / "throughline-store-id").write_text("fedcba9876543210\n")
            # Also with a client of NATS that would not ask for the proof.
            for asked in (OwnServer._process_info, mock.AsyncMock()):
                with mock.patch.object(OwnServer, "_process_info", asked):
                    error = await self.refused("unavailable", connected(None))
                self.assertIn(f"the server at {url} is not yours: end it", error.message)
                # The end of the connection, and nothing before it.
                self.assertEqual(await asyncio.wait_for(received.get(), 5), b"")
        server.close()

    async def test_a_server_of_up_that_hangs_is_not_said_to_be_absent(self) -> None:
        # Takes connections, and never greets.
        with socket.create_server(("127.0.0.1", 0)) as silent, tempfile.TemporaryDirectory() as state:
            write_pid_file(state, f"nats://127.0.0.1:{silent.getsockname()[1]}")
            with mock.patch.dict(os.environ, XDG_STATE_HOME=state, NATS_URL=""):
                for timeout in (0.3, 10.0):
                    began = time.monotonic()
                    error = await self.refused("unavailable", connected(None, timeout=timeout))
                    self.assertIn(f"the server, process {os.getpid()}, does not answer: end it with", error.message)
                    self.assertLess(time.monotonic() - began, 4)

    async def test_a_user_reaches_the_sessions_it_may_use(self) -> None:
        url, password = os.environ["GUARDED_URL"], os.environ["GUARDED_PASSWORD"]
        guest = {"user": "guest", "password": password, "inbox_prefix": "_INBOX_guest"}
        async with throughline_memory.connect(url, **guest) as client:
            mine = client.session("mine")
            await mine.tools.note_add(content="First")
            # A publisher hears no events, and still watches.
            async for event in mine.watch(after=0):
                self.assertEqual(event["type"], "note.added")
                break
            other = client.session("other")
            await self.refused("permission_denied", other.tools.note_add(content="x"))
            await self.refused("permission_denied", other.publish("implementer", done("1")))
        await self.refused("auth_failed", connected(url, user="guest", password="wrong"))


class DiscoveryTest(unittest.TestCase):
    def test_the_server_of_up_is_found_with_its_token_while_it_runs(self) -> None:
        with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state):
            url = "nats://127.0.0.1:4333"
            store = write_pid_file(state, url)
            self.assertEqual(own_server(), (url, None, os.getpid()))
            (store / "throughline-token").write_text("secret\n")
            self.assertEqual(own_server(), (url, "secret", os.getpid()))
            # Another process may have the number of one that ended, or belong to another user.
            for server in ({"pid": os.getpid(), "started": "another time"}, {"pid": os.getpid()}, {"pid": 2**22 + 1}):
                write_pid_file(state, url, **server)
                with self.assertRaisesRegex(ThroughlineError, 'does not run: start it with "throughline up", or set NATS_URL'):
                    own_server()

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "a second user needs root")
    def test_a_listener_of_another_user_is_not_the_server_of_up(self) -> None:
        for host in ("127.0.0.1", "0.0.0.0", "::"):
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state):
                with subprocess.Popen(["/usr/bin/env", "python3", "-c", LISTENER, host], user=65534, **pipes) as other:
                    write_pid_file(state, f"nats://127.0.0.1:{other.stdout.readline().strip()}")
                    with self.assertRaisesRegex(ThroughlineError, "does not run"):
                        own_server()
                    other.stdin.close()

    def test_a_named_server_comes_first(self) -> None:
        with tempfile.TemporaryDirectory() as state, mock.patch.dict(os.environ, XDG_STATE_HOME=state, NATS_URL=""):
            self.assertIsNone(named_server())
            Path(state, "throughline").mkdir()
            for damaged in ("nats://team:4222", "7"):
                Path(state, "throughline", "team").write_text(damaged)
                with self.assertRaisesRegex(ThroughlineError, "team is damaged: .throughline team leave. removes it"):
                    named_server()
            joined = {"url": "tls://team:4222", "as": "ann", "access": {"nkey": "/k", "inboxPrefix": "_INBOX_ann"}}
            Path(state, "throughline", "team").write_text(json.dumps(joined))
            self.assertEqual(named_server(), "tls://team:4222")
            self.assertEqual(joined_access(), joined["access"])
            shop = Path(state, "shop").resolve()
            digest = hashlib.sha256(str(shop).encode()).hexdigest()[:12]
            of_project = Path(state, "throughline", "projects", f"shop-{digest}")
            for folder in (shop / ".git", shop / "src", of_project):
                folder.mkdir(parents=True)
            (of_project / "team").write_text('{"url": "nats://project:4222"}')
            with mock.patch.object(Path, "cwd", return_value=shop / "src"):
                self.assertEqual(named_server(), "nats://project:4222")
            os.environ["NATS_URL"] = "nats://named:4222"
            self.assertEqual(joined_access(), {})
            self.assertEqual(named_server(), "nats://named:4222")
            os.environ["NATS_TOKEN"] = "secret"
            self.assertEqual(token_of_named(), "secret")
            os.environ["NATS_URL"] = ""
            self.assertIsNone(token_of_named())


class SyncTest(unittest.TestCase):
    def test_the_same_methods_without_asyncio(self) -> None:
        with throughline_memory.sync.connect(URL) as client:
            session = client.session(new_session())
            task = session.tools.task_add(content="Write the parser")["task"]
            published = session.publish("implementer", done(task["id"], summary="Parser done"), wait=True)
            reply = session.compile(task_id="2", task_prompt="Extend the parser", after=published.sequence)
            self.assertIn("Parser done", reply["prompt"])
            events = session.watch(after=0)
            self.assertEqual([next(events)["type"], next(events)["type"]], ["task.added", "fact.recorded"])
            events.close()
            with self.assertRaises(ThroughlineError):
                session.tools.task_status(id="TAS-99", status="completed")
            self.assertEqual(client.tools.session_list(text=session.id)["total"], 1)
        with self.assertRaisesRegex(ThroughlineError, "the client is closed"):
            session.tools.note_list()


if __name__ == "__main__":
    unittest.main()
