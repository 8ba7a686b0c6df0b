"""The same without asyncio: `with throughline_memory.sync.connect() as client`. Requests run on a thread of the client."""

import asyncio
import threading
from functools import update_wrapper
from typing import Any, Callable, Concatenate, Coroutine, Iterator, Mapping, ParamSpec, Self, TypeVar

from . import client as aio
from . import types as t

P = ParamSpec("P")
R = TypeVar("R")


def _blocking(
    method: Callable[Concatenate[aio.Session, P], Coroutine[Any, Any, R]],
) -> "Callable[Concatenate[Session, P], R]":
    def call(self: "Session", /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._client._run(method(self._session, *args, **kwargs))

    update_wrapper(call, method)
    return call


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
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Session:
    """A session of a client: the methods of `throughline_memory.Session`, each of which waits for its reply."""

    def __init__(self, client: Client, session: aio.Session) -> None:
        self._client = client
        self._session = session
        self.id = session.id

    publish = _blocking(aio.Session.publish)
    result = _blocking(aio.Session.result)
    prompt = _blocking(aio.Session.prompt)
    task_add = _blocking(aio.Session.task_add)
    task_list = _blocking(aio.Session.task_list)
    task_claim = _blocking(aio.Session.task_claim)
    task_release = _blocking(aio.Session.task_release)
    task_status = _blocking(aio.Session.task_status)
    task_complete = _blocking(aio.Session.task_complete)
    note_add = _blocking(aio.Session.note_add)
    note_list = _blocking(aio.Session.note_list)
    inbox_add = _blocking(aio.Session.inbox_add)
    fact_find = _blocking(aio.Session.fact_find)
    recall = _blocking(aio.Session.recall)
    answer = _blocking(aio.Session.answer)
    run_status = _blocking(aio.Session.run_status)
    tool = _blocking(aio.Session.tool)

    def watch(self, after: int | None = None) -> Iterator[t.TimelineEntry]:
        """Yields what happens in the session, as `throughline_memory.Session.watch` does."""
        events = self._session.watch(after)
        try:
            while True:
                try:
                    yield self._client._run(_next(events))
                except StopAsyncIteration:
                    return
        finally:
            self._client._run(_closed(events))


async def _connected(*args: Any, **kwargs: Any) -> aio.Client:
    return await aio.connect(*args, **kwargs)


async def _next(events: Any) -> t.TimelineEntry:
    return await anext(events)


async def _closed(events: Any) -> None:
    await events.aclose()
