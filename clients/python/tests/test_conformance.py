"""The cases of clients/conformance/cases.json, against the services at NATS_URL."""

import json
import os
import secrets
import unittest
from dataclasses import asdict
from pathlib import Path
from typing import Any

import throughline_memory
from throughline_memory import ThroughlineError

CASES = json.loads((Path(__file__).parents[2] / "conformance" / "cases.json").read_text())["cases"]
GROUPS = {"tool": "tools", "run": "runs", "trace": "traces", "learning": "learnings", "proposal": "proposals"}
TYPES = {"string": str, "number": int}
LATER = {"expect", "error", "then"}
"""Parts of a step that name replies which are not there yet when it begins."""


class Player:
    """Plays the steps of one case in a session of its own."""

    def __init__(self, client: throughline_memory.Client) -> None:
        self.client = client
        self.session = client.session(f"py-{secrets.token_hex(6)}")
        self.known: dict[str, Any] = {}

    async def play(self, step: dict[str, Any]) -> None:
        try:
            given = {key: of if key in LATER else self.filled(of) for key, of in step.items()}
            reply = await self.reply_to(given)
        except ThroughlineError as error:
            if "error" not in step:
                raise
            assert error.fix, f"{error.code} has no fix"
            told = {"code": error.code, "message": error.message, "fix": error.fix, "details": error.details}
            return self.check(told, step["error"])
        assert "error" not in step, f"it is answered: {reply}"
        self.known[step.get("as", "")] = reply
        self.check(reply, step.get("expect", {}))

    async def reply_to(self, step: dict[str, Any]) -> Any:
        match step:
            case {"open": name}:
                return self.client.session(name).id
            case {"publish": role}:
                given = {name: step[name] for name in ("wait", "message_id") if name in step}
                return asdict(await self.session.publish(role, step.get("result", step.get("text")), **given))
            case {"watch": after}:
                return await self.watched(after, len(step["expect"]), step.get("then", []))
            case {"send": "prompt.compile", "fields": fields}:
                return await self.session.compile(**fields)
            case {"send": name, "fields": fields}:
                group, _, method = name.replace("-", "_").partition(".")
                # A request about a session is a method of it, any other one of the client.
                for owner in (self.session, self.client):
                    if found := getattr(getattr(owner, GROUPS[group], None), method, None):
                        return await found(**{f"{key}_" if key == "is" else key: of for key, of in fields.items()})
        raise AssertionError(f"no such step: {step}")

    async def watched(self, after: int, count: int, then: list[dict[str, Any]]) -> list[Any]:
        """The first events after a sequence; the steps are played once the watch has told an event."""
        seen: list[Any] = []
        async for event in self.session.watch(after=after):
            seen.append(event)
            while then:
                await self.play(then.pop(0))
            if len(seen) == count:
                return seen
        raise AssertionError("the watch has ended")

    def filled(self, value: Any) -> Any:
        """The value with what `$name.path` stands for: `$work.sequence` is the sequence in the reply that is called work."""
        if isinstance(value, list):
            return [self.filled(each) for each in value]
        if isinstance(value, dict):
            return {key: self.filled(of) for key, of in value.items()}
        if not isinstance(value, str):
            return value
        text = value.replace("$session", self.session.id)
        found: Any = self.known
        for key in text[1:].split(".") if text.startswith("$") else ():
            found = found[int(key)] if isinstance(found, list) else found[key]
        return text if found is self.known else found

    def check(self, value: Any, expected: Any, at: str = "reply") -> None:
        said = f"{at} is {value!r}"
        match self.filled(expected):
            case {"$has": _} | {"$lacks": _} as text:
                assert text.get("$has", "") in value and ("$lacks" not in text or text["$lacks"] not in value), said
            case {"$is": kind}:
                assert isinstance(value, TYPES[kind]), said
            case {"$some": item}:
                for each in value:
                    try:
                        return self.check(each, item)
                    except AssertionError:
                        continue
                raise AssertionError(said)
            case dict(fields):
                for name, of in fields.items():
                    assert name in value, f"{at} has no {name}: {value!r}"
                    self.check(value[name], of, f"{at}.{name}")
            case list(items):
                assert len(value) == len(items), said
                for index, of in enumerate(items):
                    self.check(value[index], of, f"{at}.{index}")
            case other:
                assert value == other, f"{said}, not {other!r}"


class ConformanceTest(unittest.IsolatedAsyncioTestCase):
    async def test_the_client_does_what_the_cases_say(self) -> None:
        self.assertGreater(len(CASES), 10)
        async with throughline_memory.connect(os.environ["NATS_URL"]) as client:
            for case in CASES:
                player = Player(client)
                for number, step in enumerate(case["steps"], 1):
                    with self.subTest(case["name"], step=number):
                        await player.play(step)


if __name__ == "__main__":
    unittest.main()
