"""One task with Throughline: claim it, get its prompt, let a model work, publish the result, read the next prompt."""

import asyncio
import json
import os
import urllib.request

import throughline_memory

SESSION = os.environ.get("THROUGHLINE_SESSION", "demo")
RECALL = {
    "name": "recall",
    "description": "Facts that earlier agents left, by one or two words that stand in them.",
    "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
}


def complete(messages):
    """The next message of the model, from any endpoint for chat completions."""
    body = {"model": os.environ.get("OPENAI_MODEL", "any"), "messages": messages}
    body["tools"] = [{"type": "function", "function": RECALL}]
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY')}"}
    url = f"{os.environ['OPENAI_BASE_URL']}/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as response:
        return json.load(response)["choices"][0]["message"]


async def work(session, messages):
    """Answers what the model wants to know until it has no more questions, and gives its last text."""
    while calls := (message := await asyncio.to_thread(complete, messages)).get("tool_calls"):
        messages = [*messages, message]
        for call in calls:
            query = json.loads(call["function"]["arguments"])["query"]
            facts = (await session.tools.fact_find(text=query))["facts"]
            print(f"recall {query}: {len(facts)} found")
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": json.dumps(facts)})
    return message["content"]


async def main():
    async with throughline_memory.connect() as client:
        session = client.session(SESSION)
        task = (await session.tools.task_next(claim="python"))["task"]
        if task is None:
            return print(f'no task is ready: throughline task add "…" --session {SESSION}')
        print(f"{task['id']}: {task['content']}")
        prompt = await session.compile(task_id=task["id"], task_prompt=task["content"], include=["messages"])
        # The text as the model returned it: Throughline finds the result in it, and repairs it.
        text = await work(session, prompt["messages"])
        published = await session.publish("implementer", text, wait=True)
        result = published.result
        print(f"result {published.sequence}: {result['status']}, {len(result.get('facts', []))} facts")
        review = {"task_id": task["id"], "task_prompt": task["content"], "role": "reviewer"}
        print((await session.compile(**review, after=published.sequence))["prompt"])


asyncio.run(main())
