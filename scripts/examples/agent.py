"""One round of an agent with Throughline: take a task, ask for its prompt, ask a model, publish what it returned.

    pip install nats-py
    python agent.py demo        # NATS_URL and MODEL_URL (a chat completions endpoint) say where
"""

import asyncio
import json
import os
import sys
import urllib.request
import uuid

import nats


async def ask(nc, subject, **request):
    """The reply of a service. An error reply has a code, and a message that says what to do."""
    message = await nc.request(subject, json.dumps(request).encode(), timeout=10)
    reply = json.loads(message.data)
    if "error" in reply:
        raise RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}")
    return reply


async def publish(js, session, role, text):
    """Publishes a result until it is stored, and gives its sequence. One id per result: it counts once."""
    headers = {"Nats-Msg-Id": f"{session}:{uuid.uuid4()}"}
    for pause in (0.25, 0.5, 1, 2, 4, 8, None):
        try:
            return (await js.publish(f"dispatch.{session}.{role}", text.encode(), headers=headers)).seq
        except Exception:
            if pause is None:
                raise
            await asyncio.sleep(pause)


def model(messages):
    """What the model answers: its text holds the result, which Throughline finds and repairs."""
    body = json.dumps({"model": os.environ.get("MODEL", "any"), "messages": messages}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('MODEL_KEY', '')}"}
    with urllib.request.urlopen(urllib.request.Request(os.environ["MODEL_URL"], body, headers)) as response:
        return json.load(response)["choices"][0]["message"]["content"]


async def main(session):
    nc = await nats.connect(os.environ.get("NATS_URL", "nats://127.0.0.1:4222"))
    try:
        task = (await ask(nc, "tool.task-next", session=session, claim="agent-py"))["task"]
        if task is None:
            return print("no task is ready")
        prompt = await ask(
            nc, "prompt.compile", session=session, taskId=task["id"], taskPrompt=task["content"]
        )
        answer = await asyncio.to_thread(model, prompt["messages"])
        sequence = await publish(nc.jetstream(), session, "implementer", answer)
        result = await ask(nc, "tool.dispatch-show", session=session, dispatch=sequence)
        if result["status"] == "rejected":
            return print(f"{task['id']}: {result['reason']}")
        await ask(nc, "tool.task-status", session=session, id=task["id"], status="completed")
        print(f"{task['id']}: {result['status']}, {len(result.get('facts', []))} facts")
    finally:
        await nc.close()


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "demo"))
