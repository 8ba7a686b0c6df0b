"""Throughline with the Claude Agent SDK: Claude gets the prompt of a task, and a tool that asks for facts of the session."""

import asyncio
import json
import os

import throughline_memory
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

SESSION = os.environ.get("THROUGHLINE_SESSION", "demo")


def memory_of(session):
    @tool("recall", "Facts that earlier agents left, by one or two words that stand in them.", {"query": str})
    async def recall(given):
        facts = (await session.tools.fact_find(text=given["query"]))["facts"]
        print(f"recall {given['query']}: {len(facts)} found")
        return {"content": [{"type": "text", "text": json.dumps(facts)}]}

    return create_sdk_mcp_server("memory", tools=[recall])


async def work(session, task):
    """Returns the last text of Claude."""
    prompt = await session.compile(task_id=task["id"], task_prompt=task["content"], include=["messages"])
    said = {message["role"]: message["content"] for message in prompt["messages"]}
    options = ClaudeAgentOptions(
        system_prompt=said["system"],
        mcp_servers={"memory": memory_of(session)},
        # A coding agent needs more: tools=["Read", "Edit", "Bash", …] and permission_mode="acceptEdits".
        tools=[],
        allowed_tools=["mcp__memory__recall"],
        setting_sources=[],
    )
    text = ""
    async for message in query(prompt=said["user"], options=options):
        if isinstance(message, ResultMessage):
            text = message.result or ""
    return text


async def main():
    async with throughline_memory.connect() as client:
        session = client.session(SESSION)
        task = (await session.tools.task_next(claim="claude"))["task"]
        if task is None:
            return print(f'no task is ready: throughline task add "…" --session {SESSION}')
        print(f"{task['id']}: {task['content']}")
        # The text as Claude returned it: Throughline finds the result in it, and repairs it.
        published = await session.publish("implementer", await work(session, task), wait=True)
        result = published.result
        print(f"result {published.sequence}: {result['status']}, {len(result.get('facts', []))} facts")
        review = {"task_id": task["id"], "task_prompt": task["content"], "role": "reviewer"}
        print((await session.compile(**review, after=published.sequence))["prompt"])


asyncio.run(main())
