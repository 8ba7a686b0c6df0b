"""One task with Throughline: claim it, get its prompt, let a model work, publish the result, read the next prompt."""

import asyncio
import json
import os
import secrets
import urllib.request

import nats

SESSION = os.environ.get("THROUGHLINE_SESSION", "demo")
RECALL = {
    "name": "recall",
    "description": "Facts that earlier agents left, by one or two words that stand in them.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


async def ask(nc, subject, **request):
    """The reply of a service. An error reply has a code, and a message that says what to do."""
    message = await nc.request(subject, json.dumps({"session": SESSION, **request}).encode(), timeout=10)
    reply = json.loads(message.data)
    if "error" in reply:
        raise RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}")
    return reply


async def publish(nc, role, text):
    """Publishes a result until it is stored, and gives its sequence. One id per result: it counts once."""
    headers = {"Nats-Msg-Id": f"{SESSION}:{secrets.token_hex(16)}"}
    for pause in (0.25, 0.5, 1, 2, 4, 8, None):
        try:
            ack = await nc.jetstream().publish(f"dispatch.{SESSION}.{role}", text.encode(), headers=headers)
            return ack.seq
        except nats.errors.Error:
            if pause is None:
                raise
            await asyncio.sleep(pause)


def complete(messages):
    """The next message of the model, from any endpoint for chat completions."""
    body = {"model": os.environ.get("OPENAI_MODEL", "any"), "messages": messages}
    body["tools"] = [{"type": "function", "function": RECALL}]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY')}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        return json.load(response)["choices"][0]["message"]


async def work(nc, messages):
    """Answers what the model wants to know until it has no more questions, and gives its last text."""
    while calls := (message := await asyncio.to_thread(complete, messages)).get("tool_calls"):
        messages = [*messages, message]
        for call in calls:
            query = json.loads(call["function"]["arguments"])["query"]
            facts = (await ask(nc, "tool.fact-find", text=query))["facts"]
            print(f"recall {query}: {len(facts)} found")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(facts)})
    return message["content"]


async def main():
    async with await nats.connect(os.environ.get("NATS_URL", "nats://127.0.0.1:4222")) as nc:
        task = (await ask(nc, "tool.task-next", claim="python"))["task"]
        if task is None:
            return print(f"no task is ready: throughline tool task-add --session {SESSION} --content '…'")
        print(f"{task['id']}: {task['content']}")
        about = {"taskId": task["id"], "taskPrompt": task["content"]}
        prompt = await ask(nc, "prompt.compile", **about, include=["messages"])
        # The text as the model returned it: Throughline finds the result in it, and repairs it.
        dispatch = await publish(nc, "implementer", await work(nc, prompt["messages"]))
        result = await ask(nc, "tool.dispatch-show", dispatch=dispatch)
        print(f"dispatch {dispatch}: {result['status']}, {len(result.get('facts', []))} facts")
        print((await ask(nc, "prompt.compile", **about, role="reviewer", after=dispatch))["prompt"])


asyncio.run(main())
