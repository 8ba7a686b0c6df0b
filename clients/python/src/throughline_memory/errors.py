"""The error of this package, and the errors of NATS that become one."""

import asyncio
import re
from typing import Any, Mapping

import nats.errors
from nats.js.errors import APIError, NoStreamResponseError

from .groups import spelled
from .types import FIXES


_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""What would act on a terminal, or forge a line of a log: a message quotes names and values of others."""


class ThroughlineError(Exception):
    """A request was refused, or could not be answered. Branch on `code`: it is stable, messages are not."""

    def __init__(self, code: str, message: str, details: Mapping[str, Any] | None = None) -> None:
        message = _UNSEEN.sub(lambda unseen: f"\\u{ord(unseen[0]):04x}", message)
        super().__init__(f"{message} ({code})")
        self.code = code
        """A code of docs/reference/errors.md, such as `not_found`."""
        self.message = message
        """What is wrong, with the field and the value."""
        self.details: dict[str, Any] = dict(details or {})
        """What the code needs to be acted on; for example `message_id` of a result that may be stored."""

    @property
    def fix(self) -> str:
        """How to correct it."""
        return str(self.details.get("fix") or FIXES.get(self.code, ""))


_STORE_FULL = {10023, 10025, 10028, 10047, 10077}
_GONE = (nats.errors.ConnectionClosedError, nats.errors.ConnectionDrainingError)


def refusal_of(reply: Any, status: str) -> ThroughlineError:
    """Returns the error that a service answers with."""
    match reply:
        case {"error": {"code": str(code), "message": str(message), **more}}:
            details = spelled(more.get("details"))
            return ThroughlineError(code if code in FIXES else "internal", message, details if isinstance(details, dict) else None)
        case _:
            return ThroughlineError("internal", status or "the service failed")


def error_of(fault: BaseException, subject: str) -> ThroughlineError:
    """Returns the error that stands for one of the NATS client."""
    match fault:
        case ThroughlineError():
            return fault
        case NoStreamResponseError():
            start = 'start Throughline on this server with "throughline up"'
            return ThroughlineError("unavailable", f"no stream takes {subject}: {start}")
        case nats.errors.NoRespondersError():
            start = 'check the name, or start the services with "throughline up"'
            return ThroughlineError("unavailable", f"no service answers {subject}: {start}")
        case nats.errors.MaxPayloadError():
            return ThroughlineError("too_large", f"{subject}: the message exceeds max_payload of the server")
        case APIError(err_code=code) if code in _STORE_FULL:
            return ThroughlineError("store_full", f"{subject}: {fault.description}")
        case nats.errors.Error() if "authorization violation" in str(fault).lower():
            return ThroughlineError("auth_failed", f"{subject}: the server rejects the credentials")
        case nats.errors.TimeoutError() | asyncio.TimeoutError():
            return ThroughlineError("unavailable", f"{subject}: no answer in time")
        case _:
            closed = {"closed": True} if isinstance(fault, _GONE) else None
            return ThroughlineError("unavailable", f"{subject}: {fault or type(fault).__name__}", closed)
