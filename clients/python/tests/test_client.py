"""The client against the services at NATS_URL. At GUARDED_URL, the user `guest` may publish in the session `mine` alone."""

import asyncio
import json
import os
import secrets
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

import nats
import throughline_memory
from throughline_memory import ThroughlineError
from throughline_memory.discovery import named_server, own_server

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

    async def test_a_result_that_is_published_twice_under_one_id_counts_once(self) -> None:
        id = f"{self.session.id}:{secrets.token_hex(16)}"
        first = await self.session.publish(done("1"), role="implementer", message_id=id, wait=True)
        again = await self.session.publish(done("1"), role="implementer", message_id=id)
        self.assertEqual(first.result["status"], "recorded")
        self.assertEqual((again.sequence, again.duplicate), (first.sequence, True))

    async def test_text_is_repaired_and_the_next_prompt_has_it(self) -> None:
        text = 'Done.\nBEGIN_DISPATCH_RESULT\n{"task_id":"1","status":"done","summary":"Parser works"}\nEND_DISPATCH_RESULT'
        published = await self.session.publish(text, role="implementer")
        reply = await self.session.prompt(
            "2", "Extend the parser", after=published.sequence, include=["messages"], budget={"input_tokens": 3000}
        )
        self.assertIn("Parser works", reply["prompt"])
        self.assertEqual(reply["messages"][0]["role"], "system")

    async def test_a_result_that_cannot_be_read_says_why(self) -> None:
        published = await self.session.publish("no result", role="implementer", wait=True)
        self.assertEqual(published.result["status"], "rejected")
        error = await self.refused("dispatch_rejected", self.session.prompt("1", "x", after=published.sequence))
        self.assertTrue(error.fix)

    async def test_a_misspelled_field_or_role_is_not_sent(self) -> None:
        error = await self.refused("schema_invalid", self.session.publish(done("1", sumary="x"), role="implementer"))
        self.assertEqual(error.message, "sumary is not a field of a result of role implementer: did you mean summary?")
        for result in (done("1"), "text"):
            error = await self.refused("schema_invalid", self.session.publish(result, role="boss"))
            self.assertEqual(error.message, "role is 'boss': use one of implementer, reviewer, observer")
        error = await self.refused("schema_invalid", self.session.publish(None, role="implementer"))
        self.assertIn("give a dict", error.message)
        await self.refused("schema_invalid", self.session.publish(done("1"), role="implementer", message_id="a b"))
        for name in ("a b", 5):
            with self.assertRaises(ThroughlineError):
                self.client.session(name)

    async def test_the_board(self) -> None:
        session = self.session
        first = await session.task_add("Write the parser", priority=0)
        second = await session.task_add("Write the printer", depends_on=[first["id"]])
        self.assertEqual((await session.task_claim("a"))["task"]["id"], first["id"])
        await session.task_release(first["id"], note="half done")
        self.assertEqual((await session.task_complete(first["id"]))["status"], "completed")
        blocked = await session.task_status(second["id"], "blocked", reason="no printer")
        self.assertEqual(blocked["reason"], "no printer")
        self.assertEqual([task["id"] for task in await session.task_list("blocked")], [second["id"]])
        await session.note_add("Use tabs", type="decision")
        self.assertEqual([note["content"] for note in await session.note_list("decision")], ["Use tabs"])
        self.assertEqual((await session.inbox_add("Stop"))["content"], "Stop")

    async def test_an_answer_reaches_the_next_prompt(self) -> None:
        asking = {"task_id": "1", "status": "blocked", "summary": "x", "blockers": ["Which port?"]}
        published = await self.session.publish(asking, role="implementer", wait=True)
        self.assertEqual((await self.session.answer("1", "9464", by="anna"))["questions"], ["Which port?"])
        self.assertIn("9464", (await self.session.prompt("1", "Serve", after=published.sequence))["prompt"])
        self.assertEqual((await self.session.run_status())["session"]["name"], self.session.id)

    async def test_facts_are_found_also_those_that_are_closed(self) -> None:
        await self.session.publish(done("1", files_modified=["src/parser.ts"]), role="implementer", wait=True)
        found = await self.session.fact_find("parser", is_="all")
        self.assertIn("src/parser.ts", [fact["subject"] for fact in found])

    async def test_an_error_has_code_message_and_fix(self) -> None:
        error = await self.refused("not_found", self.session.fact_find("x"))
        self.assertIn(self.session.id, error.message)
        self.assertTrue(error.fix)
        error = await self.refused("schema_invalid", self.session.tool("task-add", contnet="x"))
        self.assertIn("did you mean content", error.message)

    async def test_a_watch_tells_what_happens_once_and_in_its_order(self) -> None:
        await self.session.note_add("Before")
        events = self.session.watch()
        first = asyncio.create_task(anext(events))
        while not first.done():
            await self.session.note_add("Then")
            await asyncio.wait({first}, timeout=0.1)
        self.assertEqual((first.result()["kind"], first.result()["type"]), ("command", "note.added"))
        await self.session.publish(done("1"), role="implementer", wait=True)
        seen = [first.result()["sequence"]]
        async for event in events:
            seen.append(event["sequence"])
            if event["kind"] == "result":
                break
        self.assertEqual(seen, list(range(seen[0], seen[0] + len(seen))))

    async def test_a_connection_of_the_caller_stays_open(self) -> None:
        nc = await nats.connect(URL)
        async with throughline_memory.Client(nc) as client:
            await client.session(new_session()).note_add("x")
        self.assertTrue(nc.is_connected)
        await nc.close()

    async def test_a_server_that_is_not_there_is_said_at_once(self) -> None:
        began = time.monotonic()
        error = await self.refused("unavailable", connected("nats://127.0.0.1:9"))
        self.assertIn("throughline up", error.message)
        self.assertLess(time.monotonic() - began, 3)

    async def test_access_that_cannot_be_used_is_named(self) -> None:
        await self.refused("config_invalid", connected("nats://127.0.0.1:x"))
        await self.refused("config_invalid", connected("nats://127.0.0.1:9", creds="/none/such.creds"))

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
            await mine.note_add("First")
            # A publisher hears no events, and still watches.
            async for event in mine.watch(after=0):
                self.assertEqual(event["type"], "note.added")
                break
            other = client.session("other")
            await self.refused("permission_denied", other.note_add("x"))
            await self.refused("permission_denied", other.publish(done("1"), role="implementer"))
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
            Path(state, "throughline", "team").write_text("nats://team:4222\n")
            self.assertEqual(named_server(), "nats://team:4222")
            os.environ["NATS_URL"] = "nats://named:4222"
            self.assertEqual(named_server(), "nats://named:4222")


class SyncTest(unittest.TestCase):
    def test_the_same_methods_without_asyncio(self) -> None:
        with throughline_memory.sync.connect(URL) as client:
            session = client.session(new_session())
            task = session.task_add("Write the parser")
            published = session.publish(done(task["id"], summary="Parser done"), role="implementer", wait=True)
            reply = session.prompt("2", "Extend the parser", after=published.sequence)
            self.assertIn("Parser done", reply["prompt"])
            events = session.watch(after=0)
            self.assertEqual([next(events)["type"], next(events)["type"]], ["task.added", "fact.recorded"])
            events.close()
            with self.assertRaises(ThroughlineError):
                session.task_complete("TAS-99")
            self.assertEqual(client.request("tool.session-list", {"text": session.id})["total"], 1)


if __name__ == "__main__":
    unittest.main()
