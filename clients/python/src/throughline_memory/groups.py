"""What the methods of `methods.py` share: they send a request by its name, or wait for one that does, and spell its reply."""

import re
from functools import update_wrapper
from typing import Any, Callable, Concatenate, Coroutine, Mapping, ParamSpec, Protocol, TypeVar

from .types import MAPS

_CAPITAL = re.compile("[A-Z]")

P = ParamSpec("P")
R = TypeVar("R")


class Send(Protocol):
    def __call__(self, name: str, fields: Mapping[str, Any], /) -> Coroutine[Any, Any, Any]: ...


class Run(Protocol):
    def __call__(self, work: Coroutine[Any, Any, R], /) -> R: ...


class Group:
    """Requests of one kind, each a coroutine."""

    def __init__(self, send: Send) -> None:
        self._send = send


class SyncGroup:
    """The same requests, each of which waits for its reply."""

    def __init__(self, run: Run, of: Any) -> None:
        self._run = run
        self._of = of


def blocking(
    method: Callable[Concatenate[Any, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Any, P], R]:
    """Returns the method of a `SyncGroup` that waits for a method of its group."""

    def call(self: SyncGroup, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(method(self._of, *args, **kwargs))

    update_wrapper(call, method)
    return call


def spelled(value: Any) -> Any:
    """A reply with its names in snake_case. Keys that are data stay as they are."""
    if isinstance(value, list):
        return [spelled(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name): of
        if name in MAPS and isinstance(of, dict)
        else spelled(of)
        for name, of in value.items()
    }
