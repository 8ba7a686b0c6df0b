"""The same without asyncio: `with throughline_memory.sync.connect() as client`. Requests run on a thread of the client."""

import asyncio
import threading
from functools import update_wrapper
from typing import Any, Callable, Coroutine, Iterator, Mapping, ParamSpec, Self, TypeVar, Unpack, overload

from . import client as aio
from . import types as t
from .errors import ThroughlineError
from .groups import SyncGroup, blocking
from .methods import SyncClientTools, SyncLearnings, SyncProposals, SyncRuns, SyncTools, SyncTraces

P = ParamSpec("P")
R = TypeVar("R")


def _connecting(_: Callable[P, object]) -> "Callable[P, Client]":
    def call(*args: P.args, **kwargs: P.kwargs) -> "Client":
        return Client(*args, **kwargs)

    update_wrapper(call, aio.connect)
    return call


connect = _connecting(aio.connect)


class Client:
    """A connection to Throughline, by `connect`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="throughline", daemon=True)
        self._thread.start()
        try:
            self._client = self._run(_connected(*args, **kwargs))
        except BaseException:
            self._stop()
            raise
        self.tools = SyncClientTools(self._run, self._client.tools)
        self.learnings = SyncLearnings(self._run, self._client.learnings)
        self.proposals = SyncProposals(self._run, self._client.proposals)

    def session(self, id: str) -> "Session":
        """Returns a handle on a session, which need not exist yet."""
        return Session(self, self._client.session(id))

    def request(self, subject: str, body: Mapping[str, Any]) -> Any:
        """Sends any request, and returns its reply."""
        return self._run(self._client.request(subject, body))

    def close(self) -> None:
        """Closes the connection, and ends the thread."""
        if self._thread.is_alive():
            self._run(self._client.close())
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, R]) -> R:
        if self._loop.is_closed():
            work.close()
            raise ThroughlineError("unavailable", "the client is closed", {"closed": True})
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Session(SyncGroup):
    """A session of a client: the methods of `throughline_memory.Session`, each of which waits for its reply."""

    def __init__(self, client: Client, session: aio.Session) -> None:
        super().__init__(client._run, session)
        self.id = session.id
        self.tools = SyncTools(client._run, session.tools)
        self.runs = SyncRuns(client._run, session.runs)
        self.traces = SyncTraces(client._run, session.traces)

    publish = blocking(aio.Session.publish)

    @overload
    def compile(self, **request: Unpack[t.DispatchRequest]) -> t.DispatchReply: ...
    @overload
    def compile(self, **request: Unpack[t.IterationRequest]) -> t.IterationReply: ...
    @overload
    def compile(self, **request: Unpack[t.SessionStartRequest]) -> t.SessionStartReply: ...
    def compile(self, **request: Any) -> Any:
        """Requests the next prompt, as `throughline_memory.Session.compile` does."""
        return self._run(self._of.compile(**request))

    def watch(self, after: int | None = None) -> Iterator[t.TimelineEntry]:
        """Yields what happens in the session, as `throughline_memory.Session.watch` does."""
        events = self._of.watch(after)
        try:
            while True:
                try:
                    yield self._run(_next(events))
                except StopAsyncIteration:
                    return
        finally:
            self._run(_closed(events))


async def _connected(*args: Any, **kwargs: Any) -> aio.Client:
    return await aio.connect(*args, **kwargs)


async def _next(events: Any) -> t.TimelineEntry:
    return await anext(events)


async def _closed(events: Any) -> None:
    await events.aclose()
