"""Throughline in a LangGraph: the first node gets the prompt of a task, the last one publishes the result."""

import asyncio
import json
import os

import throughline_memory
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SESSION = os.environ.get("THROUGHLINE_SESSION", "demo")


class State(MessagesState):
    task: dict
    published: throughline_memory.Published


def graph_on(session):
    async def begin(state):
        task = state["task"]
        prompt = await session.compile(task_id=task["id"], task_prompt=task["content"], include=["messages"])
        return {"messages": prompt["messages"]}

    @tool
    async def recall(query: str) -> str:
        """Facts that earlier agents left, by one or two words that stand in them."""
        facts = (await session.tools.fact_find(text=query))["facts"]
        print(f"recall {query}: {len(facts)} found")
        return json.dumps(facts)

    model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "any")).bind_tools([recall])

    async def agent(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    async def publish(state):
        # The text as the model returned it: Throughline finds the result in it, and repairs it.
        text = state["messages"][-1].text
        return {"published": await session.publish("implementer", text, wait=True)}

    nodes = StateGraph(State).add_sequence([begin, agent]).add_node("tools", ToolNode([recall])).add_node(publish)
    nodes.add_edge(START, "begin").add_edge("tools", "agent").add_edge("publish", END)
    return nodes.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "publish"}).compile()


async def main():
    async with throughline_memory.connect() as client:
        session = client.session(SESSION)
        task = (await session.tools.task_next(claim="langgraph"))["task"]
        if task is None:
            return print(f'no task is ready: throughline task add "…" --session {SESSION}')
        print(f"{task['id']}: {task['content']}")
        published = (await graph_on(session).ainvoke({"task": task}))["published"]
        result = published.result
        print(f"result {published.sequence}: {result['status']}, {len(result.get('facts', []))} facts")
        review = {"task_id": task["id"], "task_prompt": task["content"], "role": "reviewer"}
        print((await session.compile(**review, after=published.sequence))["prompt"])


asyncio.run(main())
