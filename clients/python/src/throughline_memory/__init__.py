"""Throughline: publish what agents returned, and compile their next prompts.

    async with throughline_memory.connect() as client:
        session = client.session("demo")
        done = {"task_id": "1", "status": "completed", "summary": "Parser done"}
        published = await session.publish(done, role="implementer")
        reply = await session.prompt("2", "Extend the parser", after=published.sequence)
        print(reply["prompt"])

`throughline_memory.sync` is the same without asyncio.
"""

from . import sync, types
from .client import Client, Published, Session, connect
from .errors import ThroughlineError

__all__ = ["Client", "Published", "Session", "ThroughlineError", "connect", "sync", "types"]
