"""Throughline: publish what agents returned, and compile their next prompts.

    async with throughline_memory.connect() as client:
        session = client.session("demo")
        done = {"task_id": "1", "status": "completed", "summary": "Parser done"}
        published = await session.publish("implementer", done)
        reply = await session.compile(task_id="2", task_prompt="Extend the parser", after=published.sequence)
        print(reply["prompt"])

`throughline_memory.sync` is the same without asyncio.
"""

from . import sync, types
from .client import Client, Published, Session, connect
from .errors import ThroughlineError

__all__ = ["Client", "Published", "Session", "ThroughlineError", "connect", "sync", "types"]
