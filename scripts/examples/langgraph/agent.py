"""Throughline in a LangGraph: the first node gets the prompt of a task, the last one publishes the result."""

import asyncio
import json
import os
import secrets

import nats
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

SESSION = os.environ.get("THROUGHLINE_SESSION", "demo")


class State(MessagesState):
    about: dict
    dispatch: int


async def ask(nc, subject, **request):
    """The reply of a service. An error reply has a code, and a message that says what to do."""
    message = await nc.request(subject, json.dumps({"session": SESSION, **request}).encode(), timeout=10)
    reply = json.loads(message.data)
    if "error" in reply:
        raise RuntimeError(f"{reply['error']['code']}: {reply['error']['message']}")
    return reply


def graph_on(nc):
    async def begin(state):
        prompt = await ask(nc, "prompt.compile", **state["about"], include=["messages"])
        return {"messages": prompt["messages"]}

    @tool
    async def recall(query: str) -> str:
        """Facts that earlier agents left, by one or two words that stand in them."""
        facts = (await ask(nc, "tool.fact-find", text=query))["facts"]
        print(f"recall {query}: {len(facts)} found")
        return json.dumps(facts)

    model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "any")).bind_tools([recall])

    async def agent(state):
        return {"messages": [await model.ainvoke(state["messages"])]}

    async def publish(state):
        # The text as the model returned it: Throughline finds the result in it, and repairs it.
        text = state["messages"][-1].text.encode()
        headers = {"Nats-Msg-Id": f"{SESSION}:{secrets.token_hex(16)}"}  # one id per result: it counts once
        for pause in (0.25, 0.5, 1, 2, 4, 8, None):
            try:
                ack = await nc.jetstream().publish(f"dispatch.{SESSION}.implementer", text, headers=headers)
                return {"dispatch": ack.seq}
            except nats.errors.Error:
                if pause is None:
                    raise
                await asyncio.sleep(pause)

    nodes = StateGraph(State).add_sequence([begin, agent]).add_node("tools", ToolNode([recall])).add_node(publish)
    nodes.add_edge(START, "begin").add_edge("tools", "agent").add_edge("publish", END)
    return nodes.add_conditional_edges("agent", tools_condition, {"tools": "tools", END: "publish"}).compile()


async def main():
    async with await nats.connect(os.environ.get("NATS_URL", "nats://127.0.0.1:4222")) as nc:
        task = (await ask(nc, "tool.task-next", claim="langgraph"))["task"]
        if task is None:
            return print(f"no task is ready: throughline tool task-add --session {SESSION} --content '…'")
        print(f"{task['id']}: {task['content']}")
        about = {"taskId": task["id"], "taskPrompt": task["content"]}
        dispatch = (await graph_on(nc).ainvoke({"about": about}))["dispatch"]
        result = await ask(nc, "tool.dispatch-show", dispatch=dispatch)
        print(f"dispatch {dispatch}: {result['status']}, {len(result.get('facts', []))} facts")
        print((await ask(nc, "prompt.compile", **about, role="reviewer", after=dispatch))["prompt"])


asyncio.run(main())
