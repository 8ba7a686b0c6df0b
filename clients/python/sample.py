"""A task from beginning to end: an agent takes it and asks something, a person answers, the next agent goes on."""

import asyncio

import throughline_memory


async def main() -> None:
    async with throughline_memory.connect() as client:
        session = client.session("demo")
        watching = asyncio.create_task(watch(session))

        task = (await session.tools.task_add(content="Extend the parser", priority=1))["task"]
        claimed = (await session.tools.task_next(claim="agent-1"))["task"]
        assert claimed is not None and claimed["id"] == task["id"]

        # The prompt goes to a model; what the model returned is published, as text or as a dict.
        await session.compile(task_id=task["id"], task_prompt=task["content"])
        result: throughline_memory.types.ImplementerResult = {
            "task_id": task["id"],
            "status": "blocked",
            "summary": "The parser needs a separator",
            "blockers": ["Which separator, comma or semicolon?"],
        }
        published = await session.publish("implementer", result, wait=True)

        await session.tools.blocker_answer(task=task["id"], answer="Use a semicolon.", by="anna", person=True)
        after = published.sequence
        reply = await session.compile(task_id=task["id"], task_prompt=task["content"], after=after)
        print("answered" if "Use a semicolon." in reply["prompt"] else "not answered")

        try:
            await session.tools.task_status(id="TAS-99", status="completed")
        except throughline_memory.ThroughlineError as error:
            print(error.code, "-", error.fix)
        await watching


async def watch(session: throughline_memory.Session) -> None:
    """Prints what happens in the session from its beginning, until a person has answered."""
    async for event in session.watch(after=0):
        print(event["kind"], event["type"], event.get("task", ""))
        if event["type"] == "question.answered":
            return


asyncio.run(main())
